"""The unit that stands after a number, and numbers in the unit that an item declares.

Compatible units are converted exactly (pint, with fractions). A number in another currency, or in a unit that
cannot be converted, is an answer all the same, and a wrong one: it is kept with its unit ("5 EUR"), so that
no vote counts it together with a bare 5, and nothing is lost from the denominators.

What may be declared: "percent" ("20%" is 20), "fraction" or "1" ("20%" is 0.2), a currency ("USD", "$"), any
of these with a magnitude ("USD million"), money by something ("USD/share"), or a unit of measurement that
pint knows ("day", "km/h"). Other units ("employees") are names: numbers are taken as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from leadline.answers import currencies
from leadline.answers.conversion import convert, factor, is_known, plain, shifted
from leadline.answers.magnitudes import WORDS as MAGNITUDES
from leadline.answers.numbers import PrintedNumber
from leadline.answers.printed import Exact, value_text
from leadline.answers.unit_words import CALENDAR, UNITS, unit_after

_PERCENT = frozenset(
    {"percent", "%", "pct", "per cent", "percentage", "percentage points", "percentage point"}
)
_FRACTION = frozenset(
    {"fraction", "1", "ratio", "proportion", "share", "decimal", "dimensionless", "probability"}
)
_CENTS = re.compile(r"[ \u00a0-]?(?:¢|cents?\b|pence\b|p\b|¢)")
_POINTS = re.compile(r"[ \u00a0-]?(?:basis points?|bps?|bp)\b", re.IGNORECASE)
_EACH = re.compile(r"\s?(?:/|\b(?:per|an?|each)\b)\s?([^\W\d_]+)")
_JOINS = re.compile(r",? (?:and )?|, ?|(?<=[a-z])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as an answer: its value, or, in a unit that does not fit, its value and that unit as text.

    `printed` is None where the number is no candidate for equality with others by the rules for numbers.
    `bears` says that the text gives it in the declared unit, or in one that converts to it.
    """

    value: str
    printed: Exact | None
    start: int
    end: int
    number: PrintedNumber
    notes: tuple[str, ...] = ()
    bears: bool = False


def quantities(text: str, numbers: Sequence[PrintedNumber], declared: str | None) -> list[Quantity]:
    """The `numbers` of `text` in the declared unit; "2 hours 30 minutes" is one quantity.

    >>> from leadline.answers.numbers import find_numbers
    >>> [found.value for found in quantities("12 weeks", list(find_numbers("12 weeks")), "day")]
    ['84']
    """
    form = _form(declared)
    found = [_quantity(text, number, form) for number in numbers]
    if form.kind != "measure":
        return found
    joined: list[Quantity] = []
    for one in found:
        last = joined[-1] if joined else None
        if last is not None and _continues(text, last, one):
            total = Fraction(last.printed or 0) + Fraction(one.printed or 0)
            joined[-1] = replace(
                last, value=value_text(total), printed=plain(total), end=one.end,
                notes=tuple(dict.fromkeys((*last.notes, *one.notes))),
            )  # fmt: skip
        else:
            joined.append(one)
    return joined


def _continues(text: str, last: Quantity, one: Quantity) -> bool:
    """ "30 minutes" after "2 hours": joined, both with units, the second smaller than one of the first."""
    first, second = unit_after(text, last.number.end), unit_after(text, one.number.end)
    if first is None or second is None or last.printed is None or one.printed is None:
        return False
    if first.unit == second.unit or not _JOINS.fullmatch(text[last.end : one.start]):
        return False
    size = factor(second.unit, first.unit)
    return size is not None and size < 1 and Fraction(one.number.value) * size <= 1


def _quantity(text: str, number: PrintedNumber, form: _Form) -> Quantity:
    kind = form.kind
    value, end, notes = number.value, number.end, list(number.notes)
    if form.power:
        value = _in_magnitude(number, form.power, notes)
    if kind == "any":
        if number.percent:
            notes.append("percent")
        if number.currency:
            notes.append(f"in {number.currency}")
        following = unit_after(text, number.end)
        return _kept(value, number, following.end if following else end, notes)
    if points := _POINTS.match(text, number.end):
        if kind in ("percent", "fraction"):
            notes.append("basis points")
            return _kept(
                shifted(value, -2 if kind == "percent" else -4), number, points.end(), notes, bears=True
            )
        return _foreign(value, "basis points", number, points.end(), notes)
    if kind in ("percent", "fraction"):
        if number.currency:
            return _foreign(value, number.currency, number, end, notes)
        if number.percent and kind == "fraction":
            value = shifted(value, -2)
            notes.append("percent, as a fraction")
        return _kept(value, number, end, notes, bears=number.percent)
    if number.percent:
        return _foreign(value, "percent", number, end, notes)
    if kind == "currency":
        return _money(text, number, value, form, notes)
    return _measured(text, number, value, form, notes)


def _money(text: str, number: PrintedNumber, value: Exact, form: _Form, notes: list[str]) -> Quantity:
    if not number.currency and (cents := _CENTS.match(text, number.end)):
        return _kept(shifted(value, -2), number, cents.end(), [*notes, "cents"], bears=True)
    following = unit_after(text, number.end)
    is_pounds = following is not None and following.unit == "pound" and not number.currency
    found = "GBP" if is_pounds else number.currency
    if not currencies.fits(found, form.unit):
        return _foreign(value, found, number, number.end, notes)
    if following is not None and not is_pounds and not number.currency:
        return _foreign(value, following.unit, number, following.end, notes)
    end = following.end if following and is_pounds else number.end
    if form.per and (each := _EACH.match(text, end)) and each[1].lower().rstrip("s") != form.per:
        return _foreign(value, f"{found or form.unit} per {each[1].lower()}", number, each.end(), notes)
    return _kept(value, number, end, notes, bears=bool(found))


def _measured(text: str, number: PrintedNumber, value: Exact, form: _Form, notes: list[str]) -> Quantity:
    if number.currency:
        return _foreign(value, number.currency, number, number.end, notes)
    following = unit_after(text, number.end)
    if following is None and is_known(form.unit):
        apart = unit_after(text, number.end, letters=True)
        if apart is not None and convert(value, apart.unit, form.unit) is not None:
            following = apart
    if following is None:
        return _kept(value, number, number.end, notes)
    found, end = following.unit, following.end
    if following.each and "/" in form.unit:
        found = f"{found}/{following.each}"
    elif following.each:
        notes.append(f"per {following.each}")
    if found == form.unit:
        return _kept(value, number, end, notes, bears=True)
    if not is_known(form.unit):
        # A name that pint does not know ("employees") says nothing of measures: the number stands.
        return _kept(value, number, end, notes)
    if _is_inexact(found, form.unit):
        if found in _MONTHS and (months := convert(value, found, "month")) is not None:
            value, found = months, "month"
        said = [*notes, f"a {following.unit} is not exactly so many {form.unit}s"]
        return _foreign(value, found, number, end, said)
    converted = convert(value, found, form.unit)
    whole, _, each = form.unit.partition("/")
    if converted is None and each in CALENDAR and "/" not in found:
        converted = convert(value, found, whole)  # "5 mg", asked for in mg/day
    if converted is None:
        return _foreign(value, found, number, end, notes)
    return _kept(converted, number, end, [*notes, f"converted from {found}"], bears=True)


# A year is twelve months, and a week seven days; but no month or year is so many days, but on average.
_MONTHS = frozenset({"month", "quarter", "year", "decade", "century"})


def _is_inexact(unit: str, to: str) -> bool:
    """The two are lengths of time that are not the same for every month or year."""
    days = {"day", "week", "fortnight", "hour", "minute", "second", "millisecond"}
    return (unit in _MONTHS and to in days) or (unit in days and to in _MONTHS)


def _in_magnitude(number: PrintedNumber, power: int, notes: list[str]) -> Exact:
    """The number in the magnitude that is declared: "5 million" is 5 million, and so is "5,000,000"."""
    if number.magnitude:
        return _without(number.value, power)
    if power >= 6 and not number.percent and abs(number.value) >= 10**power:
        notes.append("written out in full")
        return _without(number.value, power)
    return number.value


@dataclass(frozen=True, slots=True)
class _Form:
    """A declared unit: "any", "percent", "fraction", "currency" or "measure", its name and magnitude.

    `per` is what an amount of money is counted by: "share" of "USD/share".
    """

    kind: str
    unit: str = ""
    power: int = 0
    per: str = ""


@lru_cache(maxsize=256)
def _form(declared: str | None) -> _Form:
    bare = (declared or "").strip()
    power = 0
    for word in re.findall(r"[^\W\d_]+", bare):
        if word.lower() in MAGNITUDES and len(word) > 3:
            power += MAGNITUDES[word.lower()]
            bare = re.sub(rf"\b{word}\b", "", bare)
    bare = re.sub(r"\b(?:of|in)\b", "", bare).strip(" ()") if power else bare
    lowered = bare.lower()
    if not bare:
        return _Form("any", "", power)
    if lowered in _PERCENT:
        return _Form("percent", "", power)
    if lowered in _FRACTION:
        return _Form("fraction", "", power)
    money, _, per = re.sub(r"\s*(?:/|\bper\b)\s*", "/", bare, count=1).partition("/")
    if currency := currencies.currency_of_unit(money):
        return _Form("currency", currency, power, per.strip().lower().rstrip("s"))
    after = unit_after(f"1 {bare}", 1, letters=True)
    if after is not None and after.end == len(bare) + 2:
        return _Form("measure", f"{after.unit}/{after.each}" if after.each else after.unit, power)
    return _Form("measure", UNITS.get(bare) or UNITS.get(lowered) or bare, power)


def _without(value: Exact, power: int) -> Exact:
    """A value printed with a magnitude, in units of it: "5 thousand" in thousands is 5, not 5.000."""
    if isinstance(value, Decimal) and value == int(value) and int(value) % 10**power == 0:
        exponent = value.as_tuple().exponent
        if exponent == 0:
            return Decimal(int(value) // 10**power)
    return shifted(value, -power)


def _kept(
    value: Exact, number: PrintedNumber, end: int, notes: Sequence[str], *, bears: bool = False
) -> Quantity:
    return Quantity(value_text(value), value, number.start, end, number, tuple(notes), bears)


def _foreign(value: Exact, unit: str, number: PrintedNumber, end: int, notes: Sequence[str]) -> Quantity:
    said = (*notes, f"in {unit}, not in the declared unit")
    return Quantity(f"{value_text(value)} {unit}", None, number.start, end, number, said)
