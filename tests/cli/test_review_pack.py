"""`leadline review pack` and `score`: what is printed, written, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.review.decide import decide
from leadline.review.flag_files import read_flags
from leadline.review.pack import items_of
from leadline.review.pack_files import read_pack
from leadline.review.score import Score
from leadline.review.sheet import Answer, sheet_of, write_sheet
from tests.bundle.studies import make_bench
from tests.review.packs import by_label
from tests.review.test_flags_of_study import a_study
from tests.study.conftest import Ended, Leadline


def test_the_command_draws_from_a_studys_population_alone(tmp_path: Path, leadline: Leadline) -> None:
    asked = [
        {"id": name, "question": f"{name}?", "answer": "yes", "answer_type": "boolean"}
        for name in ("left", "right", "out")
    ]
    study = a_study(
        tmp_path / "s", asked, {"ann": {name: ["yes"] for name in ("left", "right", "out")}},
        "exclude: {items: [out]}\n",
    )  # fmt: skip
    ended = leadline("review", "pack", study / "items.jsonl", tmp_path / "pack", "--study", study)
    assert ended.code == 0, ended.err
    pack = read_pack(tmp_path / "pack")
    assert sorted(row.view.question for row in pack.rows) == ["left?", "right?"]
    assert pack.head.population.startswith("2 of 3 items drawn; left out: 1")
    assert "nobody is named as author" in ended.out
    other = leadline("review", "pack", "licences", tmp_path / "other", "--study", study)
    assert other.code == 2 and "the study is of other content" in other.err


def test_the_command_says_what_it_drew_and_what_is_next(tmp_path: Path, leadline: Leadline) -> None:
    ended = leadline("review", "pack", "licences", tmp_path / "pack", "--author", "Jane Doe", "--seed", "7")
    assert ended.code == 0 and ended.err == ""
    assert "93 rows of 130 items, 13 strata (category × answer type), 6 of them whole, seed 7" in ended.out
    assert "leadline review score" in ended.out and "nobody is named" not in ended.out
    again = leadline("review", "pack", "licences", tmp_path / "pack")
    assert again.code == 2 and again.err.count("\n") == 1 and "is not empty" in again.err
    told = leadline("review", "pack", "licences", tmp_path / "more", "--json", "--seed", "7").out
    assert json.loads(told)["seed"] == 7


@pytest.fixture
def pack(tmp_path: Path, leadline: Leadline) -> Path:
    ended = leadline("review", "pack", "licences", tmp_path / "pack", "--author", "Jane Doe")
    assert ended.code == 0
    return tmp_path / "pack"


def fill(pack: Path, wrong: int = 0, unsettled: int = 0, reader: str = "") -> None:
    """Answer as the labels have it; `wrong` booleans are turned around, then `unsettled` rows are "?"."""
    drawn, whole = read_pack(pack), load_benchmark("licences")
    answers = by_label(drawn, whole)
    yes_no = [row.token for row in drawn.rows if row.view.answer_type == "boolean"]
    for token in yes_no[:wrong]:
        answers[token] = Answer("no" if answers[token].answer == "yes" else "yes", note="as clause 2 says")
    for token in yes_no[wrong : wrong + unsettled]:
        answers[token] = Answer("?")
    write_sheet(drawn, answers, sheet_of(pack, reader) if reader else pack / "sheet.csv")


def refused(ended: Ended) -> str:
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    return ended.err


def test_a_score_is_printed_and_written_and_disagreements_are_listed_outside_of_the_pack(
    pack: Path, leadline: Leadline
) -> None:
    fill(pack, wrong=3, unsettled=2)
    ended = leadline("review", "score", pack, "licences", "--reader", "John Roe")
    assert ended.code == 0 and ended.err == ""
    assert "inter-annotator agreement: licences 1.0, reader John Roe, author Jane Doe" in ended.out
    assert "94.6 % (88/93) [88.0, 97.7]" in ended.out
    assert "2 rows the text could not settle" in ended.out and "96.7 % (88/91)" in ended.out
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert ["category", "patents", "8", "13"] in [row[:4] for row in rows]
    score = Score.model_validate_json((pack / "score-john-roe.json").read_bytes())
    assert (score.relation, score.unsettled, score.overall.all_rows.agree.numerator) == (
        "inter-annotator",
        2,
        88,
    )
    flags = read_flags(pack.parent / "pack-disagreements-john-roe.jsonl", load_benchmark("licences"))
    assert [flag.kind for flag in flags.flags] == ["reread"] * 5
    assert sorted(flag.value for flag in flags.flags)[:2] == ["?", "?"]
    assert {flag.reason for flag in flags.flags} == {"as clause 2 says", ""}
    # The next reader of the pack finds no label in it.
    read_pack(pack)
    for label in {flag.item for flag in flags.flags}:
        assert not any(label in path.read_text("utf-8-sig") for path in pack.rglob("*") if path.is_file())


def test_a_second_scoring_stands_beside_the_first_and_is_named_so(
    pack: Path, leadline: Leadline, tmp_path: Path
) -> None:
    def score() -> Ended:
        return leadline("review", "score", pack, "licences", "--reader", "John Roe")

    fill(pack, wrong=3)
    assert score().code == 0
    first = pack / "score-john-roe.json"
    listed = tmp_path / "pack-disagreements-john-roe.jsonl"
    before = first.read_bytes(), listed.read_bytes()
    again = score()  # the same sheet once more is the same score
    assert "stands   " in again.out and "second scoring" not in again.out
    assert [path.name for path in pack.glob("score-*")] == [first.name]
    fill(pack)
    ended = score()
    assert ended.code == 0 and ended.out.startswith("second scoring, inter-annotator agreement: licences")
    assert "It is a second scoring: the first (score-john-roe.json, " in ended.out
    assert ") was 96.8 % (90/93), and listed the disagreements with their labels" in ended.out
    assert (first.read_bytes(), listed.read_bytes()) == before
    second = Score.model_validate_json((pack / "score-john-roe-2.json").read_bytes())
    assert second.earlier is not None and second.earlier.file == first.name
    assert (second.earlier.agree.numerator, second.overall.all_rows.agree.numerator) == (90, 93)
    assert (tmp_path / "pack-disagreements-john-roe-2.jsonl").is_file()
    # A reader whose own name ends in a number is somebody else.
    fill(pack, reader="John Roe 2")
    other = leadline("review", "score", pack, "licences", "--reader", "John Roe 2")
    assert other.out.startswith("inter-annotator") and (pack / "score-john-roe-2-2.json").is_file()
    first.write_text("{}", "utf-8")
    assert "score-john-roe.json: is no score that can be read" in score().err


def test_a_reader_who_has_decided_on_items_is_told_to_be_no_blind_one(
    pack: Path, leadline: Leadline, tmp_path: Path
) -> None:
    whole = load_benchmark("licences")
    drawn = items_of(read_pack(pack), whole)
    inside = next(iter(drawn.values()))
    outside = next(item for item in whole.items if item not in drawn.values())
    for item in (inside, outside):
        decide(
            whole, tmp_path / "review" / "adjudications.jsonl", item.id, "rejected", reason="it says so",
            reader="john ROE",
        )  # fmt: skip
    fill(pack)
    ended = leadline(
        "review", "score", pack, "licences", "--reader", "John Roe", "--into", tmp_path / "review"
    )
    assert "John Roe is not known to be blind: 2 items of this benchmark, 1 of the pack's rows" in ended.out
    clean = leadline("review", "score", pack, "licences", "--reader", "Ann", "--into", tmp_path / "review")
    assert "not known to be blind" not in clean.out and "read against the labels as annotated" in clean.out


def test_a_pack_tells_that_somebody_has_decided_on_what_it_draws(tmp_path: Path, leadline: Leadline) -> None:
    bench = make_bench(tmp_path / "bench", 8)
    item = bench.items[0]
    decide(bench, tmp_path / "bench" / "adjudications.jsonl", item.id, "rejected", reason="so", reader="Ann")
    ended = leadline("review", "pack", tmp_path / "bench", tmp_path / "p")
    assert "on 1 of the items drawn somebody has decided" in ended.out
    for path in (tmp_path / "p" / "PROTOCOL.md", tmp_path / "p" / "index.html"):
        assert "all 8 items" not in path.read_text("utf-8")


def test_the_author_reading_again_is_intra_annotator_agreement_in_those_words(
    pack: Path, leadline: Leadline
) -> None:
    fill(pack, wrong=1, reader="jane  DOE")
    ended = leadline("review", "score", pack, "licences", "--reader", "jane  DOE")
    assert ended.out.startswith("intra-annotator agreement: licences 1.0")
    assert "agreement by the names given and must be reported in those words: Jane Doe labelled" in ended.out
    assert "This is inter" not in ended.out
    assert (pack / "score-jane-doe.json").is_file()


def test_what_is_not_whole_is_refused_in_one_line_and_nothing_is_written(
    pack: Path, leadline: Leadline, tmp_path: Path
) -> None:
    def score(*more: str | Path, benchmark: str = "licences") -> Ended:
        return leadline("review", "score", pack, benchmark, "--reader", "John Roe", *more)

    assert "0 of 93 rows are answered" in refused(score())
    assert "the pack was drawn from licences 1.0" in refused(score(benchmark="facts"))
    fill(pack, reader="John Roe")
    lines = (pack / "sheets" / "john-roe.csv").read_text("utf-8").splitlines(keepends=True)
    partly = tmp_path / "partly.csv"
    partly.write_text("".join(lines[:40]), "utf-8")
    assert "54 of 93 rows are missing" in refused(score("--sheet", partly))
    assert "no locale" in refused(score("--locale", "xx-YY"))
    assert "a pack is blind" in refused(score("--out", pack / "out"))
    assert "the pack names" in refused(score("--author", "Somebody Else"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pack", "partly.csv"]
    assert not list(pack.glob("score-*"))
    assert score().code == 0  # sheets/READER.csv is found by itself


def test_the_score_as_json_is_the_file(pack: Path, leadline: Leadline) -> None:
    fill(pack)
    told = leadline("review", "score", pack, "licences", "--reader", "John Roe", "--json").out
    assert json.loads(told) == json.loads((pack / "score-john-roe.json").read_text("utf-8"))
    overall = json.loads(told)["groups"][0]["all_rows"]
    assert (overall["agree"]["value"], overall["kappa"]["value"], overall["kappa"]["low"]) == (1, 1, None)
