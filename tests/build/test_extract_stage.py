"""The stage `extract`: every triplet is kept with the sentences that state it, or dropped with a reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from leadline.build.extract.passages import pieces, words_for
from leadline.build.records import Article, Fact
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from tests.build.extracting import article, extract, plan_of
from tests.build.real_inputs import abstracts, needs_data, write_inputs

RECORDED = "{method: recorded, recorded: said.jsonl}"
TEXT = "Ann Lee is an English rower. She was born in Ulm in 1990. Ann Lee lives in Bonn, Bonn is a town."


def record(folder: Path, **outputs: str) -> None:
    """Write said.jsonl: what was recorded for the article TEXT, by title."""
    lines = [{"title": title, "text": TEXT, "output": output} for title, output in outputs.items()]
    (folder / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def drops(facts: Path, output: str) -> tuple[list[Fact], list[tuple[str, str, str]], dict[str, object]]:
    record(facts, Ann_Lee=output)
    here = extract(plan_of(facts, RECORDED), [article("Ann Lee", TEXT)])
    gone = [(drop.fact.subject, drop.reason, drop.detail) for drop in here.drops()]
    return list(here.facts()), gone, dict(here.counts())


def test_a_fact_has_the_sentences_that_state_it_and_says_where_a_pronoun_does(tmp_path: Path) -> None:
    output = "<triplet> Ann Lee <subj> Bonn <obj> residence <subj> Ulm <obj> place of birth"
    facts, gone, counts = drops(tmp_path, output)
    assert [(fact.subject, fact.relation, fact.object) for fact in facts] == [
        ("Ann Lee", "residence", "Bonn"),
        ("Ann Lee", "place of birth", "Ulm"),
    ]
    bonn, ulm = (fact.support for fact in facts)
    assert [(one.sentence, one.pronoun) for one in bonn] == [(TEXT[TEXT.index("Ann Lee lives") :], False)]
    assert [(one.sentence, one.pronoun) for one in ulm] == [("She was born in Ulm in 1990.", True)]
    for one in (*bonn, *ulm):
        assert TEXT[one.start :].startswith(one.sentence)
    assert facts[0].extractor == "recorded"
    assert facts[0].article == facts[0].title == "Ann Lee"
    assert gone == []
    assert counts == {
        "kept": 2,
        "dropped": {},
        "malformed": {},
        "passages": {"read": 1},
        "pronoun": 1,
    }


def test_a_hallucinated_subject_is_dropped_and_said(tmp_path: Path) -> None:
    output = (
        "<triplet> Bob Lee <subj> Ulm <obj> place of birth <triplet> Ann Lee <subj> Paris <obj> residence"
    )
    facts, gone, counts = drops(tmp_path, output)
    assert facts == []
    assert gone == [
        ("Bob Lee", "no-sentence", "subject not in the text"),
        ("Ann Lee", "no-sentence", "object not in the text"),
    ]
    assert counts["dropped"] == {"no-sentence": 2}


def test_two_names_of_two_sentences_support_nothing(tmp_path: Path) -> None:
    _, gone, _ = drops(tmp_path, "<triplet> Ulm <subj> Bonn <obj> twinned administrative body")
    assert gone == [("Ulm", "no-sentence", "subject and object in no sentence together")]


def test_a_thing_is_no_fact_about_itself(tmp_path: Path) -> None:
    _, gone, _ = drops(tmp_path, "<triplet> Bonn <subj> bonn <obj> shares border with")
    assert gone == [("Bonn", "self", "")]


def test_a_head_that_comes_again_and_a_last_triplet_cut_off(tmp_path: Path) -> None:
    output = (
        "<s><triplet> Ann Lee <subj> Bonn <obj> residence <triplet> Ann Lee <subj> Ulm <obj> place of birth "
        "<triplet> Ann Lee <subj> Bonn <obj> residence <subj> 1990 <obj> date of"
    )
    facts, gone, counts = drops(tmp_path, output)
    assert [(fact.relation, fact.object) for fact in facts] == [
        ("residence", "Bonn"),
        ("place of birth", "Ulm"),
    ]
    assert gone == []
    assert counts["malformed"] == {"cut": 1, "repeated": 1}


def test_a_damaged_sentence_is_no_evidence_and_no_context(tmp_path: Path) -> None:
    whole = article("Ann Lee", TEXT)
    first, second, third = whole.sentences
    damaged = whole.model_copy(
        update={"sentences": (first, second, third.model_copy(update={"damage": ("template",)}))}
    )
    record(tmp_path, Ann_Lee="<triplet> Ann Lee <subj> Bonn <obj> residence")
    here = extract(plan_of(tmp_path, RECORDED), [damaged])
    assert [(drop.reason, drop.detail) for drop in here.drops()] == [
        ("no-sentence", "only in a damaged sentence")
    ]
    assert [one.passage.text.strip() for one in pieces(damaged, "passage", 100)] == [
        TEXT[: third.start].strip()
    ]


def test_passages_end_with_paragraphs_and_keep_to_their_size() -> None:
    text = "One two three. Four five. Six seven eight nine.\n\nTen. Eleven twelve."
    cut = [one.passage.text.strip() for one in pieces(article("T", text), "passage", 5)]
    assert cut == ["One two three. Four five.", "Six seven eight nine.", "Ten. Eleven twelve."]
    for one in pieces(article("T", text), "passage", 5):
        assert text[one.passage.start :].startswith(one.passage.text)
        for (start, end), sentence in zip(one.passage.sentences, one.sentences, strict=True):
            assert one.passage.text[start:end] == text[sentence.start : sentence.end]
    # A sentence longer than a passage may be stands alone.
    assert len(list(pieces(article("T", text), "passage", 1))) == 5
    assert words_for(256) == 153


def test_links_of_a_passage_are_counted_from_its_start() -> None:
    whole = article("T", "Ann met Bob. Bob met Cay.", links=[("Bob", "Bob (x)"), ("Cay", "Cay")])
    _, second = pieces(whole, "sentence", 0)
    assert second.passage.links is not None
    (link,) = second.passage.links
    assert second.passage.text[link.start : link.end] == "Cay"
    assert next(iter(pieces(article("T", "A. B."), "article", 0))).passage.links is None


def test_a_text_that_nobody_recorded_is_counted(tmp_path: Path) -> None:
    record(tmp_path, Bob="<triplet> Bob <subj> Ulm <obj> place of birth")
    here = extract(
        plan_of(tmp_path, RECORDED), [article("Cay", "Cay is here."), article("Bob", "Bob is here.")]
    )
    assert here.counts()["passages"] == {"other-text": 1, "read": 2, "unrecorded": 1}


def test_an_article_without_sentences_passes(tmp_path: Path) -> None:
    record(tmp_path, Bob="")
    here = extract(plan_of(tmp_path, RECORDED), [Article(id="1", title="Bob", text="")])
    assert here.counts()["kept"] == 0


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{method: recorded}", r"plan.yaml:3: the method 'recorded' needs files"),
        ("{method: recorded, recorded: none.jsonl}", r"yaml:3: extract.recorded: no file is called"),
        ("{method: rebel}", r"plan.yaml:3: the method 'rebel' needs a model"),
        ("{method: chat}", r"plan.yaml:3: the method 'chat' needs a model"),
    ],
)
def test_a_plan_that_lacks_something_is_one_line(tmp_path: Path, section: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        extract(plan_of(tmp_path, section), [article("Ann Lee", TEXT)])
    assert "\n" not in str(caught.value)


def real_articles() -> list[Article]:
    return [article(one["title"], one["text"], id_=one["docid"], entity=one["uri"]) for one in abstracts()]


@needs_data
def test_gold_of_a_thousand_abstracts_becomes_facts_or_drops_and_nothing_is_lost(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    here = extract(plan_of(tmp_path, "{method: recorded, recorded: recorded.jsonl}"), real_articles())
    counts = here.counts()
    facts = list(here.facts())
    gold = Counter(
        (one["docid"], " ".join(triple["subject"]["surfaceform"].split()), triple["predicate"]["surfaceform"])
        for one in abstracts()
        for triple in one["triples"]
    )
    said = Counter((fact.article, fact.subject, fact.relation) for fact in facts)
    said.update((drop.fact.article, drop.fact.subject, drop.fact.relation) for drop in here.drops())
    assert set(said) == set(gold)
    assert counts["passages"] == {"read": 1000}
    assert set(counts["malformed"]) <= {"repeated"}
    assert set(counts["dropped"]) <= {"no-sentence", "self"}
    assert counts["kept"] > 0.88 * (counts["kept"] + sum(counts["dropped"].values()))
    assert all(fact.subject_id and fact.relation_id and fact.article_id for fact in facts)
    assert len({fact.id for fact in facts}) == len(facts)
    texts = {one["docid"]: one["text"] for one in abstracts()}
    for fact in facts:
        assert fact.support
        for support in fact.support:
            assert texts[fact.article][support.start :].startswith(support.sentence)


KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from leadline.build.extract import chunks, stage
from tests.build.extracting import extract, plan_of
from tests.build.test_extract_stage import real_articles
chunks._SIZES["recorded"] = 40
real = stage.extract_chunk
def slowly(ready, chunk):
    time.sleep(0.05)
    return real(ready, chunk)
stage.extract_chunk = slowly
extract(plan_of(Path({folder!r}), "{{method: recorded, recorded: recorded.jsonl}}"), real_articles())
"""


@needs_data
def test_killed_and_done_again_it_leaves_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leadline.build.extract.chunks._SIZES", {"recorded": 40})
    plans = []
    for name in ("whole", "killed"):
        folder = tmp_path / name
        folder.mkdir()
        write_inputs(folder)
        plans.append(plan_of(folder, "{method: recorded, recorded: recorded.jsonl}"))
    whole = extract(plans[0], real_articles())
    script = KILLED.format(root=str(Path(__file__).parents[2]), folder=str(tmp_path / "killed"))
    process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "OMP_NUM_THREADS": "1"})
    parts = tmp_path / "killed" / "tried-build" / "stages" / "extract" / "parts"
    deadline = time.monotonic() + 60
    while len(list(parts.glob("0*.zst"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path.name: path.stat().st_mtime_ns for path in parts.glob("0*.zst")}
    assert 3 <= len(done) < 26
    again = extract(plans[1], real_articles())
    assert {name: (parts / name).stat().st_mtime_ns for name in done} == done, "what was done was done again"
    for name in ("kept.jsonl.zst", "dropped.jsonl.zst"):
        assert (again.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert again.counts() == whole.counts()


@pytest.mark.parametrize("kind", ["parts", "dropped", "counts"])
def test_a_file_of_a_chunk_that_has_gone_is_made_again(tmp_path: Path, kind: str) -> None:
    record(tmp_path, Ann_Lee="<triplet> Ann Lee <subj> Bonn <obj> residence <subj> Rome <obj> residence")
    plan, articles = plan_of(tmp_path, RECORDED), [article("Ann Lee", TEXT)]
    here = extract(plan, articles)
    before = {path: path.read_bytes() for path in here.path.rglob("*") if path.is_file()}
    next((here.path / kind).glob("00000.*")).unlink()
    extract(plan, articles)
    assert {path: path.read_bytes() for path in here.path.rglob("*") if path.is_file()} == before


def test_neither_the_size_of_chunks_nor_the_number_of_workers_shows_in_what_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, **{f"Ann_{n}": "<triplet> Ann Lee <subj> Bonn <obj> residence" for n in range(7)})
    articles = [article(f"Ann {number}", TEXT) for number in range(7)]
    kept = []
    for size, engine in ((2, InProcess()), (5000, InProcess()), (2, Processes(2))):
        monkeypatch.setattr("leadline.build.extract.chunks._SIZES", {"recorded": size})
        folder = tmp_path / f"{size}-{engine.name}"
        folder.mkdir()
        (folder / "said.jsonl").write_bytes((tmp_path / "said.jsonl").read_bytes())
        kept.append(extract(plan_of(folder, RECORDED), articles, engine).kept.read_bytes())
    assert kept[0] == kept[1] == kept[2]
