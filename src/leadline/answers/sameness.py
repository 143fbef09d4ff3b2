"""When two numbers are the same answer: three rules, reported side by side.

- `exact`: they are the same double-precision number. The rule of published figures.
- `declared`: they round to the same multiple of the precision that the item declares (halves away from zero);
  without a declared precision, they are equal.
- `rounding`: one is a correct rounding of the other. They are equal, or differ by at most half a unit in the
  last digit of the coarser one, which must be printed as a decimal fraction with at least two significant
  digits. Integers are exact. So 0.909 is 0.9090909 and 0.9094, but not 0.9096; 0.5 is not 0.51; 123456 is not
  123457. What is printed with a magnitude ("1.25 million") is a decimal fraction in units of it.

Under `rounding` sameness is not transitive: 0.91 is 0.909 and 0.913, which differ. `same_sets` therefore
takes the largest set of values of which every two are the same, then the largest of the rest, and so on. Its
size is the modal count, and a cell is stable when the first set is all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeVar

from leadline.answers.cliques import largest_clique
from leadline.answers.numbers import PrintedNumber
from leadline.answers.printed import Exact

Rule = Literal["exact", "declared", "rounding"]
RULES: tuple[Rule, ...] = ("exact", "declared", "rounding")

_T = TypeVar("_T", bound=Hashable)


def default_rule(precision: Decimal | None) -> Rule:
    """The rule that judges correctness: `declared` where a precision is declared, else `rounding`."""
    return "rounding" if precision is None else "declared"


def same(
    first: PrintedNumber | Exact, second: PrintedNumber | Exact, rule: Rule, precision: Decimal | None = None
) -> bool:
    """The two numbers are one answer under `rule`. Symmetric; a Decimal's exponent is its printed digits.

    >>> [same(Decimal("0.909"), Decimal(other), "rounding") for other in ("0.9094", "0.9096")]
    [True, False]
    """
    one = first.value if isinstance(first, PrintedNumber) else first
    other = second.value if isinstance(second, PrintedNumber) else second
    if one == other:
        return True
    if rule == "exact":
        return _is_same_double(one, other)
    if rule == "declared":
        if precision is None:
            return Fraction(one) == Fraction(other)
        return rounded(one, precision) == rounded(other, precision)
    return _is_rounding(one, other)


def rounded(value: Exact, precision: Decimal) -> int:
    """How many steps of `precision` the value is, halves away from zero: exact."""
    steps = Fraction(value) / Fraction(precision)
    whole = (2 * abs(steps) + 1) // 2
    return int(whole) if steps >= 0 else -int(whole)


def classes_of(values: Sequence[_T], is_same: Callable[[_T, _T], bool]) -> list[int]:
    """As `same_sets.partition` for any symmetric sameness; equal values are the same.

    Compares every two, and searches: two dozen values, or hundreds that are mostly equal, take a moment.
    """
    places: dict[_T, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    distinct = list(places)
    count = len(distinct)
    joined = [0] * count
    for i in range(count):
        for j in range(i + 1, count):
            if is_same(distinct[i], distinct[j]):
                joined[i] |= 1 << j
                joined[j] |= 1 << i
    weights = [len(places[value]) for value in distinct]
    result = [0] * len(values)
    left, label = (1 << count) - 1, 0
    while left:
        members = largest_clique(joined, weights, left)
        for at in range(count):
            if members >> at & 1:
                for place in places[distinct[at]]:
                    result[place] = label
        left, label = left & ~members, label + 1
    return result


def _is_same_double(one: Exact, other: Exact) -> bool:
    try:
        first, second = float(one), float(other)
    except OverflowError:
        first = second = math.inf
    # beyond what a double holds, all numbers would be one
    return Fraction(one) == Fraction(other) if math.isinf(first) and math.isinf(second) else first == second


def _is_rounding(one: Exact, other: Exact) -> bool:
    first, second = _step(one), _step(other)
    coarser, step = (one, first) if first >= second else (other, second)
    if not isinstance(coarser, Decimal) or not is_decimal_fraction(coarser):
        return Fraction(one) == Fraction(other)
    return 2 * abs(Fraction(one) - Fraction(other)) <= step


def _step(value: Exact) -> Fraction:
    """The unit of the last digit; integers have 1, and what was printed as a fraction has none: 0."""
    if isinstance(value, Fraction):
        return Fraction(value.denominator == 1)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return Fraction(10) ** exponent


def is_decimal_fraction(value: Decimal) -> bool:
    """Printed with decimals (of a unit or of a magnitude) and with two significant digits or more."""
    _, digits, exponent = value.as_tuple()
    return exponent != 0 and len(digits) >= 2 and any(digits)
