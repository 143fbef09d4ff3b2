"""What a reading lacks is said in words, at the field where it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.bench.item import Item
from leadline.bench.views import for_labeller
from leadline.review.adjudication_form import OUTCOMES, faults_of_reading, seen_by

PARTS = Item.model_validate(
    {
        "id": "p",
        "question": "Who, and for how long?",
        "answer": '{"who": "the licensee", "days": "30"}',
        "answer_type": "parts",
        "fields": [{"name": "who"}, {"name": "days", "answer_type": "number", "unit": "day"}],
    }
)
FREE = Item(id="f", question="Is it free?", answer="yes", answer_type="boolean")


@pytest.mark.parametrize(
    ("item", "fields", "place", "words"),
    [
        (FREE, {}, "answer", "Write what the text says"),
        (FREE, {"answer": "perhaps"}, "answer", "This is not read as yes or no"),
        (FREE, {"answer": "no", "unsettled": True}, "unsettled", "An answer stands here too"),
        (PARTS, {}, "", "Write what the text says"),
        (PARTS, {"part-0": "the licensee"}, "", "Not answered yet: days."),
        (PARTS, {"part-1": "30", "unsettled": True}, "unsettled", "An answer stands here too"),
    ],
)
def test_a_reading_that_is_none_is_told_where(
    item: Item, fields: dict[str, Any], place: str, words: str
) -> None:
    faults = faults_of_reading(for_labeller(item), fields)
    assert set(faults) == {place} and words in faults[place]


@pytest.mark.parametrize(
    ("item", "fields"),
    [
        (FREE, {"answer": " no "}),
        (FREE, {"answer": "", "unsettled": True}),
        (PARTS, {"part-0": "the licensee", "part-1": "thirty days"}),
    ],
)
def test_a_whole_reading_has_no_fault(item: Item, fields: dict[str, Any]) -> None:
    assert faults_of_reading(for_labeller(item), fields) == {}


def test_an_outcome_is_offered_in_words_that_serve_every_doubt() -> None:
    """That a quote stands nowhere says nothing of whether its label is wrong."""
    assert OUTCOMES["upheld"] == "Upheld: the label is wrong, or the text does not give it"
    assert not any("doubt" in words for words in OUTCOMES.values())


@pytest.mark.parametrize("seen", ["", "-1", "²", "9" * 20, None, [1], 3])
def test_what_a_page_cannot_have_shown_counts_as_nothing_said(seen: Any) -> None:
    assert seen_by({"seen": seen}) is None and seen_by({"seen": "2"}) == 2
