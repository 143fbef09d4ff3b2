"""The stages `scan` and `presence`: supports are filled in, facts without a place in the corpus go."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from leadline.build.extract.extractor import Passage
from leadline.build.parts import reading, writing
from leadline.build.plan import Plan
from leadline.build.plan_file import read_plan
from leadline.build.presence.again import Question, read_again, same_triplet
from leadline.build.presence.scan_stage import FOUND, ScanStage
from leadline.build.presence.stage import PresenceStage
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact, Support, Triplet
from leadline.build.stage import Job
from leadline.build.workspace import StageFolder, Workspace
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes

EXACT = "The Treaty of Lisbon was signed in the Jerónimos Monastery on 13 December 2007."
QUOTED = 'The monastery is called "Mosteiro dos Jerónimos" by the people who live in Lisbon.'
MARKED = "It was built in the year 1501 by Diogo de Boitaca for the Order of Saint Jerome."
ABSENT = "No document of this corpus holds the sentence that stands here as a supporting one."


def fact(name: str, *sentences: str, **more: Any) -> Fact:
    support = tuple(Support(sentence=sentence, start=0) for sentence in sentences)
    defaults: dict[str, Any] = {
        "article": "1",
        "title": "Jerónimos Monastery",
        "subject": "Treaty of Lisbon",
        "relation": "location",
        "object": "Jerónimos Monastery",
        "extractor": "recorded",
    }
    return Fact(id=name, support=support, **(defaults | more))


FACTS = (
    fact("f-exact", ABSENT, EXACT),
    fact(
        "f-quoted", QUOTED, subject="Jerónimos Monastery", relation="named", object="Mosteiro dos Jerónimos"
    ),
    fact("f-marked", MARKED, subject="Jerónimos Monastery", relation="architect", object="Diogo de Boitaca"),
    fact("f-absent", ABSENT),
    fact("f-two", EXACT, QUOTED),
)


class Noted(Quiet):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def corpus(folder: Path) -> None:
    texts = [
        f"Before. {EXACT} After. {EXACT}",
        QUOTED.replace('"', "”").replace(" ", "\u00a0", 3),
        MARKED.replace("1501", "1501[3]").replace("Boitaca", "Boitaca [citation needed]"),
        f"Again: {EXACT}",
    ]
    folder.mkdir()
    for number in range(3):
        lines = [
            json.dumps({"id": f"s{number}-{row}", "text": text}, ensure_ascii=bool(number % 2)) + "\n"
            for row, text in enumerate(texts)
        ]
        packed = zstandard.ZstdCompressor().compress("".join(lines).encode())
        (folder / f"part-{number}.jsonl.zst").write_bytes(packed)
    (folder / "part-3.jsonl").write_bytes(b'broken\n{"id": "no text"}\n')
    (folder / "part-4.jsonl.zst").write_bytes(b"")


def planned(folder: Path, keep: str = "stripped", again: bool = False, more: str = "") -> Plan:
    (folder / "articles.jsonl").touch()
    recorded = [
        {"title": "Jerónimos Monastery", "text": EXACT, "output":
         "<triplet> Treaty of Lisbon <subj> Jerónimos Monastery <obj> location"},
        {"title": "Jerónimos Monastery", "text": QUOTED, "output":
         "<triplet> Jerónimos Monastery <subj> Lisbon <obj> location"},
    ]  # fmt: skip
    (folder / "recorded.jsonl").write_text("".join(json.dumps(one) + "\n" for one in recorded), "utf-8")
    path = folder / "plan.yaml"
    path.write_text(
        "name: small\narticles: {jsonl: articles.jsonl}\n"
        "extract: {method: recorded, recorded: recorded.jsonl}\n"
        f"presence:\n  corpus: corpus/*\n  keep: {keep}\n  again: {str(again).lower()}\n{more}",
        encoding="utf-8",
    )
    return read_plan(path)


def scanned(plan: Plan, engine: Any = None, facts: Sequence[Fact] = FACTS) -> tuple[Job, StageFolder, Any]:
    work = Workspace(plan.work)
    before = work.stage("questions")
    with writing(before.kept) as write:
        for one in facts:
            write(one)
    job = Job(plan, work, engine or InProcess(), Noted())
    here = work.stage("scan")
    here.path.mkdir(parents=True, exist_ok=True)
    return job, before, ScanStage().run(job, here, before)


def judged(job: Job, before: StageFolder) -> tuple[dict[str, Fact], dict[str, Drop], Any]:
    here = job.work.stage("presence")
    here.path.mkdir(parents=True, exist_ok=True)
    counts = PresenceStage().run(job, here, before)
    kept = {one.id: one for one in reading(here.kept, Fact)}
    return kept, {one.fact.id: one for one in reading(here.dropped, Drop)}, counts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus(tmp_path / "corpus")
    return tmp_path


def test_a_support_tells_its_best_tier_how_often_and_where(folder: Path) -> None:
    job, before, counts = scanned(planned(folder))
    assert counts["found"] == {"exact": 1, "normalised": 2, "stripped": 3}
    assert (counts["shards"], counts["documents"], counts["sentences"]) == (5, 12, 4)
    kept, dropped, counts = judged(job, before)
    absent, there = kept["f-exact"].support
    assert (absent.tier, absent.occurrences, absent.documents) == (None, 0, ())
    assert (there.tier, there.occurrences) == ("exact", 9)
    assert there.documents == ("s0-0", "s0-3", "s1-0", "s1-3", "s2-0")
    assert (kept["f-quoted"].support[0].tier, kept["f-quoted"].support[0].occurrences) == ("normalised", 3)
    assert (kept["f-marked"].support[0].tier, kept["f-marked"].support[0].documents[0]) == (
        "stripped",
        "s0-2",
    )
    assert {name: drop.reason for name, drop in dropped.items()} == {"f-absent": "not-in-corpus"}
    assert counts["tiers"] == {"exact": 2, "normalised": 1, "stripped": 1}


@pytest.mark.parametrize(("keep", "stay"), [("exact", 2), ("normalised", 3), ("stripped", 4)])
def test_the_tier_of_the_plan_decides_who_stays(keep: str, stay: int, folder: Path) -> None:
    job, before, _ = scanned(planned(folder, keep))
    kept, dropped, _ = judged(job, before)
    assert len(kept) == stay
    if keep == "exact":
        assert dropped["f-marked"].detail == "only stripped"


def test_a_fact_must_be_extracted_again_from_a_sentence_that_stands_in_the_corpus(folder: Path) -> None:
    job, before, _ = scanned(planned(folder, again=True))
    kept, dropped, _ = judged(job, before)
    assert {name: drop.reason for name, drop in dropped.items()} == {
        "f-absent": "not-in-corpus",
        "f-quoted": "not-extracted-again",
        "f-marked": "not-extracted-again",
    }
    assert [one.again for one in kept["f-exact"].support] == [None, True]
    assert [one.again for one in kept["f-two"].support] == [True, False]


def test_a_sentence_of_another_page_is_read_again_under_that_page() -> None:
    asked: list[Passage] = []

    class Told:
        def extract(self, passages: Sequence[Passage]) -> list[list[Triplet]]:
            asked.extend(passages)
            return [[Triplet(subject="He", relation="place of death", object="Chalcis")] for _ in passages]

    support = (
        Support(sentence="Aristotle died in Chalcis.", start=0),
        Support(sentence="He died in Chalcis.", start=0, pronoun=True, article="308", title="Aristotle"),
    )
    one = Fact(
        id="f-1",
        article="9",
        title="Chalcis",
        subject="Aristotle",
        relation="place of death",
        object="Chalcis",
        extractor="told",
        support=support,
    )
    (read,) = read_again(Told(), Question(0, ((one, (0, 1)),)))  # type: ignore[arg-type]
    assert [passage.title for passage in asked] == ["Chalcis", "Aristotle"]
    assert read == {0: False, 1: True}


def test_the_same_bytes_come_out_of_one_process_of_two_and_of_an_interrupted_run(folder: Path) -> None:
    plan = planned(folder)
    job, _, _ = scanned(plan)
    here = job.work.stage("scan").path
    first = {path.name: path.read_bytes() for path in here.rglob("*.json")}
    assert len(first) == 7  # five shards, what was found in all, and their list
    (here / "parts" / "00001.json").unlink()
    (here / FOUND).unlink()
    scanned(plan)
    assert {path.name: path.read_bytes() for path in here.rglob("*.json")} == first
    shutil.rmtree(here)
    _, _, counts = scanned(plan, Processes(2))
    assert {path.name: path.read_bytes() for path in here.rglob("*.json")} == first
    assert counts["faults"] == {"broken": 1, "empty": 1, "no-text": 1}


def test_faulty_shards_are_noted_by_name_and_stand_in_the_counts(folder: Path) -> None:
    job, _, counts = scanned(planned(folder))
    assert counts["faulty"] == {
        "part-3.jsonl": {"broken": [1, 1], "no-text": [1, 2]},
        "part-4.jsonl.zst": {"empty": [1, 0]},
    }
    notes = job.progress.lines  # type: ignore[attr-defined]
    assert sorted(notes) == ["scan: part-3.jsonl: broken 1, no-text 1", "scan: part-4.jsonl.zst: empty 1"]


def test_facts_without_sentences_need_no_scan(folder: Path) -> None:
    job, before, counts = scanned(planned(folder), facts=[fact("f-bare")])
    assert (counts["sentences"], counts["shards"]) == (0, 0)
    _, dropped, _ = judged(job, before)
    assert dropped["f-bare"].reason == "not-in-corpus"


def test_a_plan_whose_corpus_is_named_by_nothing_is_refused(folder: Path) -> None:
    plan = planned(folder)
    path = plan.file
    path.write_text(path.read_text().replace("  corpus: corpus/*\n", ""), encoding="utf-8")
    with pytest.raises(UsageError, match="names no corpus"):
        ScanStage().check(read_plan(path))


def test_another_shard_or_another_size_makes_the_scan_be_done_again(folder: Path) -> None:
    stage, plan = ScanStage(), planned(folder)
    before = stage.settings(plan)
    assert stage.settings(planned(folder, keep="exact")) == before
    with (folder / "corpus" / "part-3.jsonl").open("ab") as file:
        file.write(b"\n")
    assert stage.settings(plan) != before
    pinned = planned(folder, more="  checksums: true\n")
    assert len(stage.inputs(pinned)) == 5
    assert stage.inputs(plan) == ()


@pytest.mark.parametrize(
    ("triplet", "same"),
    [
        (("treaty of lisbon", "Location", "JERÓNIMOS MONASTERY"), True),
        (("Treaty of Lisbon", "location", "Lisbon"), False),
        (("Treaty of Lisbon", "signatory", "Jerónimos Monastery"), False),
        (("Lisbon Treaty", "location", "Jerónimos Monastery"), True),
    ],
)
def test_the_same_triplet_has_the_same_names_without_case_or_aliases(
    triplet: tuple[str, str, str], same: bool
) -> None:
    one = Triplet(subject=triplet[0], relation=triplet[1], object=triplet[2])
    other = fact("f", EXACT, subject_names=("Lisbon Treaty",))
    assert same_triplet(one, other, other.support[0]) is same


def test_the_same_triplet_may_have_the_same_ids_or_a_pronoun_or_another_spelling_of_a_date() -> None:
    by_id = fact("f", EXACT, subject_id="Q1", relation_id="P1", object_id="Q2")
    one = Triplet(subject="a", relation="b", object="c", subject_id="Q1", relation_id="P1", object_id="Q2")
    assert same_triplet(one, by_id, by_id.support[0])
    it = Triplet(subject="It", relation="location", object="Jerónimos Monastery")
    assert not same_triplet(it, by_id, Support(sentence=EXACT, start=0))
    assert same_triplet(it, by_id, Support(sentence=EXACT, start=0, pronoun=True))
    dated = fact("f", EXACT, relation="signed", object="13 December 2007", kind="date")
    other = Triplet(subject="Treaty of Lisbon", relation="signed", object="December 13, 2007")
    assert same_triplet(other, dated, dated.support[0])
