"""Exact conversion of units of measurement: pint, with fractions.

A year is twelve months, and a week seven days; but no month and no year is a certain number of days.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from leadline.answers.printed import Exact

if TYPE_CHECKING:
    from pint import UnitRegistry

# What is given to pint: names, products, quotients, small powers. Its parser would compute 9**9**9.
_UNIT_TEXT = re.compile(
    r"[^\W\d][^\W\d]*(?: ?(?:\*\*|\^)-?\d)?(?: ?[*/ ] ?[^\W\d]+(?: ?(?:\*\*|\^)-?\d)?){0,4}"
)


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
    return plain(converted)


def plain(value: Fraction) -> Exact:
    """An integer as a Decimal, for the sake of its digits; other fractions as they are."""
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
