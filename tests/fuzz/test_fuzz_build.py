"""No dump, corpus, recording or state of a build ends it in a traceback: it is read, told of or refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import zstandard
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from leadline.build.explain import histories, pages
from leadline.build.extract.recorded import RecordedExtractor, read_recorded
from leadline.build.finish import finish
from leadline.build.frequency.pageviews import Wanted, count_views
from leadline.build.link.index import open_index
from leadline.build.link.index_build import build_index
from leadline.build.plan_file import read_plan
from leadline.build.presence.shards import Faults, Lines, blocks, faulty_by_shape, parsed
from leadline.build.progress import Quiet
from leadline.build.run import run_build
from leadline.build.wikidata.dump import Reading
from leadline.build.wikidata.entity_files import read_files
from leadline.build.wikidata.redirects import read_redirects
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError
from leadline.workers.in_process import InProcess
from tests.build.sql_dumps import dump
from tests.build.test_broken_inputs import EXAMPLE
from tests.fuzz.limits import examples, held
from tests.fuzz.mutations import broken, changed, written
from tests.fuzz.readers import Reader

pytestmark = pytest.mark.fuzz
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": lambda content: gzip.compress(content, 1, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


# Files that are read by themselves.

PAGE = dump(
    "page",
    [
        (1, 0, b"Bonn", 0, 0.25),
        (2, 0, b"It's_\\one", 0, 0.5),
        (3, 0, b"B", 1, 0.75),
        (4, 4, b"Z\xc3\xbc", 0, 1.0),
    ],
)
PROPS = dump(
    "page_props",
    [
        (1, b"wikibase_item", b"Q586", None),
        (2, b"wikibase_item", b"Q2", None),
        (2, b"disambiguation", b"", None),
    ],
)
MOVES = dump("redirect", [(3, 0, b"Bonn", b"", b""), (9, 0, b"A", b"de", b"x"), (8, 0, b"B", None, None)])
VIEWS = (
    b"de.wikipedia Bonn 1 desktop 2 A2\nen.wikipedia Bonn 1 desktop 7 A3B4\n"
    b"en.wikipedia Bonn null mobile-web 2 A2\nen.wikipedia bonn%20x 9 mobile-app 3 C3\n"
    b"en.wikipedia Old title 3 desktop 5 X5\nen.wikipedia Bonn desktop 4 Z4\n"
    b"fr.wikipedia Bonn 1 desktop 1 A1\n"
)
RECORDED = _lines(
    {
        "title": "Bonn", "text": "Bonn lies on the Rhine. It was a capital.", "article": "7",
        "output": "<triplet> Bonn <subj> Rhine <obj> located next to water <subj> Germany <obj> capital of "
        "<triplet> Rhine <subj> Bonn <obj> city", "ids": {"Bonn": "Q586", "Rhine": "Q584"},
        "relations": {"capital of": "P1376"},
    },
    {"title": "A_b", "text": "A b is c.", "output": "<s><triplet> A b <subj> c <obj> instance of</s>"},
    {"text": "D.", "output": "<triplet> D <obj> x <subj> "},
)  # fmt: skip
CORPUS = _lines(
    {"id": "a", "text": "Bonn lies on the Rhine.\nIt was a capital.", "source": "x"},
    {"id": 7, "text": "caf\u00e9 \U0001f600"},
    {"text": "no id", "metadata": {"a": [1, None]}},
)
REDIRECTS = (
    b"old,new\nhttp://www.wikidata.org/entity/Q105,http://www.wikidata.org/entity/Q42\nQ7\tQ8\n<Q9>,Q10\n"
)


def _index(path: Path) -> object:
    named = {name: path.parent / f"{name}.sql" for name in ("page", "page_props", "redirect")}
    named[path.name.partition(".")[0]] = path
    out = path.parent / "titles.sqlite"
    counts = build_index(named["page"], named["page_props"], named["redirect"], out)
    index = open_index(out) if counts.pages else None
    return [counts, index]


def _dumps_beside(folder: Path) -> None:
    for name, content in (("page", PAGE), ("page_props", PROPS), ("redirect", MOVES)):
        (folder / f"{name}.sql").write_bytes(content)


def _views(path: Path) -> object:
    return count_views(path, Wanted("en.wikipedia", {"Bonn": "Q586", "Old_title": "Q1"}, {"3": "Q3"}))


def _recorded(path: Path) -> object:
    return RecordedExtractor(read_recorded(path))


def _shard(path: Path) -> object:
    faults = Faults()
    for block in blocks(path, faults):
        if isinstance(block, Lines):
            import numpy as np

            ends = np.flatnonzero(np.frombuffer(block.data, np.uint8) == 0x0A)
            faulty_by_shape(block.data, ends)
            for line in block.data.split(b"\n"):
                parsed(line)
    return faults


def _entities(path: Path) -> object:
    found = list(read_files(path, ("en",), Reading()))
    for one in found:
        if one.entity is not None:
            one.entity.model_dump_json()
    return found


_SOME_ENTITIES = json.loads((EXAMPLE / "entities.json").read_bytes())[:3]
_DOCUMENT = json.dumps({"entities": {one["id"]: one for one in _SOME_ENTITIES}}).encode()
READERS: dict[str, Reader] = {
    "page": Reader("page.sql", (PAGE,), _index, beside=_dumps_beside),
    "page_props": Reader("page_props.sql", (PROPS,), _index, beside=_dumps_beside),
    "redirect": Reader("redirect.sql", (MOVES,), _index, beside=_dumps_beside),
    "page views": Reader("views", (VIEWS,), _views),
    "recorded": Reader("recorded.jsonl", (RECORDED,), _recorded, "lines"),
    "corpus": Reader("corpus.jsonl", (CORPUS,), _shard, "lines"),
    "merged ids": Reader("merged.csv", (REDIRECTS,), lambda path: list(read_redirects(path))),
    "entities, a list": Reader("entities.json", (json.dumps(_SOME_ENTITIES).encode(),), _entities, "json"),
    "entities, a document": Reader("Q1.json", (_DOCUMENT,), _entities, "json"),
    "entities, lines": Reader("entities.jsonl", (_lines(*_SOME_ENTITIES),), _entities, "lines"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "given"
    made.mkdir()
    return made


def read(reader: Reader, folder: Path, content: bytes, packing: str = "", cut: int = 0) -> object:
    """`content` packed, and what packing gave cut by some bytes, as the reader takes it."""
    if reader.beside is not None:
        reader.beside(folder)
    packed = PACKINGS[packing](content)
    path = folder / f"{reader.name}{packing}"
    path.write_bytes(packed[: len(packed) - cut] if cut else packed)
    return held(reader.read, path)


@pytest.mark.parametrize("name", READERS)
def test_the_inputs_that_all_others_are_made_of_are_sound(name: str, folder: Path) -> None:
    for content in READERS[name].originals:
        found = read(READERS[name], folder, content)
        assert not isinstance(found, LeadlineError), found


@pytest.mark.parametrize("name", READERS)
def test_broken_bytes_of_an_input_are_taken_or_refused(name: str, folder: Path) -> None:
    @examples(25)
    @given(broken(READERS[name].originals), st.sampled_from(("", "", *PACKINGS)))
    def check(content: bytes, packing: str) -> None:
        read(READERS[name], folder, content, packing)

    check()


@pytest.mark.parametrize("packing", [name for name in PACKINGS if name])
@pytest.mark.parametrize("name", READERS)
def test_broken_packing_of_an_input_is_taken_or_refused(name: str, packing: str, folder: Path) -> None:
    reader = READERS[name]
    whole = [PACKINGS[packing](content) for content in reader.originals]

    @examples(6)
    @given(broken(whole))
    def check(content: bytes) -> None:
        if reader.beside is not None:
            reader.beside(folder)
        path = folder / f"{reader.name}{packing}"
        path.write_bytes(content)
        held(reader.read, path)

    check()


@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.shape != "text"])
def test_any_part_of_an_input_may_be_anything(name: str, folder: Path) -> None:
    reader = READERS[name]

    @examples(30)
    @given(changed(reader.values()))
    def check(value: object) -> None:
        if reader.shape == "lines" and isinstance(value, list):
            content = b"".join(written(line) + b"\n" for line in value)
        else:
            content = written(value)
        read(reader, folder, content)

    check()


# Without the phase that explains failures, in which everything is traced: ten times as slow.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
_FEWER = 15  # times as many with --long


# Whole builds, of inputs and upon states that are not what a build makes.


@dataclass(frozen=True)
class Built:
    """A build of the example that has ended: its inputs, unpacked, and where it lies."""

    folder: Path
    state: tuple[str, ...]  # its files, under `out`


PLAN = (
    (EXAMPLE / "plan.yaml")
    .read_text("utf-8")
    .replace("pages.xml.bz2", "pages.xml")
    .replace(".jsonl.gz", ".jsonl")
)
OUT = "out: out\n"
INPUTS: dict[str, Literal["text", "json", "lines"]] = {
    "pages.xml": "text",
    "pages.jsonl": "lines",
    "entities.json": "json",
    "entities.jsonl": "lines",
    "titles.tsv": "text",
    "corpus/shard-000.jsonl": "lines",
}


def _write(folder: Path) -> None:
    pages = bz2.decompress((EXAMPLE / "pages.xml.bz2").read_bytes())
    entities = json.loads((EXAMPLE / "entities.json").read_bytes())
    (folder / "corpus").mkdir()
    (folder / "pages.xml").write_bytes(pages)
    made = {"id": "77", "title": "Bonn", "text": "Bonn is a city on the Rhine. " * 20, "entity": "Q586"}
    (folder / "pages.jsonl").write_bytes(_lines(made, {**made, "id": 78, "revision": 3, "timestamp": "x"}))
    (folder / "entities.json").write_bytes(json.dumps(entities[: len(entities) // 2]).encode())
    (folder / "entities.jsonl").write_bytes(_lines(*entities[len(entities) // 2 :]))
    shutil.copy(EXAMPLE / "titles.tsv", folder / "titles.tsv")
    corpus = gzip.decompress((EXAMPLE / "corpus" / "shard-000.jsonl.gz").read_bytes())
    (folder / "corpus" / "shard-000.jsonl").write_bytes(corpus)
    plan = PLAN.replace("dump: pages.xml", "jsonl: pages.jsonl\n  dump: pages.xml")
    plan = plan.replace("entities: entities.json", "entities: entities.json\n  dump: entities.jsonl")
    (folder / "plan.yaml").write_text(plan + OUT, "utf-8")


def _whole(folder: Path) -> object:
    """The build, its end, and what is told of it."""
    plan = read_plan(folder / "plan.yaml")
    work = Workspace(plan.work)
    run_build(plan, InProcess(), Quiet(), then=lambda: finish(plan, work))
    return [histories(plan, work, "a"), pages(work, "Bonn")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    _write(folder)
    _whole(folder)
    out = folder / "out"
    files = (path.relative_to(out).as_posix() for path in sorted(out.rglob("*")) if path.is_file())
    return Built(folder, tuple(name for name in files if not name.endswith(".lock")))


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace")  # the example's corpus has lines that are none


def _mutated(data: st.DataObject, content: bytes, shape: str) -> bytes:
    if shape == "json" and data.draw(st.booleans()):
        return written(data.draw(changed((json.loads(content),))))
    if shape == "lines" and data.draw(st.booleans()):
        value = data.draw(changed(([_value(line) for line in content.split(b"\n") if line],)))
        return (
            b"".join(written(line) + b"\n" for line in value) if isinstance(value, list) else written(value)
        )
    return data.draw(broken((content,)))


def test_a_build_of_inputs_that_are_not_sound_ends_or_says_why(built: Built, folder: Path) -> None:
    assert (built.folder / "out" / "benchmark").is_dir()

    @settings(examples(12, factor=_FEWER), phases=_PHASES)
    @given(st.sampled_from(list(INPUTS)), st.data())
    def check(name: str, data: st.DataObject) -> None:
        shutil.rmtree(folder)
        shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("out"))
        (folder / name).write_bytes(_mutated(data, (built.folder / name).read_bytes(), INPUTS[name]))
        held(_whole, folder)

    check()


def test_a_build_upon_a_state_that_it_did_not_leave_ends_or_says_why(built: Built, folder: Path) -> None:
    @settings(examples(20, factor=_FEWER), phases=_PHASES)
    @given(st.sampled_from(built.state), st.booleans(), st.sampled_from(built.state), st.data())
    def check(name: str, sizes: bool, lost: str, data: st.DataObject) -> None:
        shutil.rmtree(folder)
        shutil.copytree(built.folder, folder)
        path = folder / "out" / name
        content = path.read_bytes()
        if name.endswith(".jsonl.zst"):
            plain = zstandard.ZstdDecompressor().stream_reader(content).read()
            path.write_bytes(PACKINGS[".zst"](_mutated(data, plain, "lines")))
        else:
            shape = "json" if name.endswith(".json") else "lines" if name.endswith(".jsonl") else "text"
            path.write_bytes(_mutated(data, content, shape))
        if sizes and name.startswith("stages/"):  # as if the stage had left it so
            stage = folder / "out" / "stages" / name.split("/")[1] / "done.json"
            if stage != path and stage.exists():
                done = json.loads(stage.read_bytes())
                done["files"] = {**done["files"], "/".join(name.split("/")[2:]): path.stat().st_size}
                stage.write_text(json.dumps(done))
        if lost.endswith("done.json"):
            (folder / "out" / lost).unlink()
        held(_whole, folder)

    check()
