"""The whole pipeline on real inputs: from a dump to a benchmark that a model is asked."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.build.explain import histories
from leadline.build.finish import finish
from leadline.build.funnel import as_markdown, funnel
from leadline.build.parts import reading
from leadline.build.plan import Plan
from leadline.build.plan_file import read_plan
from leadline.build.presence.scanner import Scanner
from leadline.build.progress import Quiet
from leadline.build.records import Article, Drop
from leadline.build.run import run_build
from leadline.build.workspace import Workspace
from leadline.workers.in_process import InProcess
from tests.build import real_inputs
from tests.study.conftest import Leadline, leadline

__all__ = ["leadline"]

pytestmark = real_inputs.needs_data


@dataclass(frozen=True)
class Built:
    """A build that has ended."""

    plan: Plan
    work: Workspace

    def facts(self) -> list[dict[str, Any]]:
        """What stands beside the benchmark's items."""
        return [
            json.loads(line) for line in (self.work.benchmark / "facts.jsonl").read_text("utf-8").splitlines()
        ]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    real_inputs.write_inputs(folder)
    real_inputs.write_corpus(folder / "corpus")
    real_inputs.write_plan(folder)
    return folder


@pytest.fixture(scope="module")
def built(inputs: Path) -> Built:
    plan = read_plan(inputs / "plan.yaml")
    work = Workspace(plan.work)
    run_build(plan, InProcess(), Quiet())
    finish(plan, work)
    return Built(plan, work)


def test_every_fact_that_a_stage_took_went_on_or_was_dropped_with_a_reason(built: Built) -> None:
    steps = funnel(built.plan, built.work)
    assert [step.stage for step in steps][:3] == ["articles", "extract", "link"]
    for before, after in pairwise(steps[1:]):
        assert after.taken == before.kept, (before, after)
    for step in steps[1:]:
        drops = list(built.work.stage(step.stage).drops())
        assert len(drops) == step.lost and all(drop.reason for drop in drops)
    assert steps[0].dropped["redirect"] == 100
    assert sum(step.lost > 0 for step in steps) >= 8


def test_the_page_on_building_shows_this_funnel(built: Built) -> None:
    page = (Path(__file__).parents[2] / "docs" / "building.md").read_text(encoding="utf-8")
    assert as_markdown(funnel(built.plan, built.work)) in page


def test_the_ledger_holds_each_fact_once_at_each_stage(built: Built) -> None:
    extracted = built.work.stage("extract")
    there = {fact.id for fact in extracted.facts()} | {drop.fact.id for drop in extracted.drops()}
    ends: dict[str, str] = {}
    for step in funnel(built.plan, built.work)[1:]:
        for drop in built.work.stage(step.stage).drops():
            assert drop.fact.id not in ends, "dropped twice"
            ends[drop.fact.id] = step.stage
    left = {fact["id"] for fact in built.facts()}
    assert left.isdisjoint(ends) and left | set(ends) == there


def test_the_benchmark_is_valid_and_its_evidence_stands_in_its_pages(
    built: Built, leadline: Leadline
) -> None:
    benchmark = load_benchmark(str(built.work.benchmark))
    assert len(benchmark.items) == len(built.facts()) > 300
    validated = leadline("bench", "validate", built.work.benchmark)
    assert "0 errors" in validated.out
    audited = leadline("audit", built.work.benchmark)
    assert audited.code == 0 and "pass: 0 items are flagged" in audited.out


def test_what_is_kept_stands_in_the_corpus_and_what_is_dropped_does_not(built: Built) -> None:
    texts = [abstract["text"] for abstract in real_inputs.abstracts()]
    corpus = "\n\0".join(text for text in texts if real_inputs.in_the_corpus(text))
    corpus += "\n\0".join([*(text for _, text in real_inputs.passages()), *real_inputs.sentences_put_in()])
    for fact in built.facts():
        exact = [one for one in fact["support"] if one.get("tier") == "exact"]
        assert exact or any(one.get("tier") for one in fact["support"])
        for one in exact:
            assert one["sentence"] in corpus
            assert one["occurrences"] >= 1 and one["documents"]
    dropped = [drop for drop in built.work.stage("presence").drops() if drop.reason == "not-in-corpus"]
    assert len(dropped) > 50
    for drop in dropped:
        assert not any(one.sentence in corpus for one in drop.fact.support)


def test_facts_of_the_slice_itself_are_among_them(built: Built) -> None:
    asked = {(fact["question"], fact["answer"]) for fact in built.facts()}
    assert ("In which place was Albert Einstein born?", "Ulm") in asked
    assert any(answer in ("Luanda", "Algiers", "Edmonton") for _, answer in asked)


def test_broken_shards_are_counted_and_named(built: Built) -> None:
    counts = built.work.stage("scan").counts()
    assert counts["shards"] == 10
    assert counts["faults"] == {
        "blank": 1, "broken": 1, "cut": 1, "empty": 1, "no-text": 3, "not-object": 1, "warc": 1
    }  # fmt: skip
    assert set(counts["faulty"]) == {
        "part-02.jsonl", "part-03.jsonl.zst", "part-04.jsonl.zst", "part-05.jsonl.gz", "test.jsonl.zst"
    }  # fmt: skip


def test_fifteen_sentences_of_the_slice_stand_in_another_corpus(built: Built, inputs: Path) -> None:
    sentences = sorted(
        {
            article.said(sentence)
            for part in built.work.stage("articles").parts()
            for article in reading(part, Article)
            if article.entity is None  # the slice's; the abstracts come with their ids
            for sentence in article.sentences
            if not sentence.damage and sentence.end - sentence.start >= 40
        }
    )
    passages = [text for _, text in real_inputs.passages()]
    expected = {sentence for sentence in sentences if any(sentence in text for text in passages)}
    hits = Scanner(tuple(sentences), ("exact",), 3).scan(inputs / "corpus" / "wikipedia-2018.jsonl.gz")
    assert {sentences[number] for number in hits.hits} == expected
    assert len(expected) >= 15


def test_any_fact_can_be_asked_why_it_is_here_or_why_not(built: Built, leadline: Leadline) -> None:
    kept = built.facts()[0]
    (history,) = histories(built.plan, built.work, kept["id"]).histories
    by_question = histories(built.plan, built.work, kept["question"]).histories
    assert history in by_question, "all of its stages, not only those from its question on"
    by_relation = histories(built.plan, built.work, kept["relation_id"], limit=2)
    assert len(by_relation.histories) == 2 and by_relation.more > 0
    assert history.events[0].stage == "extract" and history.events[-1].stage == "presence"
    assert "sentences in the corpus" in history.events[-1].words
    assert {event.outcome for event in history.events} == {"kept"}
    drop: Drop = next(iter(built.work.stage("single").drops()))
    told = leadline("build", "explain", built.plan.file, drop.fact.id)
    assert told.code == 0 and f"single       dropped  {drop.reason}" in told.out
    assert leadline("build", "explain", built.plan.file, "Austin (disambiguation)").out.startswith(
        "page Austin"
    )
    assert leadline("build", "explain", built.plan.file, "no such thing").code == 1


def test_a_second_run_does_nothing_and_a_change_of_the_plan_only_what_it_touches(
    built: Built, inputs: Path, leadline: Leadline
) -> None:
    again = json.loads(leadline("build", "run", built.plan.file, "--json").out)
    assert again["done"] == [] and again["items"] == len(built.facts())
    other = real_inputs.write_plan(inputs, cap="cap:\n  per_relation: 10")
    try:
        changed = json.loads(leadline("build", "questions", other, "--json", "--workers", "1").out)
    finally:
        real_inputs.write_plan(inputs)
    assert changed["done"] == ["cap", "questions"]
    restored = json.loads(leadline("build", "run", built.plan.file, "--json", "--workers", "1").out)
    assert restored["done"][:2] == ["cap", "questions"] and restored["items"] == again["items"]


def test_killed_at_any_point_and_resumed_it_is_the_same_byte_for_byte(built: Built, tmp_path: Path) -> None:
    real_inputs.write_inputs(tmp_path)
    real_inputs.write_corpus(tmp_path / "corpus")
    plan = real_inputs.write_plan(tmp_path)
    draw = random.Random(20)
    kills = 0
    for _ in range(60):
        command = [sys.executable, "-m", "leadline", "build", "run", str(plan), "--workers", "2", "--quiet"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # Later and later, so that it gets through on a slow machine as well.
        end = time.monotonic() + draw.uniform(1.0, 4.0) * (1 + kills / 2)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        if process.poll() is not None:
            assert process.returncode == 0, process.stderr and process.stderr.read()
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    else:
        raise AssertionError("it never came to its end")
    assert kills >= 2
    assert _files(tmp_path / "real-slice-build" / "benchmark") == _files(built.work.benchmark)
    for name in ("extract", "link", "single", "presence"):
        here, there = Workspace(tmp_path / "real-slice-build").stage(name), built.work.stage(name)
        assert here.kept.read_bytes() == there.kept.read_bytes(), name
        assert here.dropped.read_bytes() == there.dropped.read_bytes(), name


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.model
def test_a_model_is_asked_what_was_built(built: Built, tmp_path: Path, leadline: Leadline) -> None:
    study = tmp_path / "study"
    assert leadline("init", study, "--benchmark", built.work.benchmark, "--items", "4").code == 0
    file = study / "study.yaml"
    said, _, _ = file.read_text("utf-8").partition("\n# What is compared")
    file.write_text(
        f"{said}\ntechniques: []\nsampling: {{temperatures: [0.7], vote: 2}}\nbeyond_sampling: null\n",
        "utf-8",
    )
    ended = leadline("run", study)
    assert ended.code == 0, ended.err
    report = json.loads(leadline("report", study, "--json").out)
    assert any(one["lens"] == "accuracy" for one in report["findings"])
