"""What stands in a build's folder is told only where it is what the plan asks for; wrong plans end early."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from leadline.build import checksums
from leadline.build.funnel import funnel
from leadline.build.plan_file import read_plan
from leadline.build.progress import Quiet
from leadline.build.run import run_build
from leadline.build.standing import standing
from leadline.build.workspace import Workspace
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess
from tests.study.conftest import Leadline, leadline

__all__ = ["leadline"]

EXAMPLE = Path(__file__).parents[2] / "examples" / "building"
MADE = ("benchmark", "manifest.json", "stats.html")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built to its end, with a second shard that was cut off."""
    from leadline.build.finish import finish

    folder = tmp_path_factory.mktemp("example") / "example"
    shutil.copytree(EXAMPLE, folder)
    whole = gzip.compress(b'{"id": "1", "text": "Of no use."}\n' * 50)
    (folder / "corpus" / "shard-001.jsonl.gz").write_bytes(whole[:-9])
    plan = read_plan(folder / "plan.yaml")
    run_build(plan, InProcess(), Quiet(), then=lambda: finish(plan, Workspace(plan.work)) and None)
    (plan.work / "stats.html").write_text("<p>As a run writes it.</p>")
    return folder


@pytest.fixture
def built(example: Path, tmp_path: Path) -> Path:
    """A copy of it: its plan."""
    shutil.copytree(example, tmp_path / "copy")
    return tmp_path / "copy" / "plan.yaml"


def change(plan: Path, old: str, new: str) -> None:
    text = plan.read_text("utf-8")
    assert text.count(old) == 1
    plan.write_text(text.replace(old, new), "utf-8")


def test_a_build_that_was_copied_and_not_changed_is_current(built: Path) -> None:
    plan = read_plan(built)
    now = standing(plan, Workspace(plan.work))
    assert now.first == "" and not now.stale and now.lines(plan) == []
    assert now.current[0] == "articles" and now.current[-1] == "presence"


def test_after_a_change_only_the_stages_before_it_are_told(built: Path, leadline: Leadline) -> None:
    change(built, "keep: normalised", "keep: exact")
    told = leadline("build", "stats", built, "--json")
    assert told.code == 0
    said = json.loads(told.out)
    assert (said["out_of_date"], said["last_stage"]) == ("presence", "questions")
    assert [step["stage"] for step in said["funnel"]][-1] == "questions"
    change(built, "min_words: 100", "min_words: 40")
    for command in (("stats", built), ("explain", built, "Andorra")):
        told = leadline("build", *command)
        assert told.code == 0
        assert told.out.startswith("the plan or its inputs changed: articles is the first stage")
    assert json.loads(leadline("build", "stats", built, "--json").out)["funnel"] == []
    assert json.loads(leadline("build", "explain", built, "Andorra", "--json").out)["facts"] == []


def test_a_run_up_to_a_stage_tells_no_later_ones_and_leaves_no_old_benchmark(
    built: Path, leadline: Leadline
) -> None:
    work = built.parent / "first-facts-build"
    assert all((work / name).exists() for name in MADE)
    change(built, "min_words: 100", "min_words: 40")
    told = json.loads(leadline("build", "filter", built, "--json", "--workers", "1").out)
    assert told["done"][0] == "articles"
    assert [step["stage"] for step in told["funnel"]][-1] == "single"
    assert not any((work / name).exists() for name in MADE)


def test_a_run_that_fails_leaves_no_old_benchmark(built: Path, leadline: Leadline) -> None:
    change(built, "min_words: 100", "min_words: 100000")
    told = leadline("build", "run", built, "--workers", "1")
    assert told.code == 3 and "no page became an article" in told.err
    assert not (built.parent / "first-facts-build" / "benchmark").exists()


def test_a_benchmark_goes_though_no_stage_was_made_anew(built: Path, leadline: Leadline) -> None:
    work = built.parent / "first-facts-build"
    change(built, "keep: normalised", "keep: exact")
    assert json.loads(leadline("build", "questions", built, "--json").out)["done"] == []
    assert not any((work / name).exists() for name in MADE)


def test_a_run_of_the_same_plan_leaves_the_benchmark_where_it_is(built: Path, leadline: Leadline) -> None:
    items = built.parent / "first-facts-build" / "benchmark" / "items.jsonl"
    before = items.stat().st_ino
    assert leadline("build", "filter", built, "--workers", "1").code == 0
    assert items.stat().st_ino == before


def test_inputs_that_are_gone_do_not_hide_what_was_made_of_them(built: Path, leadline: Leadline) -> None:
    before = json.loads(leadline("build", "stats", built, "--json").out)
    shutil.rmtree(built.parent / "corpus")
    told = leadline("build", "stats", built)
    assert told.out.startswith("not compared with the plan, since its inputs are gone: scan: ")
    assert json.loads(leadline("build", "stats", built, "--json").out) == before


def test_a_large_input_of_another_time_is_not_read_to_compare_it(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_plan(built)
    os.utime(built.parent / "pages.xml.bz2", (1, 1))
    assert standing(plan, Workspace(plan.work)).first == ""  # small: read, and the same
    monkeypatch.setattr(checksums, "_SMALL", 10)
    now = standing(plan, Workspace(plan.work))
    assert (now.current, now.first, now.stale) == ((), "articles", True)
    assert funnel(plan, Workspace(plan.work)) == ()


def test_the_manifest_counts_the_shards_and_the_scan_names_them(built: Path) -> None:
    work = built.parent / "first-facts-build"
    corpus = json.loads((work / "manifest.json").read_bytes())["corpus"]
    named = json.loads((work / "stages" / "scan" / "shards.json").read_bytes())
    sizes = [[path.name, path.stat().st_size] for path in sorted((built.parent / "corpus").iterdir())]
    assert named == sizes and len(sizes) == 2
    assert (corpus["shards"], corpus["bytes"]) == (2, sum(size for _, size in sizes))
    assert corpus["pinned_by"] == "name and size"


def test_faulty_shards_are_one_line(built: Path, leadline: Leadline) -> None:
    told = leadline("build", "presence", built, "--workers", "1")
    (line,) = [line for line in told.out.splitlines() if line.startswith("scan: ")]
    assert " of 2 shards have faults: " in line and "cut 1" in line
    said = json.loads(leadline("build", "presence", built, "--workers", "1", "--json").out)
    assert said["scan"]["shards"] == 2 and said["scan"]["faults"]["cut"] == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("corpus: corpus/*.jsonl.gz", "corpus: nowhere/*.gz", r":\d+: presence.corpus: no file is called"),
        ("keep: normalised", "infini_gram: none", r":\d+: presence.infini_gram: no folder is called"),
        ("keep: normalised", "tokenizer: none", r":\d+: presence.tokenizer: no file is called"),
        ("titles: titles.tsv", "titles: none.tsv", r":\d+: link.titles: no file is called"),
        ("entities: entities.json", "entities: none.json", r":\d+: wikidata.entities: no file is called"),
        ("entities: entities.json", "date: 2016-05-01", r":\d+: wikidata names no source"),
        ("titles: titles.tsv", "titles: []", r":\d+: link names no titles"),
        ("titles: titles.tsv", "page: titles.tsv", r":\d+: link.page_props is missing"),
        ("seed: 0", "filter: {relations: none.txt}", r":\d+: filter.relations: no file is called"),
        ("seed: 0", "filter: {relations: bad.txt}", r"bad.txt:1: a line begins with the id of a property"),
        ("seed: 0", "filter: {domain: {table: none.yaml}}", r":\d+: filter.domain.table: no file"),
        ("seed: 0", "filter: {domain: {table: bad.txt}}", r"bad.txt:2:1: broken YAML"),
        ("seed: 0", "frequency: {pageviews: none.bz2}", r":\d+: frequency.pageviews: no file is called"),
        (
            "seed: 0",
            "frequency: {pageviews: pageviews-202101-user.bz2, start: 2021-03}",
            r"plan.yaml:\d+: frequency.pageviews: no file of page views lies in the window",
        ),
        ("seed: 0", "questions: {templates: none.yaml}", r":\d+: questions.templates: no file is called"),
        ("seed: 0", "questions: {templates: bad.txt}", r"bad.txt:2:1: broken YAML"),
        (
            "seed: 0",
            "filter: {cardinality: {model: smollm2, prompt: none}}",
            r"plan.yaml:\d+: .*there is no prompt",
        ),
        (
            "seed: 0",
            "filter: {domain: {table: own.yaml}, relevance: {model: smollm2}}",
            r"own.yaml: the domain 'law' has no scope",
        ),
        ("method: distant", "method: recorded", r":\d+: the method 'recorded' needs files"),
        ("method: distant", "{method: recorded, recorded: bad.txt}", r"bad.txt:1: no JSON object"),
        ("method: distant", "method: chat", r":\d+: the method 'chat' needs a model"),
        (
            "method: distant",
            "{method: chat, model: smollm2, prompt: none}",
            r":\d+: extract.prompt: none holds no prompt.txt",
        ),
    ],
)
def test_what_the_plan_names_in_vain_is_said_before_the_first_stage(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    (folder / "bad.txt").write_text("neither an id nor: [\n", "utf-8")
    (folder / "pageviews-202101-user.bz2").touch()
    (folder / "own.yaml").write_text("domains: [{name: law, classes: {Q7748: law}}]\n", "utf-8")
    change(folder / "plan.yaml", old, new)
    plan = read_plan(folder / "plan.yaml")
    with pytest.raises(UsageError, match=said) as error:
        run_build(plan, InProcess(), Quiet())
    assert "\n" not in str(error.value)
    assert not plan.work.exists()


def test_what_a_step_does_not_reach_is_not_looked_at(tmp_path: Path, leadline: Leadline) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "example")
    change(tmp_path / "example" / "plan.yaml", "corpus: corpus/*.jsonl.gz", "corpus: nowhere/*.gz")
    assert leadline("build", "articles", tmp_path / "example" / "plan.yaml", "--workers", "1").code == 0


def test_extractions_recorded_of_another_text_are_told_as_such(tmp_path: Path, leadline: Leadline) -> None:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    line = {"title": "Andorra", "text": "Andorra is elsewhere.", "output": "<triplet> A <subj> B <obj> c"}
    (folder / "recorded.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    change(folder / "plan.yaml", "method: distant", "{method: recorded, recorded: recorded.jsonl}")
    told = leadline("build", "extract", folder / "plan.yaml", "--workers", "1")
    assert told.code == 1
    assert "are not recorded" in told.err and "1 are recorded with another text" in told.err
    assert told.out.splitlines()[-1].startswith("no fact was extracted: of ")
    said = json.loads(leadline("build", "extract", folder / "plan.yaml", "--json").out)
    assert said["funnel"][1]["passages"]["other-text"] == 1
    assert said["nothing"].startswith("no fact was extracted: of ")
