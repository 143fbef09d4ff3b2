"""Short calculations with numbers of a text: sums, differences, products, ratios, percentages and growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

from leadline.audit.operands import Operand

_LONGEST = 6  # numbers of a sum
DOUBLE = 1e-12  # what sums of decimals cost in doubles, relative to their value


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold number. `step` is the declared precision, or the unit of its last printed digit."""

    value: float
    step: float
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Try:
    """One calculation: its result, how far the operands' rounding lets it vary, and how it is written."""

    value: float
    slack: float
    operands: tuple[Operand, ...]
    form: str
    ratio: bool

    def hits(self, gold: Gold) -> tuple[bool, bool]:
        """Whether it is the gold value when rounded like it, and whether it may be."""
        # An integer is a count unless a division made it; a division is rounded to what was asked for.
        tolerance = 0.0 if gold.is_integer and not self.ratio else gold.step / 2
        # Sums of decimals are exact but for what doubles cost.
        tolerance += DOUBLE * abs(gold.value)
        off = abs(self.value - gold.value)
        # Some cut the last digits off instead of rounding them.
        is_cut = self.ratio and abs(gold.value) <= abs(self.value) < abs(gold.value) + gold.step
        return off <= tolerance, off <= tolerance + self.slack or is_cut


def all_calculations(operands: Sequence[Operand]) -> Iterator[Try]:
    """All calculations with these numbers that are looked for."""
    yield from pairs(operands)
    for chosen in permutations(operands, 3):
        yield from triples(*chosen)
    for size in range(3, min(_LONGEST, len(operands)) + 1):
        for some in combinations(operands, size):
            yield from _chain(some)


def pairs(operands: Sequence[Operand]) -> Iterator[Try]:
    """Calculations with two of the numbers."""
    for first, second in permutations(operands, 2):
        if first.start != second.start:
            yield from _two(first, second)


def pairs_with(ours: Sequence[Operand], window: Sequence[Operand]) -> Iterator[Try]:
    """Calculations with one of `ours` and one of `window`."""
    for one in ours:
        for other in window:
            if one.start != other.start:
                yield from _two(one, other)
                yield from _two(other, one)


def all_in_order(operands: Sequence[Operand]) -> Iterator[Try]:
    """Calculations that use every number once, in the order of the text."""
    if 3 <= len(operands) <= 2 * _LONGEST:
        yield from _chain(operands)


def runs(operands: Sequence[Operand]) -> Iterator[Try]:
    """Calculations that use some neighbours, in the order of the text."""
    for size in range(4, min(_LONGEST + 1, len(operands))):
        for start in range(len(operands) - size + 1):
            yield from _chain(operands[start : start + size])


def differences(years: Sequence[Operand]) -> Iterator[Try]:
    """Years from each other."""
    for first, second in permutations(years, 2):
        if first.value > second.value:
            yield Try(first.value - second.value, 0.0, (first, second), "{0} − {1}", False)


def _scales(*operands: Operand) -> Iterator[tuple[float, ...]]:
    """The values, and the values without magnitude words: tables say "(in thousands)" above the numbers."""
    values = tuple(operand.value for operand in operands)
    yield values
    bare = tuple(operand.bare for operand in operands)
    if bare != values:
        yield bare


def _alike(*operands: Operand) -> bool:
    """Whether they may be added: money to money, shares to shares.

    Columns of a table carry the currency sign in their first row only: numbers with decimals may go together.
    """
    return all(
        one.percent == two.percent and (one.money == two.money or 0 < one.half == two.half < 0.5)
        for one, two in pairwise(operands)
    )


def _two(first: Operand, second: Operand) -> Iterator[Try]:
    pair = (first, second)
    for a, b in _scales(first, second):
        slack = first.half * abs(_factor(a, first)) + second.half * abs(_factor(b, second))
        if _alike(first, second):
            if first.start < second.start:
                yield Try(a + b, slack, pair, "{0} + {1}", False)
            yield Try(a - b, slack, pair, "{0} − {1}", False)
        if first.start < second.start and not (first.money and second.money):
            near = abs(a) * second.half * _factor(b, second) + abs(b) * first.half * _factor(a, first)
            if first.percent or second.percent:
                yield Try(a * b / 100, near / 100, pair, "{0} × {1}", True)
            else:
                yield Try(a * b, near, pair, "{0} × {1}", False)
        if b:
            near = _ratio_slack(a, b, first, second)
            yield Try(a / b, near, pair, "{0} / {1}", True)
            yield Try(100 * a / b, 100 * near, pair, "{0} / {1} %", True)
            if _alike(first, second):
                growth = 100 * (a - b) / b
                yield Try(growth, 100 * near, pair, "({0} − {1}) / {1} %", True)


def triples(first: Operand, second: Operand, third: Operand) -> Iterator[Try]:
    """Calculations with these three numbers, in these places."""
    trio = (first, second, third)
    if len({operand.start for operand in trio}) < 3:
        return
    for a, b, c in _scales(*trio):
        slack = sum((one.half * _factor(v, one) for v, one in zip((a, b, c), trio, strict=True)), 0.0)
        ordered = second.start < third.start
        if _alike(*trio) and ordered:
            yield Try(a - b - c, slack, trio, "{0} − {1} − {2}", False)
            if first.start < second.start:
                yield Try(a + b + c, slack, trio, "{0} + {1} + {2}", False)
        if _alike(first, second):
            yield Try(a + b - c, slack, trio, "{0} + {1} − {2}", False) if _alike(first, third) else _none()
            for top, form in ((a + b, "({0} + {1}) / {2}"), (a - b, "({0} − {1}) / {2}")):
                if c and (form[5] == "−" or first.start < second.start):
                    near = _ratio_slack(top, c, first, third)
                    yield Try(top / c, near, trio, form, True)
                    yield Try(100 * top / c, 100 * near, trio, f"{form} %", True)
        if _alike(second, third) and ordered and b + c:
            near = _ratio_slack(a, b + c, first, second)
            yield Try(a / (b + c), near, trio, "{0} / ({1} + {2})", True)
            yield Try(100 * a / (b + c), 100 * near, trio, "{0} / ({1} + {2}) %", True)
        if c and first.start < second.start:
            yield Try(a * b / c, abs(a * b / c) * 0.001, trio, "{0} × {1} / {2}", True)


def _none() -> Try:
    """A calculation that hits nothing."""
    return Try(-1e30, 0.0, (), "", False)


def _chain(operands: Sequence[Operand]) -> Iterator[Try]:
    """Sums of many numbers as they are signed, the first less the others, and both over the last."""
    chosen = tuple(operands)
    for values in _scales(*chosen):
        first, *rest = values
        slacks = [one.half * _factor(v, one) for v, one in zip(values, chosen, strict=True)]
        every = sum(slacks, 0.0)
        if _alike(*chosen):
            yield Try(sum(values, 0.0), every, chosen, "sum", False)
            yield Try(first - sum(map(abs, rest), 0.0), every, chosen, "less", False)
        if len(chosen) > 3 and _alike(*chosen[:-1]) and values[-1]:
            parts, by = rest[:-1], values[-1]
            near = (every - slacks[-1]) / abs(by)
            total = first + sum(parts, 0.0)
            less = first - sum(map(abs, parts), 0.0)
            yield Try(total / by, near + abs(total / by) * slacks[-1] / abs(by), chosen, "sum/", True)
            if less != total:
                yield Try(less / by, near + abs(less / by) * slacks[-1] / abs(by), chosen, "less/", True)


def _factor(value: float, operand: Operand) -> float:
    """What the operand's half unit is worth where its magnitude word is left out."""
    return 1.0 if value == operand.value or not operand.value else abs(value / operand.value)


def _ratio_slack(a: float, b: float, first: Operand, second: Operand) -> float:
    of_first = first.half / abs(first.value) if first.value else 0.0
    of_second = second.half / abs(second.value) if second.value else 0.0
    return abs(a / b) * (of_first + of_second)
