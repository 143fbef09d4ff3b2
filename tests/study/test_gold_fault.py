"""Why a gold answer would judge nothing."""

from __future__ import annotations

import pytest

from leadline.bench import Item
from leadline.bench.answer_form import Part
from leadline.study.judging import gold_fault, reading_of

FIELDS = (Part(name="days", answer_type="number", unit="day"), Part(name="bound", answer_type="boolean"))


def item(answer: str) -> Item:
    return Item(id="q", question="How long, and bound?", answer=answer, answer_type="parts", fields=FIELDS)


@pytest.mark.parametrize("answer", ['{"days": 30, "bound": "green"}', '{"days": "soon", "bound": "yes"}'])
def test_a_gold_answer_of_which_a_part_cannot_be_read_is_no_gold_answer(answer: str) -> None:
    assert not reading_of(item(answer), answer).correct, "not even the same words would be right"
    assert gold_fault(item(answer)).partition(":")[0] in ("days", "bound")


@pytest.mark.parametrize("answer", ['{"days": 30, "bound": "yes"}', '{"bound": "no"}'])
def test_a_part_may_be_left_out_of_a_gold_answer(answer: str) -> None:
    assert reading_of(item(answer), answer).correct
    assert gold_fault(item(answer)) == ""
