"""Three views of an item: what a model is shown, what a person who labels is shown, and the key.

Whoever asks is handed the view that is meant for them, so that what it lacks cannot slip through: no prompt
is made of a key, and no page for a reader. A view holds texts, never the item and never another view.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from leadline.bench.answer_form import AnswerType, DateOrder, Part, Term
from leadline.bench.item import Evidence, Item

# Units that are words, and not signs or names of signs: one says "a number of days", and "in percent".
_OF_TIME = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})


@dataclass(frozen=True)
class ModelView:
    """What a model is asked about an item. `id` keys the randomness and reaches no prompt; `prompt` is the
    item's own template, in place of the packaged one."""

    id: str
    question: str
    window: str | None = None
    prompt: str | None = None


@dataclass(frozen=True)
class LabellerView:
    """What a person is shown who answers an item without its key: the question, the text, and what tells how
    to answer. No id, category or task, for names tell; no prompt, which is written for models."""

    question: str
    window: str | None = None
    answer_type: AnswerType = "text"
    fields: tuple[Part, ...] = ()
    vocabulary: tuple[Term, ...] = ()
    unit: str | None = None
    precision: Decimal | None = None
    locale: str | None = None
    date_order: DateOrder | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that an answer may have, in their order; () where it is free."""
        if self.answer_type == "boolean":
            return ("yes", "no")
        return tuple(term.value for term in self.vocabulary) if self.answer_type == "enum" else ()

    @property
    def how(self) -> str:
        """How to answer, in words.

        >>> LabellerView("How much?", answer_type="number", unit="percent", precision=Decimal("0.1")).how
        'a number in percent, to a precision of 0.1'
        """
        if self.answer_type != "parts":
            return how_to_say(self)
        named = "; ".join(f"{part.name}: {how_to_say(part)}" for part in self.fields)
        return f"each part as NAME: VALUE ({named})" if named else "each part as NAME: VALUE"


@dataclass(frozen=True)
class Key:
    """What judges an answer, and what it rests on."""

    answer: str
    aliases: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def for_model(item: Item) -> ModelView:
    """What a model is asked.

    >>> for_model(Item(id="q", question="Which licence?", answer="the MIT licence"))
    ModelView(id='q', question='Which licence?', window=None, prompt=None)
    """
    return ModelView(item.id, item.question, item.window, item.prompt)


def for_labeller(item: Item) -> LabellerView:
    """What a person is shown before they answered.

    >>> for_labeller(Item(id="q", question="Is it free?", answer="yes", answer_type="boolean")).choices
    ('yes', 'no')
    """
    return LabellerView(
        question=item.question,
        window=item.window,
        answer_type=item.answer_type,
        fields=item.fields,
        vocabulary=item.vocabulary,
        unit=item.unit,
        precision=item.precision,
        locale=item.locale,
        date_order=item.date_order,
    )


def key_of(item: Item) -> Key:
    """What is shown to nobody who is asked.

    >>> key_of(Item(id="q", question="Is it free?", answer="yes", aliases=("it is",))).aliases
    ('it is',)
    """
    return Key(item.answer, item.aliases, item.evidence)


def how_to_say(form: Part | LabellerView) -> str:
    """How an answer, or one part of it, is given in words; of an answer in parts see `LabellerView.how`."""
    answer_type = form.answer_type
    if answer_type == "boolean":
        return "yes or no"
    if answer_type == "enum" and form.vocabulary:  # without one it is read as text
        return f"one of: {' | '.join(term.value for term in form.vocabulary)}"
    if answer_type == "date":
        order = f", written in the order {'-'.join(form.date_order)}" if form.date_order else ""
        return f"a date{order} (YYYY-MM-DD is always read)"
    if answer_type == "number":
        counted = f" {_counted_in(form.unit)}" if form.unit else ""
        exactly = f", to a precision of {form.precision:f}" if form.precision is not None else ""
        return f"a number{counted}{exactly}"
    return "a short text"


def _counted_in(unit: str) -> str:
    return f"of {unit}s" if unit in _OF_TIME else f"in {unit}"
