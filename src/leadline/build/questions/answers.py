"""The valid answers of a fact: the object's names, or a date or number in a form that can be read."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from leadline.bench.folding import normalise, tokens
from leadline.bench.item import MAX_CHARACTERS
from leadline.bench.validate import HIDDEN
from leadline.build.link.literals import read_date, read_quantity
from leadline.build.questions.units import unit_of
from leadline.build.records import Fact

# A name of one or two letters stands inside other words: "IN" (India) in "in", "US" in "Russia".
_SHORTEST = 3
_PRECISIONS = ("year", "month", "day")


@dataclass(frozen=True)
class Answer:
    """`text` is the gold answer, `aliases` are the other valid ones; `unit` is "" where there is none."""

    text: str
    type: str
    aliases: tuple[str, ...] = ()
    unit: str = ""


def answer_of(fact: Fact, never: Collection[str] = ()) -> Answer | None:
    """The valid answers; None where the object has no form that a response can be compared with.

    `never` are words that stand for the object without naming it (demonyms: "French" for France). Of names,
    each counts once however it is spelt; those without letters (flags), and aliases of one or two letters,
    are left out. Dates are ISO, as far as they are known: 1951-10-08, 1951-10, 1951; decades, centuries and
    years BC are none. Numbers are in plain digits.
    """
    if fact.kind == "date":
        text = _date(fact.object, fact.precision)
        return Answer(text, "date") if text else None
    if fact.kind == "quantity":
        quantity = read_quantity(fact.object)
        unit = unit_of(fact.unit, quantity.unit) if quantity else None
        return Answer(quantity.number, "number", unit=unit) if quantity and unit is not None else None
    first, *others = [cleaned(name) for name in (fact.object_names or (fact.object,))]
    if not normalise(first) or len(first) > MAX_CHARACTERS["answer"]:
        return None
    return Answer(first, "text", _distinct(first, others, {normalise(word) for word in never}))


def cleaned(text: str) -> str:
    """`text` on one line, without control characters and signs that turn the direction of writing."""
    seen = (" " if sign.isspace() else sign for sign in text if not _unseen(sign))
    return " ".join("".join(seen).split())


def stands_in(answer: str, text: str) -> bool:
    """Whether `answer` stands in `text` as whole words, whatever the case and accents.

    >>> stands_in("Mexico", "México City"), stands_in("Rome", "Jerome")
    (True, False)
    """
    wanted = [token.text for token in tokens(answer)]
    words = [token.text for token in tokens(text)]
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def _distinct(first: str, others: Iterable[str], never: Collection[str]) -> tuple[str, ...]:
    seen = {normalise(first)}
    kept = []
    for name in others:
        folded = normalise(name)
        if (
            len(folded) < _SHORTEST
            or folded in seen
            or folded in never
            or len(name) > MAX_CHARACTERS["aliases"]
        ):
            continue
        seen.add(folded)
        kept.append(name)
    return tuple(kept)


def _date(text: str, precision: str | None) -> str | None:
    found = read_date(text)
    if found is None or found.text.startswith("-") or found.precision not in _PRECISIONS:
        return None
    if precision is not None and precision not in _PRECISIONS:
        return None
    # Wikidata's precision may be coarser than what is written: 1 January may stand for a year.
    known = min(found.precision, precision or found.precision, key=_PRECISIONS.index)
    return found.text[: {"year": 4, "month": 7, "day": 10}[known]]


def _unseen(sign: str) -> bool:
    return (unicodedata.category(sign) == "Cc" and not sign.isspace()) or ord(sign) in HIDDEN
