"""The fields in which an answer is given, whichever page asks for it, and what was said in them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from leadline.bench.views import LabellerView, how_to_say
from leadline.review.drafts import Fields

ANSWER = "answer"
# The box beside the answer: the text cannot settle the question.
UNSETTLED = "unsettled"
# So many choices are buttons; of more, one is written.
MOST_BUTTONS = 12
_BOTH = "An answer stands here too: take it out, or do not say that the text cannot settle it."


@dataclass(frozen=True)
class AnswerField:
    """One field of a page: its name there and in words, what may stand in it (() for anything), and how it is
    filled in, in words."""

    name: str
    title: str
    choices: tuple[str, ...] = ()
    unit: str = ""
    how: str = ""

    @property
    def as_buttons(self) -> bool:
        """Whether one of the choices is pressed, and none written."""
        return 0 < len(self.choices) <= MOST_BUTTONS


def answer_fields(view: LabellerView, title: str = "Answer") -> tuple[AnswerField, ...]:
    """The field for an answer, called `title`; one for each part of an answer in parts.

    A part may be called as another field of the page is, so that its own field is numbered.

    >>> answer_fields(LabellerView("Is it?", answer_type="boolean"))[0].choices
    ('yes', 'no')
    """
    if view.answer_type != "parts":
        return (AnswerField(ANSWER, title, tuple(view.choices), view.unit or "", view.how),)
    return tuple(
        AnswerField(
            f"part-{at}",
            part.name,
            ("yes", "no") if part.answer_type == "boolean" else tuple(term.value for term in part.vocabulary),
            part.unit or "",
            how_to_say(part),
        )
        for at, part in enumerate(view.fields)
    )


def how_on_page(view: LabellerView) -> str:
    """How to answer, in words, where the fields are there: buttons say themselves what may be answered, and
    each part has a field of its own.

    >>> how_on_page(LabellerView("Is it?", answer_type="boolean"))
    'Choose an answer'
    """
    if view.answer_type == "parts":
        return "Answer each part"
    (only,) = answer_fields(view)
    return "Choose an answer" if only.as_buttons else f"Answer with {view.how}"


def answer_in(view: LabellerView, fields: Fields) -> str:
    """The answer that a page's fields hold, as an item holds one; "" where there is none.

    >>> answer_in(LabellerView("Is it?"), {"answer": " yes "})
    'yes'
    """
    if view.answer_type != "parts":
        return text_of(fields, ANSWER)
    said = {field.title: text_of(fields, field.name) for field in answer_fields(view)}
    said = {name: value for name, value in said.items() if value}
    return json.dumps(said, ensure_ascii=False) if said else ""


def unanswered(view: LabellerView, fields: Fields) -> list[str]:
    """The fields without an answer, in words."""
    return [field.title for field in answer_fields(view) if not text_of(fields, field.name)]


def is_unsettled(fields: Fields) -> bool:
    """Whether it is said that the text cannot settle the question."""
    return fields.get(UNSETTLED) is True


def said_both(view: LabellerView, fields: Fields) -> str:
    """That an answer was given and also that there is none, for whoever did so; "" otherwise."""
    return _BOTH if is_unsettled(fields) and answer_in(view, fields) else ""


def text_of(fields: Fields, name: str) -> str:
    """A field as text that can be written to a file: without blanks around it, and with ? for half a
    character."""
    value = fields.get(name)
    return value.strip().encode("utf-8", "replace").decode() if isinstance(value, str) else ""
