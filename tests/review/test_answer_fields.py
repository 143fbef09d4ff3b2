"""The fields in which an answer is given, the same on every page that asks for one."""

from __future__ import annotations

import json

import pytest

from leadline.bench.answer_form import Part, Term
from leadline.bench.views import LabellerView
from leadline.report.page_frame import environment
from leadline.review.answer_fields import (
    MOST_BUTTONS,
    answer_fields,
    answer_in,
    how_on_page,
    said_both,
    text_of,
    unanswered,
)

TERM = LabellerView(
    "What applies?",
    answer_type="parts",
    fields=(Part(name="note", answer_type="number", unit="day"), Part(name="bound?", answer_type="boolean")),
)


def drawn(view: LabellerView, **fields: object) -> str:
    """The fields as HTML."""
    template = environment("leadline.review").from_string(
        '{% from "answer.html.j2" import answer_inputs %}{{ answer_inputs(each, fields) }}'
    )
    return template.render(each=answer_fields(view), fields=fields)


def test_a_part_has_a_field_of_its_own_whatever_it_is_called() -> None:
    fields = answer_fields(TERM)
    assert [(one.name, one.title, one.unit) for one in fields] == [
        ("part-0", "note", "day"),
        ("part-1", "bound?", ""),
    ]
    assert fields[1].choices == ("yes", "no")
    said = {"part-0": " 30 ", "part-1": "yes", "note": "of the reader"}
    assert json.loads(answer_in(TERM, said)) == {"note": "30", "bound?": "yes"}
    assert unanswered(TERM, {"part-0": "  ", "part-1": "yes"}) == ["note"]
    assert answer_in(TERM, {"note": "of the reader"}) == ""


def test_twelve_choices_are_buttons_and_of_more_one_is_written() -> None:
    for number in (1, MOST_BUTTONS, MOST_BUTTONS + 1):
        view = LabellerView(
            "Which?", answer_type="enum", vocabulary=tuple(Term(value=f"v{at}") for at in range(number))
        )
        html = drawn(view, answer="v0")
        assert html.count('type="radio"') == (number if number <= MOST_BUTTONS else 0)
        assert html.count("<textarea") == (number > MOST_BUTTONS)
        assert f"v{number - 1}" in html, "what may be answered is told either way"


def test_what_buttons_say_is_not_said_above_them_and_each_part_says_how_it_is_given() -> None:
    def which(number: int) -> LabellerView:
        terms = tuple(Term(value=f"v{at}") for at in range(number))
        return LabellerView("Which?", answer_type="enum", vocabulary=terms)

    assert how_on_page(which(MOST_BUTTONS)) == "Choose an answer"
    assert how_on_page(which(MOST_BUTTONS + 1)).startswith("Answer with one of: v0 | v1")
    assert how_on_page(TERM) == "Answer each part", "and not how a sheet of paper has it, NAME: VALUE"
    html = drawn(TERM)
    assert 'id="part-0-how">A number of days.<' in html and html.count("-how") == 2


def test_what_was_said_stands_in_the_fields_and_is_never_markup() -> None:
    assert "&lt;b&gt;" in drawn(LabellerView("What?"), answer="<b>") and "<b>" not in drawn(
        LabellerView("What?"), answer="<b>"
    )
    assert 'value="yes" data-field="part-1"' in drawn(TERM, **{"part-1": "yes"})


def test_an_answer_and_that_there_is_none_are_not_both_taken() -> None:
    view = LabellerView("What?")
    assert "An answer stands here too" in said_both(view, {"answer": "sand", "unsettled": True})
    assert said_both(view, {"answer": " ", "unsettled": True}) == ""
    assert said_both(view, {"answer": "sand", "unsettled": False}) == ""
    assert "An answer stands here too" in said_both(TERM, {"part-0": "3", "unsettled": True})


@pytest.mark.parametrize(("value", "kept"), [("a\ud800b", "a?b"), (None, ""), (["a"], ""), (" a ", "a")])
def test_half_a_character_and_what_is_no_text_can_be_written_to_a_file(value: object, kept: str) -> None:
    assert text_of({"answer": value}, "answer") == kept
