"""A number that a text prints, and numbers as text: by their value, and with the digits they were printed in.

The *value* is what votes are counted over: "1250000", "2.4" for 2.4 and 2.40, "2/3" for what has no end as a
decimal fraction. The *printed form* keeps what the rules of sameness need: "2.40", "1.25E+6" for 1.25
million, "1250000", and a fraction ("3/2") for what was printed in words or as a fraction, hence exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

Exact = Decimal | Fraction


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number at [start, end) of a text, sign, currency, magnitude and percent sign included.

    `value` is exact; a Decimal's exponent tells the printed digits (Decimal("2.40"); "1.25 million" is
    Decimal("1.25E+6"); "5 million" is Decimal(5000000)). `step` is the unit of the last printed digit, with
    the magnitude ("10.0 million" → 100000); None for words and fractions. Of "20%" the value is 20, and
    `percent` is True. `currency` is a code where the text tells it, or a sign that several share ("$").
    `magnitude` is the power of ten of a word or suffix ("million": 6), which the value includes already. An
    `ambiguous` number could be read as `alternative` too (None: as several numbers, or with the other sign);
    `notes` say how it was decided.
    """

    value: Exact
    step: Decimal | None
    start: int
    end: int
    text: str
    percent: bool = False
    currency: str = ""
    ambiguous: bool = False
    alternative: Exact | None = None
    ordinal: bool = False
    magnitude: int = 0
    notes: tuple[str, ...] = ()


def value_text(value: Exact) -> str:
    """The value alone: equal numbers have equal texts.

    >>> value_text(Decimal("2.40")), value_text(Fraction(3, 2)), value_text(Fraction(2, 3))
    ('2.4', '1.5', '2/3')
    """
    number = Fraction(value)
    if number.denominator == 1:
        return str(number.numerator)
    twos, fives, rest = 0, 0, number.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    places = max(twos, fives)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def printed_text(value: Exact) -> str:
    """The value with its printed digits; `from_text` reads it back unchanged.

    >>> printed_text(Decimal("0.9090")), printed_text(Decimal("1.25E+6")), printed_text(Fraction(25))
    ('0.9090', '1.25E+6', '25')
    """
    if isinstance(value, Fraction):
        return str(value)
    exponent = value.as_tuple().exponent
    return format(value, "f") if isinstance(exponent, int) and exponent <= 0 else str(value)


def from_text(text: str) -> Exact:
    """The number that `value_text` or `printed_text` wrote. Raises ValueError for another text."""
    try:
        return Fraction(text) if "/" in text else Decimal(text)
    except (InvalidOperation, ZeroDivisionError) as error:
        raise ValueError(f"{text!r} is no printed number") from error
