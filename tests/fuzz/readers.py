"""Readers of the files that people write or bring along: sound files of each, and how it is called."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import polars as pl

from leadline.bench import inspect_benchmark, load_benchmark, open_stream
from leadline.bench.adjudications import Adjudication, Read, label_hash, read_adjudications
from leadline.bench.opened import Reading
from leadline.build.filters.relations import uninformative
from leadline.build.link.index import read_titles
from leadline.build.link.properties import properties
from leadline.build.plan_file import read_plan
from leadline.build.questions.templates import read_templates
from leadline.build.wikidata.domains import read_domains
from leadline.documents.index import IndexEntry, read_index
from leadline.documents.read import read_document
from leadline.review.filled_sheet import read_begun_sheet
from leadline.review.flag_files import flags_jsonl, read_flags
from leadline.review.flags import Flag, flag_list
from leadline.review.labels import Label, Proof, read_labels
from leadline.review.order import recorded_seed
from leadline.review.pack_files import read_pack
from leadline.review.questions import read_questions
from leadline.review.readings import Readings
from leadline.study.config_file import read_config
from leadline.study.prediction_file import read_draft, read_ids
from leadline.study.readings import check_table
from leadline.study.registration import read_registration
from leadline.techniques.probing import read_prompts
from leadline.techniques.statements import of_file
from tests.documents.papers import pdf
from tests.fuzz.limits import assert_one_line
from tests.fuzz.sealed import filled_sheet, pack, pack_head, put_pack, registration, stamped
from tests.fuzz.sound_files import (
    CARD,
    COLUMNS,
    DRAFT,
    FLAT,
    HEADER,
    ITEMS,
    PAGE,
    PLAN,
    READ_TABLE,
    SQUAD,
    STABILITY,
    SUBMISSION,
    TASKS,
    XML,
)

Shape = Literal["json", "lines", "text"]


@dataclass(frozen=True)
class Reader:
    """`originals` are sound files of the kind, `name` what one is called, `read` reads it where it lies.

    `shape`: "json" is one JSON value, "lines" one a line; their parts are changed as well as their bytes.
    `beside` puts what belongs to it into the folder; `finish` makes the file whole again after a change, so
    that a checksum does not turn everything away.
    """

    name: str
    originals: tuple[bytes, ...]
    read: Callable[[Path], object]
    shape: Shape = "text"
    beside: Callable[[Path], object] | None = None
    finish: Callable[[Any], Any] | None = None

    def values(self) -> tuple[Any, ...]:
        """The originals as JSON values: of lines, a list of them."""
        if self.shape == "lines":
            return tuple([json.loads(line) for line in one.splitlines()] for one in self.originals)
        return tuple(json.loads(one) for one in self.originals)


def _lines(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def _bundled(name: str, file: str) -> bytes:
    return files("leadline.bench").joinpath("data", name, file).read_bytes()


def _first_lines(content: bytes, number: int) -> bytes:
    return b"".join(content.splitlines(keepends=True)[:number])


def _all(path: Path) -> object:
    """Every way in which a benchmark is read; a fault must not hide behind the first."""
    found = inspect_benchmark(path)
    for problem in found.problems:
        assert_one_line(problem.line())
    for _ in open_stream(path):
        pass
    return found


def _folder(path: Path) -> object:
    return _all(path.parent)


def _card(path: Path) -> object:
    return [inspect_benchmark(path.parent, Reading(split=split)) for split in ("train", "test")]


def _document(path: Path) -> object:
    return read_document(path, max_bytes=8 * 1024 * 1024)


def zipped(**contents: bytes) -> bytes:
    """A zip archive; in names, __ stands for a full stop."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


def _table(form: str) -> bytes:
    out = io.BytesIO()
    frame = pl.DataFrame(FLAT)
    if form == "parquet":
        frame.write_parquet(out)
    elif form == "arrow":
        frame.write_ipc(out)
    else:
        frame.write_csv(out, separator="\t" if form == "tsv" else ",")
    return out.getvalue()


def _benchmark_around(folder: Path) -> None:
    (folder / "benchmark.yaml").write_bytes(HEADER)
    (folder / "items.jsonl").write_bytes(_lines(*ITEMS[:5]))
    (folder / "items.csv").write_text("key,Q,gold\n1,Where?,Bonn\n", "utf-8")
    (folder / "README.md").write_text("A statement.", "utf-8")
    (folder / "w.txt").write_text("A window.", "utf-8")


def _items_alone(folder: Path) -> None:
    (folder / "items.jsonl").write_bytes(_lines(*ITEMS[:5]))
    (folder / "b.jsonl").write_bytes(_lines(*ITEMS[:2]))
    (folder / "c.jsonl").write_bytes(_lines(ITEMS[2]))


def _saved(folder: Path) -> None:
    (folder / "data.arrow").write_bytes(_table("arrow"))


def _decisions() -> bytes:
    item = load_benchmark("licences").items[0]
    said: dict[str, Any] = {
        "item": item.id,
        "reader": "Ann",
        "date": "2026-01-01",
        "reason": "as it says",
        "label": label_hash(item),
    }
    read = Read(source="gpl-1.txt", sha256="0" * 64, start=1, end=9)
    upheld = Adjudication(
        **said, outcome="upheld", corrected="1990", read=read, also_read=(read,), flag={"kind": "label"}
    )
    rejected = Adjudication(**said, outcome="rejected", reading="1989", quotes_shown=False)
    return "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in (upheld, rejected)).encode()


def _flags() -> bytes:
    licences = load_benchmark("licences")
    first, second = licences.items[3], licences.items[1]
    unstable = {"configurations": 3, "least": 0.25, "largest": 0.5, "kind": "unstable"}
    labelled = {
        "kind": "label",
        "value": "x",
        "runs": (11, 12),
        "floor": (3, 4),
        "unanimous": True,
        "weakest": "c",
    }
    flags = [
        Flag.model_validate({"item": item.id, "label_hash": label_hash(item), **about})
        for item, about in ((first, unstable), (second, labelled))
    ]
    return flags_jsonl(flag_list(licences, flags, study="s", configurations=("a",), notes=["n"])).encode()


def _labels() -> bytes:
    proof = Proof(quote="thirty days", source="a.txt", sha256="0" * 64, start=19, end=30)
    label = Label(
        id="n1", question="How long?", answer="30", reader="Ann", date="2026-05-04", evidence=(proof,)
    )
    return _lines(label.model_dump(mode="json", exclude_defaults=True), label.model_dump(mode="json"))


def _readings() -> bytes:
    one = {
        "item": "1",
        "label": "sha256:0",
        "reader": "Ann",
        "created": "2026-01-01T00:00:00Z",
        "answer": "x",
    }
    return _lines(one, {**one, "kind": "note", "quotes_shown": True})


def _templates(name: str) -> bytes:
    text = files("leadline.study").joinpath("templates", name).read_text("utf-8")
    values = {
        "name": "s",
        "benchmark": "facts",
        "model": "smollm2",
        "items": "items: 48",
        "baseline": "",
        "base_url": "",
    }
    for key, value in values.items():
        text = text.replace(
            f"<{key}>", "inspect:openai/x" if key == "model" and name == "served.yaml" else value
        )
    return text.encode()


@cache
def readers() -> tuple[Reader, ...]:
    """All of them."""
    build = files("leadline.build").joinpath("data")
    return (
        Reader(
            "items.jsonl",
            (_lines(*ITEMS), _first_lines(_bundled("facts", "items.jsonl"), 12)),
            _all,
            "lines",
            _window,
        ),
        Reader(
            "items.json",
            (json.dumps(ITEMS).encode(), json.dumps({"data": ITEMS}).encode()),
            _all,
            "json",
            _window,
        ),
        Reader("squad.json", (json.dumps(SQUAD).encode(),), _all, "json"),
        Reader("items.csv", (_table("csv"), b'id;question;answer\r\n1;"a""b\nc";d\r\n'), _all),
        Reader("items.tsv", (_table("tsv"),), _all),
        Reader("items.parquet", (_table("parquet"),), _all),
        Reader("items.arrow", (_table("arrow"),), _all),
        Reader("benchmark.yaml", (HEADER, TASKS, COLUMNS), _folder, beside=_benchmark_around),
        Reader("w.txt", (b"A window.", "\ufeffÜ\r\n".encode()), _folder, beside=_benchmark_with_window),
        Reader("README.md", (CARD,), _card, beside=_items_alone),
        Reader(
            "dataset_info.json",
            (json.dumps(_INFO).encode(),),
            lambda path: _all(path.parent / "data.arrow"),
            "json",
            _saved,
        ),
        Reader(
            "state.json",
            (b'{"_data_files": [{"filename": "data.arrow"}], "_split": "train"}',),
            _folder,
            "json",
            _saved,
        ),
        Reader("page.htm", (PAGE,), _document),
        Reader("page.xml", (XML, XML.replace(b"xmlns", b"b='c' xmlns")), _document),
        Reader(
            "plain.txt",
            (b"One\r\ntwo", "naïve café".encode("latin-1"), "Ü".encode("utf-16"), SUBMISSION),
            _document,
        ),
        Reader("paper.pdf", (pdf("The fee is 1,250 euros.", "Two"),), _document),
        Reader("page.gz", (gzip.compress(PAGE * 9, mtime=0),), _document),
        Reader("page.zip", (zipped(page__htm=PAGE * 9),), _document),
        Reader(
            "index.jsonl",
            (_lines(_entry().__dict__, {"url": "u", "fetched": "t", "error": "e"}),),
            lambda path: read_index(path.parent),
            "lines",
        ),
        Reader(
            "study.yaml",
            (STABILITY, *map(_templates, ("study.yaml", "served.yaml", "demo-full.yaml", "recorded.yaml"))),
            read_config,
        ),
        Reader("prediction.yaml", (DRAFT,), read_draft),
        Reader("ids.txt", (b"a\nb\n",), read_ids),
        Reader(
            "registration.json",
            (json.dumps(registration()).encode(),),
            read_registration,
            "json",
            None,
            stamped,
        ),
        Reader("plan.yaml", (PLAN,), read_plan),
        Reader("table.yaml", (READ_TABLE,), lambda path: list(check_table(path))),
        Reader("adjudications.jsonl", (_decisions(),), read_adjudications, "lines"),
        Reader(
            "flags.jsonl", (_flags(),), lambda path: read_flags(path, load_benchmark("licences")), "lines"
        ),
        Reader("labels.jsonl", (_labels(),), read_labels, "lines"),
        Reader("readings.jsonl", (_readings(),), lambda path: Readings(path).all(), "lines"),
        Reader("order.json", (b'{"seed": "abc"}\n',), lambda path: recorded_seed(path.parent), "json"),
        Reader("pack.json", (pack_head(),), lambda path: read_pack(path.parent), "json", put_pack),
        Reader("sheet.csv", (filled_sheet(),), lambda path: read_begun_sheet(pack(), path)),
        Reader(
            "questions.jsonl",
            (
                _lines(
                    *(
                        {
                            k: v
                            for k, v in one.items()
                            if k in ("id", "question", "answer_type", "unit", "vocabulary", "window", "task")
                        }
                        for one in ITEMS[:4]
                    )
                ),
            ),
            read_questions,
            "lines",
        ),
        Reader("questions.csv", (b'id,question\n1,How?\n2,"Who, then?"\n',), read_questions),
        Reader("truths.csv", (b'Question,Correct Answers,Incorrect Answers\nWhat?,"a; b",c\n',), of_file),
        Reader(
            "prompts.jsonl",
            (
                _lines(
                    {"id": "1", "prompt": "a"},
                    {"id": "2", "messages": [{"role": "user", "content": "x"}], "gold": "b"},
                ),
            ),
            read_prompts,
            "lines",
        ),
        Reader("relations.tsv", (b"capital of\tP1376\nin\tP131\twikibase-item\n",), properties),
        Reader("uninformative.txt", (b"P461 opposite of  # why\nP1\n",), uninformative),
        Reader("titles.tsv", ("Zürich\tQ72\n# x\nB\tQ1\n".encode(),), read_titles),
        Reader("domains.yaml", (build.joinpath("domains.yaml").read_bytes()[:1500],), read_domains),
        Reader(
            "templates.yaml",
            (b'P36: "What is the capital of [X]?"\nP1:\n  - {question: "Who is [X]?", when: Q5}\n',),
            read_templates,
        ),
    )


_INFO = {
    "features": {"answer": {"_type": "ClassLabel", "names": ["a", "b"]}, "x": [{"y": {"_type": "Value"}}]}
}


def _entry() -> IndexEntry:
    return IndexEntry(
        "https://a.org/b", "2026-01-01T00:00:00Z", 200, "https://a.org/c", "b.htm", "0" * 64, 5, "text/html"
    )


def _window(folder: Path) -> None:
    (folder / "w.txt").write_text("A window.", "utf-8")


def _benchmark_with_window(folder: Path) -> None:
    (folder / "benchmark.yaml").write_bytes(HEADER)
    (folder / "items.jsonl").write_bytes(_lines(*ITEMS))
