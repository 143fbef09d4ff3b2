"""The unit that stands after a number, and numbers in the unit that an item declares.

Compatible units are converted exactly (pint, with fractions). A number in another currency, or in a unit that
cannot be converted, is an answer all the same, and a wrong one: it is kept with its unit ("5 EUR"), so that
no vote counts it together with a bare 5, and nothing is lost from the denominators.

What may be declared: "percent" ("20%" is 20), "fraction" or "1" ("20%" is 0.2), a currency ("USD", "$"), any
of these with a magnitude ("USD million"), or a unit of measurement that pint knows ("day", "km/h"). Other
units ("employees") are names: numbers are taken as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from leadline.answers import currencies
from leadline.answers.magnitudes import WORDS as MAGNITUDES
from leadline.answers.numbers import PrintedNumber
from leadline.answers.printed import Exact, value_text
from leadline.answers.unit_words import UNITS, unit_after

if TYPE_CHECKING:
    from pint import UnitRegistry

_PERCENT = frozenset(
    {"percent", "%", "pct", "per cent", "percentage", "percentage points", "percentage point"}
)
_FRACTION = frozenset(
    {"fraction", "1", "ratio", "proportion", "share", "decimal", "dimensionless", "probability"}
)
_CENTS = re.compile(r"[ \u00a0-]?(?:¢|cents?\b|pence\b|p\b|¢)")
_POINTS = re.compile(r"[ \u00a0-]?(?:basis points?|bps?|bp)\b", re.IGNORECASE)
# What is given to pint: names, products, quotients, small powers. Its parser would compute 9**9**9.
_UNIT_TEXT = re.compile(
    r"[^\W\d][^\W\d]*(?: ?(?:\*\*|\^)-?\d)?(?: ?[*/ ] ?[^\W\d]+(?: ?(?:\*\*|\^)-?\d)?){0,4}"
)
_JOINS = re.compile(r",? (?:and )?|, ?|(?<=[a-z])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as an answer: its value, or, in a unit that does not fit, its value and that unit as text.

    `printed` is None where the number is no candidate for equality with others by the rules for numbers.
    """

    value: str
    printed: Exact | None
    start: int
    end: int
    number: PrintedNumber
    notes: tuple[str, ...] = ()


def quantities(text: str, numbers: Sequence[PrintedNumber], declared: str | None) -> list[Quantity]:
    """The `numbers` of `text` in the declared unit; "2 hours 30 minutes" is one quantity.

    >>> from leadline.answers.numbers import find_numbers
    >>> [found.value for found in quantities("12 weeks", list(find_numbers("12 weeks")), "day")]
    ['84']
    """
    found = [_quantity(text, number, declared) for number in numbers]
    if declared is None or _kind(declared)[0] != "measure":
        return found
    joined: list[Quantity] = []
    for one in found:
        last = joined[-1] if joined else None
        if last is not None and _continues(text, last, one):
            total = Fraction(last.printed or 0) + Fraction(one.printed or 0)
            joined[-1] = replace(
                last, value=value_text(total), printed=_plain(total), end=one.end,
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
    if first[0] == second[0] or not _JOINS.fullmatch(text[last.end : one.start]):
        return False
    size = factor(second[0], first[0])
    return size is not None and size < 1 and Fraction(one.number.value) * size <= 1


def _quantity(text: str, number: PrintedNumber, declared: str | None) -> Quantity:
    kind, unit, power = _kind(declared)
    value, end, notes = number.value, number.end, list(number.notes)
    if number.magnitude and power:
        value = _without(value, power)
    if kind == "any":
        if number.percent:
            notes.append("percent")
        if number.currency:
            notes.append(f"in {number.currency}")
        following = unit_after(text, number.end)
        return _kept(value, number, following[1] if following else end, notes)
    if points := _POINTS.match(text, number.end):
        if kind in ("percent", "fraction"):
            notes.append("basis points")
            return _kept(shifted(value, -2 if kind == "percent" else -4), number, points.end(), notes)
        return _foreign(value, "basis points", number, points.end(), notes)
    if kind in ("percent", "fraction"):
        if number.currency:
            return _foreign(value, number.currency, number, end, notes)
        if number.percent and kind == "fraction":
            value = shifted(value, -2)
            notes.append("percent, as a fraction")
        return _kept(value, number, end, notes)
    if number.percent:
        return _foreign(value, "percent", number, end, notes)
    if kind == "currency":
        return _money(text, number, value, unit, notes)
    return _measured(text, number, value, unit, notes)


def _money(text: str, number: PrintedNumber, value: Exact, unit: str, notes: list[str]) -> Quantity:
    if not number.currency and (cents := _CENTS.match(text, number.end)):
        return _kept(shifted(value, -2), number, cents.end(), [*notes, "cents"])
    following = unit_after(text, number.end)
    is_pounds = following is not None and following[0] == "pound" and not number.currency
    found = "GBP" if is_pounds else number.currency
    if not currencies.fits(found, unit):
        return _foreign(value, found, number, number.end, notes)
    if following is not None and not is_pounds and not number.currency:
        return _foreign(value, following[0], number, following[1], notes)
    return _kept(value, number, following[1] if following and is_pounds else number.end, notes)


def _measured(text: str, number: PrintedNumber, value: Exact, unit: str, notes: list[str]) -> Quantity:
    if number.currency:
        return _foreign(value, number.currency, number, number.end, notes)
    following = unit_after(text, number.end)
    if following is None:
        return _kept(value, number, number.end, notes)
    found, end = following
    if found == unit:
        return _kept(value, number, end, notes)
    converted = convert(value, found, unit)
    if converted is None:
        # A name that pint does not know ("employees") says nothing of measures: the number stands.
        return (
            _foreign(value, found, number, end, notes) if is_known(unit) else _kept(value, number, end, notes)
        )
    return _kept(converted, number, end, [*notes, f"converted from {found}"])


@lru_cache(maxsize=256)
def _kind(declared: str | None) -> tuple[str, str, int]:
    """A declared unit's kind ("any", "percent", "fraction", "currency", "measure"), name and magnitude."""
    bare = (declared or "").strip()
    power = 0
    for word in re.findall(r"[^\W\d_]+", bare):
        if word.lower() in MAGNITUDES and len(word) > 3:
            power += MAGNITUDES[word.lower()]
            bare = re.sub(rf"\b{word}\b", "", bare)
    bare = re.sub(r"\b(?:of|in)\b", "", bare).strip(" ()") if power else bare
    lowered = bare.lower()
    if not bare:
        return "any", "", power
    if lowered in _PERCENT:
        return "percent", "", power
    if lowered in _FRACTION:
        return "fraction", "", power
    if currency := currencies.currency_of_unit(bare):
        return "currency", currency, power
    return "measure", UNITS.get(bare) or UNITS.get(lowered) or bare, power


@lru_cache(maxsize=1)
def _registry() -> UnitRegistry[Any]:
    from pint import UnitRegistry

    return UnitRegistry(non_int_type=Fraction)


@lru_cache(maxsize=1024)
def is_known(unit: str) -> bool:
    """pint knows the unit."""
    import pint

    if not _UNIT_TEXT.fullmatch(unit):
        return False
    try:
        _registry().parse_units(unit)
    except (pint.PintError, ValueError, TypeError, AttributeError, SyntaxError, TokenError):
        return False
    return True


def convert(value: Exact, unit: str, to: str) -> Exact | None:
    """`value` of `unit` in the unit `to`, exactly; None where that cannot be."""
    import pint

    if not is_known(unit) or not is_known(to):
        return None
    try:
        converted = _registry().Quantity(Fraction(value), unit).to(to).magnitude
    except (pint.PintError, TypeError, ZeroDivisionError, OverflowError):
        return None
    return _rescaled(value, Fraction(converted))


def factor(unit: str, to: str) -> Fraction | None:
    """How many `to` one `unit` is; None where that cannot be said."""
    one = convert(Decimal(1), unit, to)
    return None if one is None else Fraction(one)


def _rescaled(value: Exact, converted: Fraction) -> Exact:
    """Printed digits survive a shift of the decimal point ("1.50 km" in metres is 1.50E+3), nothing else."""
    if isinstance(value, Decimal) and value:
        ratio = converted / Fraction(value)
        for power in range(-12, 13):
            if ratio == Fraction(10) ** power:
                return shifted(value, power)
    return _plain(converted)


def _plain(value: Fraction) -> Exact:
    return Decimal(value.numerator) if value.denominator == 1 and abs(value.numerator) < 10**300 else value


def shifted(value: Exact, power: int) -> Exact:
    """`value` times a power of ten, with its printed digits; an integer stays one."""
    if isinstance(value, Fraction):
        return value * Fraction(10) ** power
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    if exponent == 0 and power > 0:
        return Decimal((sign, (*digits, *(0,) * power), 0))
    return Decimal((sign, digits, exponent + power))


def _without(value: Exact, power: int) -> Exact:
    """A value printed with a magnitude, in units of it: "5 thousand" in thousands is 5, not 5.000."""
    if isinstance(value, Decimal) and value == int(value) and int(value) % 10**power == 0:
        exponent = value.as_tuple().exponent
        if exponent == 0:
            return Decimal(int(value) // 10**power)
    return shifted(value, -power)


def _kept(value: Exact, number: PrintedNumber, end: int, notes: Sequence[str]) -> Quantity:
    return Quantity(value_text(value), value, number.start, end, number, tuple(notes))


def _foreign(value: Exact, unit: str, number: PrintedNumber, end: int, notes: Sequence[str]) -> Quantity:
    said = (*notes, f"in {unit}, not in the declared unit")
    return Quantity(f"{value_text(value)} {unit}", None, number.start, end, number, said)
