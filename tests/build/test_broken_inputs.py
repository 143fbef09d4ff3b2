"""Plans, folders, names and files that are not what they should be: one line, and nothing lost."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from leadline.build.articles.blocks import Block
from leadline.build.articles.dump import pages
from leadline.build.articles.json_lines import page_of
from leadline.build.articles.page import Fault, Page
from leadline.build.articles.taking_apart import taken_apart
from leadline.build.attribution import attribution
from leadline.build.disk import said_by_the_disk
from leadline.build.extract.chunks import chunks
from leadline.build.extract.recorded import read_recorded
from leadline.build.finish import finish
from leadline.build.frequency.pageviews import Wanted, count_views
from leadline.build.link.index import open_index
from leadline.build.plan import Plan
from leadline.build.plan_file import files_of, read_plan, where_in
from leadline.build.progress import Log, Quiet
from leadline.build.records import Article
from leadline.build.run import Outcome, run_build
from leadline.build.wikidata.dump import Reading
from leadline.build.wikidata.entity_files import read_files
from leadline.build.wikidata.open import gather
from leadline.build.wikidata.redirects import read_redirects
from leadline.build.wikidata.store import EntityStore
from leadline.build.work_folder import MARK
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError, UsageError
from leadline.study.lock import locked
from leadline.workers.in_process import InProcess

EXAMPLE = Path(__file__).parents[2] / "examples" / "building"


class Notes(Quiet):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)

    def end(self, line: str) -> None:
        self.lines.append(line)


def example(folder: Path, old: str = "", new: str = "", *, more: str = "") -> Path:
    """The plan of a copy of the example, with something else in the place of a part of it."""
    here = shutil.copytree(EXAMPLE, folder / "example", ignore=shutil.ignore_patterns("*-build"))
    text = (here / "plan.yaml").read_text("utf-8")
    assert old in text
    (here / "plan.yaml").write_text(text.replace(old, new, 1) + more, "utf-8")
    return here / "plan.yaml"


def build(plan: Plan, until: str | None = None, progress: Quiet | None = None) -> Outcome:
    return run_build(plan, InProcess(), progress or Quiet(), until=until)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Notes]:
    """The example, with file names that are no UTF-8 and hold escapes, and with halves of surrogate pairs."""
    file = example(tmp_path_factory.mktemp("odd"), "dump: pages", "jsonl: '*.jsonl'\n  dump: '*pages")
    text = file.read_text("utf-8").replace("pages.xml.bz2 #", "pages.xml.bz2' #")
    file.write_text(text.replace("keep:", "checksums: true\n  keep:"), "utf-8")
    odd_name = b"\xff\x1b[2J\n"
    try:
        (file.parent / "pages.xml.bz2").rename(file.parent / os.fsdecode(odd_name + b"pages.xml.bz2"))
    except OSError:
        pytest.skip("this file system takes no such names")
    (file.parent / os.fsdecode(odd_name + b".jsonl")).write_text('{"id": "1", "title": "T\n', "utf-8")
    for shard in (file.parent / "corpus").glob("*.gz"):
        lines = gzip.decompress(shard.read_bytes()).splitlines()
        with gzip.open(shard, "wb") as out:
            for line in lines:
                out.write(b'{"id": "\\ud800x", ' + line.partition(b",")[2] + b"\n")
        shard.rename(shard.with_name(os.fsdecode(odd_name) + shard.name))
    plan, notes = read_plan(file), Notes()
    run_build(plan, InProcess(), notes)
    finish(plan, Workspace(plan.work))
    return plan, notes


def test_odd_names_and_ids_of_files_documents_and_pages_are_taken_as_they_are(
    odd: tuple[Plan, Notes],
) -> None:
    plan, notes = odd
    facts = [json.loads(line) for line in (plan.work / "benchmark" / "facts.jsonl").open(encoding="utf-8")]
    assert {one for fact in facts for support in fact["support"] for one in support.get("documents", ())} == {
        "\\ud800x"
    }
    assert any(".jsonl:1: no JSON" in line for line in notes.lines)
    assert json.loads((plan.work / "manifest.json").read_bytes())["inputs"]["articles"]


def test_notes_are_one_line_and_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    Log().note("a\x1b[2J\nb\udcff: broken 1")
    assert capsys.readouterr().err == "a\\x1b[2J\\nb\\udcff: broken 1\n"


def test_a_folder_with_files_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    file = example(tmp_path, more="out: .\n")
    mine = file.parent / "benchmark" / "mine"
    mine.parent.mkdir()
    mine.write_text("x")
    (file.parent / "stages" / "articles").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"plan\.yaml:23: out: .*no build made"):
        build(read_plan(file), "articles")
    assert mine.read_text() == "x" and (file.parent / "stages" / "articles").is_dir()


def test_an_empty_folder_and_a_build_without_the_mark_are_taken(tmp_path: Path) -> None:
    plan = read_plan(example(tmp_path, more="out: here\n"))
    plan.work.mkdir()
    build(plan, "articles")
    (plan.work / MARK).unlink()
    assert build(plan, "articles").kept == ["articles"]
    assert (plan.work / MARK).is_file()


def test_the_home_of_the_plans_out_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read_plan(example(tmp_path, more="out: ~/x\n")).work == tmp_path / "home" / "x"


def test_what_follows_the_last_stage_is_under_the_same_lock(tmp_path: Path) -> None:
    plan = read_plan(example(tmp_path))
    held: list[str] = []

    def then() -> None:
        with pytest.raises(LeadlineError, match="another process"), locked(plan.work, "build"):
            held.append("not held")
        held.append("held")

    run_build(plan, InProcess(), Quiet(), until="articles", then=then)
    assert held == ["held"]


def test_a_plan_that_is_changed_or_deleted_in_mid_run_is_followed_as_it_was(odd: tuple[Plan, Notes]) -> None:
    plan, _ = odd
    text = plan.file.read_bytes()
    try:
        plan.file.write_bytes(b"{[")
        assert where_in(plan, "link", "titles").endswith(":16")
        plan.file.unlink()
        assert where_in(plan, "link", "titles").endswith(":16")
        finish(plan, Workspace(plan.work))
    finally:
        plan.file.write_bytes(text)
    said = json.loads((plan.work / "manifest.json").read_bytes())["plan_sha256"]
    assert said == hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: First facts", "out: ~nouser-of-that-name/x", r":3: out: .*home of a user"),
        ("title: First facts", 'out: "a\\0"', r":3: out: .*NUL"),
        ("title: First facts", 'title: "\\ud800"', r":3: title: .*surrogate"),
        ("min_words: 100", 'language: "../x"', r":9: articles\.language: .*no language code"),
        ("keep: normalised", "tiers: []", r":22: presence\.tiers: is empty"),
    ],
)
def test_a_plan_that_no_build_can_follow_is_told_when_it_is_read(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        read_plan(example(tmp_path, old, new))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("~nouser-of-that-name/x", "home of a user"),
        ('"**x/y"', "no pattern"),
        ("fifo", "no regular file"),
        ("/dev/zero", "no regular file"),
        ("corpus", r"is a folder \(its files: corpus/\*\)"),
        ("titles.tsv/x", "no file is called"),
    ],
)
def test_names_of_no_file_are_one_line_and_nothing_waits_for_them(
    tmp_path: Path, name: str, said: str
) -> None:
    file = example(tmp_path, "dump: pages.xml.bz2", f"dump: {name}")
    os.mkfifo(file.parent / "fifo")
    with pytest.raises(UsageError, match=rf"plan\.yaml:7: articles\.dump: .*{said}"):
        files_of(read_plan(file), "articles", "dump")


@pytest.mark.parametrize("out", ["titles.tsv", "titles.tsv/x"])
def test_a_file_in_the_place_of_the_builds_folder_is_told(tmp_path: Path, out: str) -> None:
    with pytest.raises(UsageError, match=r"plan\.yaml:23: out: .* is a file"):
        build(read_plan(example(tmp_path, more=f"out: {out}\n")), "articles")


def test_a_file_of_entities_with_a_broken_line_is_noted(tmp_path: Path) -> None:
    plan = read_plan(example(tmp_path))
    entities = json.loads((plan.folder / "entities.json").read_bytes())
    lines = "\n".join(json.dumps(one) for one in entities)
    (plan.folder / "entities.json").write_text(lines[:-100], "utf-8")
    notes = Notes()
    ids = [one["id"] for one in entities]
    how = gather(plan, ids, tmp_path / "store.sqlite", tmp_path, InProcess(), notes)
    assert how.broken and len(notes.lines) == 1
    assert (
        f"entities.json: broken lines, which are no entities: 1, the first is line {len(ids)}"
        in notes.lines[0]
    )


def test_a_cut_document_of_entities_and_an_index_that_is_none_are_wrong_input(tmp_path: Path) -> None:
    plan = read_plan(example(tmp_path))
    file = plan.folder / "entities.json"
    document = json.dumps({"entities": {one["id"]: one for one in json.loads(file.read_bytes())}})
    file.write_text(document[:-100], "utf-8")
    with pytest.raises(UsageError, match=r"entities\.json:\d+: is no JSON"):
        gather(plan, ["Q1"], tmp_path / "store.sqlite", tmp_path, InProcess(), Quiet())
    with pytest.raises(UsageError, match="no index of titles"):
        open_index(plan.folder / "titles.tsv")


@pytest.mark.parametrize("key", ["id", "title", "text", "revision", "timestamp", "entity"])
def test_half_of_a_surrogate_pair_anywhere_in_a_page_makes_it_no_page(key: str) -> None:
    page = page_of({"id": "1", "title": "T", "text": "A text.", key: "\ud800"}, "pages.jsonl:1")
    assert isinstance(page, Fault) and "surrogate" in page.what


def test_half_of_a_surrogate_pair_in_recorded_output_is_replaced(tmp_path: Path) -> None:
    line = {
        "text": "A is B.",
        "output": "<triplet> \ud800 <subj> B <obj> is \U0001f600",
        "ids": {"B": "\ud800"},
    }
    (tmp_path / "recorded.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    (read,) = read_recorded(tmp_path / "recorded.jsonl")
    assert read.output == "<triplet> \ufffd <subj> B <obj> is \U0001f600"
    assert read.ids == {"B": "\ufffd"}


@pytest.mark.parametrize(
    "counts", [{"kept": "x", "dropped": {}}, {"kept": 3, "dropped": 3}, {"kept": 3, "dropped": {"a": "b"}}, 7]
)
def test_a_done_file_that_no_stage_wrote_means_that_the_stage_is_done_again(
    odd: tuple[Plan, Notes], counts: object
) -> None:
    plan, _ = odd
    path = Workspace(plan.work).stage("link").path / "done.json"
    whole = path.read_bytes()
    path.write_text(json.dumps({**json.loads(whole), "counts": counts}), "utf-8")
    assert build(plan).done == ["link"]
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("stage", "name"),
    [("articles", "counts/00000.json"), ("extract", "counts/00000.json"), ("scan", "parts/00000.json")],
)
def test_an_empty_count_of_an_unfinished_stage_is_counted_again(
    odd: tuple[Plan, Notes], stage: str, name: str
) -> None:
    plan, _ = odd
    here = Workspace(plan.work).stage(stage).path
    whole = (here / name).read_bytes()
    (here / name).write_text("{}", "utf-8")
    (here / "done.json").unlink()
    assert build(plan).done == [stage]
    assert (here / name).read_bytes() == whole


def test_a_file_in_the_place_of_a_stages_folder_gives_way(odd: tuple[Plan, Notes]) -> None:
    plan, _ = odd
    here = Workspace(plan.work).stage("overlap").path
    shutil.rmtree(here)
    here.write_text("x")
    assert build(plan).done == ["overlap"]


def test_a_part_that_no_stage_made_is_no_articles(odd: tuple[Plan, Notes]) -> None:
    plan, _ = odd
    work = Workspace(plan.work)
    parts = work.stage("articles").parts()
    stray = parts[0].with_name("99999.jsonl.zst")
    shutil.copy(parts[0], stray)
    assert work.stage("articles").parts() == parts
    assert {chunk.part for chunk in chunks(plan, work)} <= set(parts)
    (work.stage("articles").path / "done.json").unlink()
    assert build(plan).done == ["articles"]
    assert not stray.exists()


def test_a_bracket_in_a_title_does_not_end_the_link_to_its_page(tmp_path: Path) -> None:
    page = Article(id="1", title="Smile :) (song)", text="A text.", revision="7")
    said = attribution(read_plan(example(tmp_path)), [page])
    assert "(https://en.wikipedia.org/w/index.php?title=Smile_:%29_%28song%29&oldid=7)" in said


def test_a_full_disk_under_a_database_is_one_line_with_its_remedy(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "a.sqlite")
    database.executescript("PRAGMA max_page_count = 4; CREATE TABLE t (x)")
    told = pytest.raises(LeadlineError, match=r"a\.sqlite: the disk is full \(free some space")
    with told, said_by_the_disk(tmp_path / "a.sqlite"):
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    database.close()


def test_views_and_merged_ids_and_recordings_of_broken_packing_or_absurd_length_are_one_line(
    tmp_path: Path,
) -> None:
    views = tmp_path / "views"
    views.write_bytes(
        b"en.wikipedia Bonn 1 desktop " + b"9" * 5_000 + b" A1\nen.wikipedia Bonn 1 desktop 7 A1\n"
    )
    counted = count_views(views, Wanted("en.wikipedia", {"Bonn": "Q586"}))
    assert (counted.views["Q586"], counted.broken) == (7, 1)
    for name, content in (("ids.gz", gzip.compress(b"Q1\tQ2\n" * 99)[:-9]), ("ids.bz2", b"BZh91AY&SYxxxx")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError, match=rf"{name}: cannot be read to its end: "):
            list(read_redirects(tmp_path / name))
    packed = bytearray(gzip.compress(b'{"text": "A is B.", "output": ""}\n', mtime=0))
    packed[10:14] = b"\xff\xff\xff\xff"
    (tmp_path / "recorded.jsonl.gz").write_bytes(packed)
    with pytest.raises(LeadlineError, match=r"recorded\.jsonl\.gz:1: cannot be read"):
        list(read_recorded(tmp_path / "recorded.jsonl.gz"))


def test_a_dumps_namespace_whose_key_is_a_digit_but_no_number_is_none(tmp_path: Path) -> None:
    space = "<siteinfo><namespaces><namespace key='²'>Odd</namespace></namespaces></siteinfo>"
    page = "<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id>"
    page += "<timestamp>2024-01-01T00:00:00Z</timestamp><text>b</text></revision></page>"
    path = tmp_path / "pages.xml"
    path.write_text(f"<mediawiki>{space}{page}</mediawiki>", "utf-8")
    (read,) = pages(Block("xml", path))
    assert isinstance(read, Page) and "odd" not in (read.namespaces or {})


def test_a_small_packed_file_of_entities_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "entities.json.gz"
    path.write_bytes(gzip.compress(b'{"entities": {}}'))
    tracemalloc.start()
    found = list(read_files(path, ("en",), Reading()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [] and peak < 64_000_000


@pytest.mark.parametrize("said", ["{}", "[", '{"broken": 1, "faults": []}', '{"broken": 1, "faults": [[1]]}'])
def test_a_part_of_a_dump_of_entities_whose_counts_are_not_ours_is_made_again(
    tmp_path: Path, said: str
) -> None:
    plan = read_plan(example(tmp_path, "entities: entities.json", "dump: entities.jsonl"))
    entities = json.loads((plan.folder / "entities.json").read_bytes())
    (plan.folder / "entities.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entities), "utf-8")
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "00000.json").write_text(said)
    (parts / "00000.sqlite").write_bytes(b"")
    how = gather(plan, ["Q173"], tmp_path / "store.sqlite", tmp_path, InProcess(), Quiet())
    assert not how.broken and EntityStore(tmp_path / "store.sqlite").get("Q173") is not None


def test_a_store_of_entities_that_is_damaged_in_the_middle_is_one_line(tmp_path: Path) -> None:
    plan = read_plan(example(tmp_path))
    path = tmp_path / "store.sqlite"
    gather(plan, ["Q173"], path, tmp_path, InProcess(), Quiet())
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE entities SET body = x'00'")
        database.commit()
    with pytest.raises(LeadlineError, match=r"store\.sqlite: is no store of entities"):
        EntityStore(path).get("Q173")


@pytest.mark.parametrize("said", ["7", "{}", '{"pieces": [["x"], [0]], "faults": []}', '{"pieces": 3}'])
def test_what_says_that_a_dump_was_taken_apart_and_is_not_ours_is_written_anew(
    tmp_path: Path, said: str
) -> None:
    (tmp_path / "pages.jsonl").write_text('{"id": "1", "title": "A", "text": "b"}\n', "utf-8")
    (tmp_path / "pieces").mkdir()
    (tmp_path / "pieces" / "whole.json").write_text(said)
    blocks, faults = taken_apart(tmp_path / "pages.jsonl", "jsonl", tmp_path / "pieces")
    assert len(blocks) == 1 and blocks[0].path.is_file() and not faults
