"""A score of a blind pack is counted again from its sheet: what was made up in it is named."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bundle.verifier.pack_scores import score_fault
from leadline.bundle.verifier.pack_sentences import sentence_of
from leadline.review.filled_sheet import read_sheet
from leadline.review.pack import draw_pack, items_of
from leadline.review.pack_files import HEAD, write_pack
from leadline.review.score import score_pack
from leadline.review.score_sentence import EarlierScore, Stood, score_sentence
from leadline.review.sheet import Answer, write_sheet


@dataclass(frozen=True)
class Checked:
    """A pack's head, its items in the order of its rows, a score and the sheet that it is of."""

    head: dict[str, Any]
    items: list[dict[str, Any]]
    score: dict[str, Any]
    sheet: Path

    def fault(self, tally: Counter[str] | None = None) -> str:
        counted = Counter() if tally is None else tally
        return score_fault(self.head, self.items, self.score, self.sheet, counted)

    def with_score(self, change: Callable[[dict[str, Any]], object]) -> Checked:
        score = copy.deepcopy(self.score)
        change(score)
        return replace(self, score=score)


def filled(folder: Path, name: str, per_stratum: int, seed: int, reader: str) -> Checked:
    """A pack that Ann Lee labelled, read again: most answers are the label, some another one, some "?"."""
    benchmark = load_benchmark(name)
    drawn = draw_pack(benchmark, per_stratum=per_stratum, seed=seed, author="Ann Lee")
    pack, drawn_at = write_pack(drawn, folder / "pack"), random.Random(seed)
    of = items_of(pack, benchmark)
    answers = {}
    for row in pack.rows:
        item = of[row.token]
        others = [
            one.answer
            for one in benchmark.items
            if (one.answer_type, one.category) == (item.answer_type, item.category)
        ]
        choice = drawn_at.choices(["label", "other", "unsettled"], [0.7, 0.2, 0.1])[0]
        text = {"label": item.answer, "other": drawn_at.choice(others), "unsettled": "?"}[choice]
        answers[row.token] = Answer(text)
    sheet = folder / "sheet.csv"
    write_sheet(pack, answers, sheet)
    scored = score_pack(pack, benchmark, read_sheet(pack, sheet), reader, count_unreadable=True)
    return Checked(
        head=json.loads((folder / "pack" / HEAD).read_text("utf-8")),
        items=[of[row.token].model_dump(mode="json") for row in pack.rows],
        score=json.loads(scored.score.model_dump_json(by_alias=True)),
        sheet=sheet,
    )


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    return filled(tmp_path_factory.mktemp("scored"), "licences", 1000, 3, "Bo Li")


@pytest.mark.parametrize(("name", "per_stratum"), [("licences", 8), ("facts", 3)])
def test_an_honest_score_stands(tmp_path: Path, name: str, per_stratum: int) -> None:
    made = filled(tmp_path, name, per_stratum, 1, "ann  LEE")
    tally: Counter[str] = Counter()
    assert made.fault(tally) == "" and tally["shares"] > 0
    assert made.score["relation"] == "intra-annotator"


def test_what_was_recomputed_is_counted(checked: Checked) -> None:
    tally: Counter[str] = Counter()
    assert checked.fault(tally) == ""
    assert all(tally[what] for what in ("shares", "shares within bounds", "coefficients"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda score: score.update(pack="0" * 64), "is of another pack"),
        (lambda score: score.update(author="Bo Li"), "names 'Bo Li' as author, the pack 'Ann Lee'"),
        (lambda score: score.update(reader="Ann Lee"), "calls intra-annotator agreement 'inter-annotator"),
        (lambda score: score.update(agreement="intra-annotator agreement"), "calls inter-annotator"),
        (lambda score: score.update(sentence="All agreed."), "its sentence does not say that it is inter"),
        (lambda score: score.update(rows=1), "its rows are not those of the pack"),
        (lambda score: score["groups"].pop(), "its groups are not the strata of the pack"),
        (lambda score: score["weighted"].update(value=0.99), "the weighted share"),
        (lambda score: score["weighted"].update(low=0.9), "the weighted share"),
        (lambda score: score["groups"][0].update(items=9), "items are not those of the pack"),
        (lambda score: score["groups"][0].update(settled=None), "what is settled is told"),
    ],
)
def test_what_was_made_up_is_named(
    checked: Checked, change: Callable[[dict[str, Any]], object], named: str
) -> None:
    assert named in checked.with_score(change).fault()


def test_a_sentence_says_all_that_its_score_says_and_no_less(checked: Checked) -> None:
    first = {
        "file": "score-bo-li.json",
        "created": "2026-03-01T00:00:00Z",
        "sheet": "0" * 64,
        "agree": {"value": 0.5, "numerator": 65, "denominator": 130, "low": 0.4, "high": 0.6},
        "kappa": {"value": None, "low": None, "high": None},
    }
    for change in ({"earlier": first}, {"stood": {"items": 3, "rows": 1}}):
        told = checked.with_score(lambda score, change=change: score.update(change))  # type: ignore[misc]
        assert "or how blind it is" in told.fault()
        told.score["sentence"] = sentence_of(told.score)
        assert told.fault() == ""
    assert "65/130" in sentence_of({**checked.score, "earlier": first})


def test_the_sentence_is_made_alike_by_program_and_verifier(checked: Checked) -> None:
    stood, first = (
        Stood(items=3, rows=1),
        EarlierScore.model_validate(
            {
                "file": "score-b-li.json",
                "created": "2026-03-01T00:00:00Z",
                "sheet": checked.score["sheet"],
                "agree": checked.score["groups"][0]["all_rows"]["agree"],
                "kappa": checked.score["groups"][0]["all_rows"]["kappa"],
            }
        ),
    )
    for reader, author in (("B. Li", "Bo Li"), ("Bo Li", "Bo Li"), ("Bo Li", ""), ("Ann", "Bo Li")):
        for earlier in (None, first, first.model_copy(update={"sheet": "0" * 64})):
            said = score_sentence(reader, author, checked.score["sheet"], earlier, stood)
            told = {
                **checked.score,
                "reader": reader,
                "author": author,
                "earlier": earlier and earlier.model_dump(mode="json"),
                "stood": stood.model_dump(mode="json"),
            }
            assert sentence_of(told) == said


def test_rows_that_agree_are_those_of_the_sheet(checked: Checked) -> None:
    """In one stratum and in all that it is a part of, so that everything adds up."""

    def all_agree(score: dict[str, Any]) -> None:
        for group in score["groups"]:
            group["all_rows"]["agree"].update(numerator=group["rows"], value=1.0)

    assert "rows agree, by the sheet" in checked.with_score(all_agree).fault()

    def none_unsettled(score: dict[str, Any]) -> None:
        score["unsettled"] = 0
        for group in score["groups"]:
            group.update(unsettled=0, settled=None)

    assert "rows are called unsettled, by the sheet" in checked.with_score(none_unsettled).fault()


def test_another_sheet_gives_another_score(checked: Checked, tmp_path: Path) -> None:
    text = checked.sheet.read_text("utf-8")
    other = tmp_path / "sheet.csv"
    other.write_text(text.replace(",?,", ",yes,"), "utf-8")
    assert other.read_text("utf-8") != text
    assert "unsettled, by the sheet 0" in replace(checked, sheet=other).fault()


def test_only_intervals_of_coefficients_and_alphas_of_numbers_are_taken_on_trust(checked: Checked) -> None:
    """Of groups whose rows a simple reader decides, each figure is changed, one after the other."""
    passed: set[str] = set()
    for at, group in enumerate(checked.score["groups"]):
        if group["answer_type"] not in ("boolean", "enum") or group["by"] != "answer type":
            continue
        for figure in ("agree", "kappa", "kappa_asymptotic", "alpha"):
            for part in ("value", "numerator", "denominator", "low", "high"):
                told = group["all_rows"][figure][part]
                if told is None:
                    continue

                def change(
                    score: dict[str, Any], at: int = at, figure: str = figure, part: str = part
                ) -> None:
                    score["groups"][at]["all_rows"][figure][part] += 0.01

                if not checked.with_score(change).fault():
                    passed.add(f"{figure}.{part}")
    assert passed == {
        f"{name}.{part}" for name in ("kappa", "kappa_asymptotic", "alpha") for part in ("low", "high")
    }
