"""The sets of numbers of which every two are the same, without comparing every two.

`exact` and `declared` part numbers into groups. Under `rounding` a set of pairwise-same numbers is known by
its finest member, for units are powers of ten: what a number may be rounded to is at each unit the nearest
multiple of it, or, where the number lies halfway, one of two, which happens at one unit at most; and these
nearest multiples are roundings of one another. So there are at most two maximal sets for each number, of one
member for each unit, and all are found in one pass with a table of the multiples that were said.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from leadline.answers.cliques import heaviest_first
from leadline.answers.numbers import PrintedNumber
from leadline.answers.printed import Exact
from leadline.answers.sameness import Rule, is_decimal_fraction, rounded

_Grids = dict[int, dict[int, list[int]]]  # of each exponent: who printed which multiple of that unit


def partition(
    values: Sequence[PrintedNumber | Exact], rule: Rule, precision: Decimal | None = None
) -> list[int]:
    """The class of each value: 0 is the largest set of pairwise-same values, 1 the largest of the rest, ...

    Of two sets of one size, the one that has the value seen first. There is one class exactly when all pairs
    are the same. Takes time in proportion to the values, times the units that they are printed in.

    >>> partition([Decimal("0.909"), Decimal("0.91"), Decimal("0.9130"), Decimal("0.9091")], "rounding")
    [0, 0, 1, 0]
    """
    exact = [value.value if isinstance(value, PrintedNumber) else value for value in values]
    # Values that no rule tells apart: the same number, with the same digits.
    alike = _grouped((Fraction(value), _exponent(value)) for value in exact)
    sets = same_sets([exact[places[0]] for places in alike], rule, precision)
    labels = [0] * len(exact)
    for label, members in enumerate(heaviest_first(sets, [len(places) for places in alike])):
        for place in (place for member in members for place in alike[member]):
            labels[place] = label
    return labels


def same_sets(numbers: Sequence[Exact], rule: Rule, precision: Decimal | None = None) -> list[list[int]]:
    """All maximal sets of pairwise-same numbers, as places in `numbers` (and perhaps some that others hold).

    >>> same_sets([Decimal("0.91"), Decimal("0.909"), Decimal("0.913")], "rounding")
    [[0], [0, 1], [0, 2]]
    """
    match rule:
        case "exact":
            return _grouped(_double(number) for number in numbers)
        case "declared" if precision is not None:
            return _grouped(rounded(number, precision) for number in numbers)
        case "declared":
            return _grouped(Fraction(number) for number in numbers)
        case _:
            return list(_by_rounding(numbers))


def _grouped(keys: Iterator[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        groups[key].append(place)
    return list(groups.values())


def _double(number: Exact) -> float | Fraction:
    """The double nearest to a number; beyond what a double holds, the number: all would be one."""
    try:
        double = float(number)
    except OverflowError:
        double = math.inf
    return Fraction(number) if math.isinf(double) else double


def _by_rounding(numbers: Sequence[Exact]) -> Iterator[list[int]]:
    exponents = [_exponent(number) for number in numbers]
    equal = _grouped(Fraction(number) for number in numbers)
    grids: _Grids = defaultdict(lambda: defaultdict(list))
    for place, number in enumerate(numbers):
        if isinstance(number, Decimal) and is_decimal_fraction(number):
            sign, digits, exponent = number.as_tuple()
            assert isinstance(exponent, int)
            grids[exponent][_whole(sign, digits)].append(place)
    for group in equal:
        # The coarsest first: with each of them what is printed in its own unit or a coarser one.
        group.sort(key=lambda place: -exponents[place])
        for at, place in enumerate(group):
            if at + 1 < len(group) and exponents[group[at + 1]] == exponents[place]:
                continue
            yield from _with_coarser(numbers[place], exponents[place], group[: at + 1], grids)


def _with_coarser(number: Exact, exponent: float, finest: list[int], grids: _Grids) -> Iterator[list[int]]:
    """`finest` (equal numbers) with all that this number is rounded to; twice where it lies halfway."""
    certain, halfway = set(finest), []
    for coarser, multiples in grids.items():
        if coarser > exponent:
            nearest = [multiples.get(multiple, []) for multiple in _nearest(number, coarser)]
            if len(nearest) == 2 and all(nearest):
                halfway = nearest
            else:
                certain.update(place for places in nearest for place in places)
    for side in halfway or [[]]:
        yield sorted(certain.union(side))


def _nearest(number: Exact, exponent: int) -> tuple[int, ...]:
    """How many units of ten to `exponent` the number is, in whole ones; two numbers where it lies halfway."""
    if isinstance(number, Decimal):
        sign, digits, own = number.as_tuple()
        assert isinstance(own, int)
        if exponent - own > len(digits):
            return ()  # less than half a unit: nought, to which nothing is rounded
        numerator, unit = _whole(sign, digits), 10 ** (exponent - own)
    else:
        units = number / Fraction(10) ** exponent
        numerator, unit = units.numerator, units.denominator
    whole, rest = divmod(numerator, unit)
    if 2 * rest == unit:
        return whole, whole + 1
    return (whole + (2 * rest > unit),)


def _whole(sign: int, digits: tuple[int, ...]) -> int:
    return int(Decimal((sign, digits, 0)))


def _exponent(number: Exact) -> float:
    """The power of ten of the last digit; 0 of integers, and of what was printed as a fraction, none."""
    if isinstance(number, Fraction):
        return 0 if number.denominator == 1 else -math.inf
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent
