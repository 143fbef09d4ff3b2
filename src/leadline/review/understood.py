"""A reader's answer beside the label: whether they are one answer, by the rules that judge models' answers.

Answers come out of spreadsheets, which rewrite numbers and dates without a word. What can be told is read,
and said in a note; what cannot be told is refused by its form alone, so that a complaint says nothing about
the label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal

from leadline.bench.answer_form import DateOrder
from leadline.bench.item import Item
from leadline.review.sheet import UNSETTLED, Answer
from leadline.study.judging import reading_of

State = Literal["agrees", "differs", "unsettled", "unreadable"]
Correctness = Literal["words", "maple"]
# 1.25E+06, as spreadsheets shorten numbers: digits beyond those that are printed may be lost.
_SHORTENED = re.compile(r"[+-]?\d(?:[.,]\d+)?E[+-]\d{2,3}")
# 2-Jan, 02. Jan, Jan-20, Feb-89: what becomes of 1-2, 2020-01, 1/2, in spreadsheets of Western languages. Not
# with a blank alone between them: "5 mar" may be what was meant.
_MONTH = (
    r"(?:janv?|ene|gen|febr?|fev|fév|mar|mär|mrz|mars|mrt|apr|avr|abr|may|mai|mag|maj|mei|jun|juin|giu|jul|juil"
    r"|lug|aug|août|ago|sept?|set|oct|okt|ott|out|nov|dec|dez|déc|dic)\.?"
)
_MADE_DATE = re.compile(rf"\d{{1,2}}(?:-|\. ){_MONTH}|{_MONTH}[- ]\d{{2}}", re.IGNORECASE)
# Days since 1899-12-31, which a date is to a spreadsheet when its cell is formatted as a number.
_SERIAL = re.compile(r"\d{5}(?:[.,]0+)?")
_IN_DIGITS = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")
_ASKED = ("?", "？", "¿")
_ENGLISH, _GERMAN = "en-US", "de-DE"


@dataclass(frozen=True)
class Dialect:
    """How the sheet's numbers and dates are written, where its reader or a spreadsheet wrote them otherwise
    than the items declare."""

    locale: str | None = None
    date_order: DateOrder | None = None


@dataclass(frozen=True)
class Understood:
    """One row, read. `label` and `said` are the values that kappa counts: of an answer that agrees, under
    whatever name, both are the label's. `places` are the two on their scale (numbers, or days), where the
    type has one and both have a place. `published` is whether the published rule takes the two for one
    answer. `fault` says why an unreadable answer is none, `note` what was undone or remarked."""

    state: State
    label: str
    said: str
    places: tuple[float, float] | None = None
    published: bool = False
    fault: str = ""
    notes: tuple[str, ...] = field(default=())


def understood(
    item: Item, answer: Answer, *, correctness: Correctness = "words", dialect: Dialect | None = None
) -> Understood:
    """What a reader's answer to `item` says of its label.

    >>> item = Item(id="1", question="In which country?", answer="United States", aliases=("USA",))
    >>> read = understood(item, Answer("USA"))
    >>> read.state, read.label == read.said
    ('agrees', True)
    """
    key = reading_of(item, item.answer)
    label = key.value or item.answer
    text = answer.answer.strip()
    if text.strip("".join(_ASKED)) == "":
        return Understood("unsettled", label, UNSETTLED)
    asked, notes, fault = _as_written(item, text, dialect or Dialect())
    if fault:
        return Understood("unreadable", label, f"({text})", fault=fault)
    found = reading_of(asked, text, words=correctness == "words")
    if found.state.value == "refused":
        return Understood("unsettled", label, UNSETTLED, notes=("says that it cannot be settled",))
    if found.value is None:
        fault = found.reason or "says nothing"
        return Understood("unreadable", label, f"({text})", fault=f"{fault}{_hint(item, text)}")
    published = reading_of(asked, text).correct
    if found.correct:
        place = _place(item, key.value, key.number)
        return Understood("agrees", label, label, _both(place, place), published, notes=notes)
    places = _both(_place(item, key.value, key.number), _place(item, found.value, found.number))
    # The label's own value, but hedged, denied or one of several: not the same answer.
    said = found.value if found.value != label else f"{found.value} (qualified)"
    return Understood("differs", label, said, places, published, notes=notes)


def _as_written(item: Item, text: str, dialect: Dialect) -> tuple[Item, tuple[str, ...], str]:
    """The item as the answer is to be read under, what was remarked, and why it cannot be told, if so."""
    declared = {
        name: value
        for name, value in (("locale", dialect.locale), ("date_order", dialect.date_order))
        if value is not None
    }
    asked = item.model_copy(update=declared) if declared else item
    match item.answer_type:
        case "number":
            notes, fault = _number(asked, text, dialect)
        case "date":
            notes, fault = _date(asked, text)
        case _:
            notes, fault = (), ""
    return asked, notes, fault


def _number(item: Item, text: str, dialect: Dialect) -> tuple[tuple[str, ...], str]:
    if _MADE_DATE.fullmatch(text):
        return (), f"a spreadsheet made a date of it{_AS_TEXT}"
    if _SHORTENED.fullmatch(text):
        if item.precision is not None:
            return (), f"a spreadsheet shortened it, and digits may be lost{_AS_TEXT}"
        return (f"{text} is a shortened number: compared in the digits that it prints",), ""
    if dialect.locale is None and "," in text:
        values = {
            value
            for locale in (item.locale or _ENGLISH, _ENGLISH, _GERMAN)
            if (value := reading_of(item.model_copy(update={"locale": locale}), text).value) is not None
        }
        if len(values) > 1:
            both = " or ".join(sorted(values))
            return (), f"is {both}, as the comma is read: write it with a point, or say --locale"
    return (), ""


def _date(item: Item, text: str) -> tuple[tuple[str, ...], str]:
    if _SERIAL.fullmatch(text):
        return (), f"a spreadsheet made a number of it{_AS_TEXT}"
    if item.date_order is not None and _IN_DIGITS.fullmatch(text):
        orders: tuple[DateOrder, ...] = ("dmy", "mdy")
        values = {reading_of(item.model_copy(update={"date_order": order}), text).value for order in orders}
        if len(values - {None}) > 1:
            value = reading_of(item, text).value
            return (f"{text} is read as {value}, in the order {item.date_order}",), ""
    return (), ""


_AS_TEXT = ": write it again in a column that is formatted as Text"


def _hint(item: Item, text: str) -> str:
    if item.answer_type == "date" and _MADE_DATE.fullmatch(text):
        return f"; a spreadsheet may have made this of it{_AS_TEXT}"
    if item.answer_type == "date" and _IN_DIGITS.fullmatch(text):
        return ": write YYYY-MM-DD, or say --date-order"
    return ""


def _place(item: Item, value: str | None, number: str | None) -> float | None:
    """Where a value lies on the scale of its type: a number, or a day since year 1; of a month or a year its
    middle."""
    if item.answer_type == "number" and number is not None:
        try:
            return float(Fraction(number))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
    if item.answer_type == "date" and value:
        try:
            first, last = date.fromisoformat(_padded(value, "01", "01")), _last(value)
        except ValueError:
            return None
        return (first.toordinal() + last.toordinal()) / 2
    return None


def _padded(value: str, month: str, day: str) -> str:
    return "-".join((value.split("-") + [month, day][len(value.split("-")) - 1 :])[:3])


def _last(value: str) -> date:
    year, *rest = map(int, value.split("-"))
    if len(rest) == 2:
        return date(year, rest[0], rest[1])
    month = rest[0] if rest else 12
    following = date(year + month // 12, month % 12 + 1, 1) if year < 9999 else date(9999, 12, 31)
    return date.fromordinal(following.toordinal() - 1)


def _both(first: float | None, second: float | None) -> tuple[float, float] | None:
    return None if first is None or second is None else (first, second)
