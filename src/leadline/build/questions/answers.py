"""The valid answers of a fact: the object's names, or a date or number in a form that can be read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from leadline.bench.folding import normalise, tokens
from leadline.bench.item import MAX_CHARACTERS
from leadline.bench.validate import HIDDEN
from leadline.build.records import Fact
from leadline.build.wikidata.dates import read_date
from leadline.build.wikidata.quantities import read_amount, unit_of, units

# A name of one or two letters stands inside other words: "IN" (India) in "in", "US" in "Russia".
_SHORTEST = 3


@dataclass(frozen=True)
class Answer:
    """`text` is the gold answer, `aliases` are the other valid ones; `unit` is "" where there is none."""

    text: str
    type: str
    aliases: tuple[str, ...] = ()
    unit: str = ""


def answer_of(fact: Fact, language: str = "en", more: Iterable[str] = ()) -> Answer | None:
    """The valid answers; None where the object has no form that a response can be compared with.

    Of names, each counts once however it is spelt; those without letters (flags), and aliases of one or two
    letters, are left out. Dates are ISO, as far as they are known: 1951-10-08, 1951-10, 1951; decades,
    centuries and years BC are none. Numbers are in plain digits, without their unit. `language` is that of
    the names of months, `more` are further names of an entity.
    """
    names = [cleaned(name) for name in (fact.object_names or (fact.object,))]
    if fact.kind == "date":
        text = _date(names, fact.precision, language)
        return Answer(text, "date") if text else None
    if fact.kind == "quantity":
        return _number(names[0], fact.unit)
    first, *others = *names, *map(cleaned, more)
    if not normalise(first) or len(first) > MAX_CHARACTERS["answer"]:
        return None
    return Answer(first, "text", _distinct(first, others))


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


def _distinct(first: str, others: Iterable[str]) -> tuple[str, ...]:
    seen = {normalise(first)}
    kept = []
    for name in others:
        folded = normalise(name)
        if len(folded) < _SHORTEST or folded in seen or len(name) > MAX_CHARACTERS["aliases"]:
            continue
        seen.add(folded)
        kept.append(name)
    return tuple(kept)


def _date(names: Iterable[str], precision: str | None, language: str) -> str | None:
    found = next((date for name in names if (date := read_date(name, language)) is not None), None)
    if found is None or found.year < 1:
        return None
    # Wikidata's precision may be coarser than what is written: 1 January may stand for a year.
    if precision in ("day", "month", "year"):
        found = found.to(precision)  # type: ignore[arg-type]
    elif precision is not None:
        return None
    parts = {"year": 1, "month": 2, "day": 3}.get(found.precision)
    written = (f"{found.year:04d}", f"{found.month:02d}", f"{found.day:02d}")
    return "-".join(written[:parts]) if parts else None


def _number(text: str, unit: str | None) -> Answer | None:
    found = read_amount(text)
    if found is None:
        return None
    if unit is None and found.unit:
        unit = unit_of(found.unit)
        if unit is None:
            return None
    name = ""
    if unit not in (None, "1"):
        known = units().get(unit or "")
        if known is None:
            return None
        name = known.symbol or known.one
    plain = f"{found.number:f}"
    return Answer(plain.rstrip("0").rstrip(".") if "." in plain else plain, "number", unit=name)


def _unseen(sign: str) -> bool:
    return (unicodedata.category(sign) == "Cc" and not sign.isspace()) or ord(sign) in HIDDEN
