"""Is the gold number a short calculation with numbers of the window? Which one, and could that be chance?

Between a few dozen numbers there are thousands of sums and ratios, and some of them hit any two-digit value.
So operands that the quote names are tried first; and a derivation from the window alone counts only if the
same search seldom reaches a value that nobody meant: it is repeated with golds that are made up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from math import log10
from random import Random

from leadline.audit.operands import Operand

# A derivation from the window alone is believed when at most this share of made-up golds has one as well.
MOST_CHANCE = 0.05
_MADE_UP = 400  # golds tried; drawn between a quarter and four times the real one
_SPREAD = 4.0
# With more numbers than this, pairs hit everything, and the search would say nothing.
_MOST_FOR_PAIRS, _MOST_FOR_TRIPLES, _MOST_NAMED = 60, 10, 7
_LONGEST, _LONG = 6, 4
_DOUBLE = 1e-12


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold number. `step` is the declared precision, or the unit of its last printed digit."""

    value: float
    step: float
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Derivation:
    """A calculation that gives the gold value. `chance` is the share of made-up golds that have one as short.

    `exact` is False where only the rounding of the operands lets the result be the gold value.
    """

    text: str
    value: float
    operands: tuple[Operand, ...]
    named: int  # operands that the quote names
    exact: bool
    chance: float = 0.0
    slack: float = 0.0
    stated: bool = False  # the quote writes it out

    @property
    def believed(self) -> bool:
        """The quote writes it out or names all operands, or a hit by chance is unlikely."""
        return self.stated or self.named == len(self.operands) or self.chance <= MOST_CHANCE

    @property
    def certain(self) -> bool:
        """More than a hit, so that the label must answer to it: the quote writes it out, or it is long, and
        hardly any made-up gold has one."""
        return self.stated or (len(self.operands) >= _LONG and self.chance <= MOST_CHANCE)


@dataclass(frozen=True, slots=True)
class _Try:
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
        tolerance += _DOUBLE * abs(gold.value)
        off = abs(self.value - gold.value)
        # Some cut the last digits off instead of rounding them.
        is_cut = self.ratio and abs(gold.value) <= abs(self.value) < abs(gold.value) + gold.step
        return off <= tolerance, off <= tolerance + self.slack or is_cut


def derive(
    gold: Gold, window: Sequence[Operand], named: Sequence[Operand] = (), years: Sequence[Operand] = ()
) -> Derivation | None:
    """The best derivation of `gold`, or None. The first that is believed; else the likeliest of the others.

    `named` are the numbers of the quote: a window's number counts as named when the quote has it too.
    `years` are years of the window, which may only be subtracted from each other, and only when named.
    """
    window = [operand for operand in window if gold.value not in (operand.value, operand.bare)]
    ours = [operand for operand in window if _is_named(operand, named)]
    our_years = [operand for operand in years if _is_named(operand, named)]
    found: list[Derivation] = []
    if 2 <= len(ours) <= _MOST_NAMED or len(our_years) >= 2:
        tries = [*_all_tries(ours), *_differences(our_years)]
        hit = _best(gold, tries, ours + our_years)
        # A result that is only nearly the gold value says little if it leaves out what the quote names.
        if hit and (hit.exact or len(hit.operands) >= len(ours) + len(our_years)):
            return hit
    searches: list[list[_Try]] = []
    if ours and len(window) <= _MOST_FOR_PAIRS:
        searches.append(list(_pairs_with(ours, window)))
    top = [operand for operand in window if not operand.inner]
    searches.append(
        [one for some in {tuple(_once(top)), tuple(_once(window))} for one in _all_in_order(some)]
    )
    searches.append([*_runs(_once(top)), *_runs(_once(window))])
    if len(window) <= _MOST_FOR_PAIRS:
        searches.append(list(_pairs(window)))
    if len(window) <= _MOST_FOR_TRIPLES:
        searches.append([one for chosen in permutations(window, 3) for one in _three(*chosen)])
    for tries in searches:
        if tries and (hit := _best(gold, tries, ours)) is not None:
            # Another search is another chance to hit.
            chance = min(1.0, _chance(gold, tries, hit) * (len(found) + 1))
            if not hit.named and (_is_small(gold, hit) or _do_not_fit(hit)):
                chance = 1.0
            hit = replace(hit, chance=chance)
            if hit.believed:
                return hit
            found.append(hit)
    if 2 <= len(years) <= _MOST_NAMED and (hit := _best(gold, list(_differences(years)), ())) is not None:
        found.append(replace(hit, chance=1.0))
    return min(found, key=lambda hit: (not hit.exact, hit.chance), default=None)


def _is_small(gold: Gold, hit: Derivation) -> bool:
    """4 × 25 = 100: of a few small whole numbers every other one can be made."""
    digits = f"{abs(gold.value):.12g}".replace(".", "").strip("0")
    return len(digits) <= 2 and all(abs(one.bare) < 100 and one.bare == int(one.bare) for one in hit.operands)


def _do_not_fit(hit: Derivation) -> bool:
    """Doors are not multiplied by seats, nor added to them."""
    nouns = {operand.noun for operand in hit.operands}
    is_ratio = "/" in hit.text.partition(" = ")[0]
    counted = not any(operand.money or operand.percent for operand in hit.operands)
    return not is_ratio and counted and "" not in nouns and len(nouns) > 1


def _is_named(operand: Operand, named: Sequence[Operand]) -> bool:
    ours = {abs(operand.value), abs(operand.bare)}
    return any(abs(other.value) in ours or abs(other.bare) in ours for other in named)


def _once(operands: Sequence[Operand]) -> list[Operand]:
    """Each place once: an ambiguous number is there twice, and the reading in brackets is the likelier."""
    by_place: dict[int, Operand] = {}
    for operand in operands:
        by_place[operand.start] = operand
    return list(by_place.values())


def _all_tries(operands: Sequence[Operand]) -> Iterator[_Try]:
    yield from _pairs(operands)
    for chosen in permutations(operands, 3):
        yield from _three(*chosen)
    for size in range(3, min(_LONGEST, len(operands)) + 1):
        for some in combinations(operands, size):
            yield from _chain(some)


def _pairs(operands: Sequence[Operand]) -> Iterator[_Try]:
    for first, second in permutations(operands, 2):
        if first.start != second.start:
            yield from _two(first, second)


def _pairs_with(ours: Sequence[Operand], window: Sequence[Operand]) -> Iterator[_Try]:
    for one in ours:
        for other in window:
            if one.start != other.start:
                yield from _two(one, other)
                yield from _two(other, one)


def _all_in_order(operands: Sequence[Operand]) -> Iterator[_Try]:
    """Calculations that use every number once, in the order of the text."""
    if 3 <= len(operands) <= 2 * _LONGEST:
        yield from _chain(operands)


def _runs(operands: Sequence[Operand]) -> Iterator[_Try]:
    """Calculations that use some neighbours, in the order of the text."""
    for size in range(4, min(_LONGEST + 1, len(operands))):
        for start in range(len(operands) - size + 1):
            yield from _chain(operands[start : start + size])


def _differences(years: Sequence[Operand]) -> Iterator[_Try]:
    for first, second in permutations(years, 2):
        if first.value > second.value:
            yield _Try(first.value - second.value, 0.0, (first, second), "{0} − {1}", False)


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


def _two(first: Operand, second: Operand) -> Iterator[_Try]:
    pair = (first, second)
    for a, b in _scales(first, second):
        slack = first.half * abs(_factor(a, first)) + second.half * abs(_factor(b, second))
        if _alike(first, second):
            if first.start < second.start:
                yield _Try(a + b, slack, pair, "{0} + {1}", False)
            yield _Try(a - b, slack, pair, "{0} − {1}", False)
        if first.start < second.start and not (first.money and second.money):
            near = abs(a) * second.half * _factor(b, second) + abs(b) * first.half * _factor(a, first)
            if first.percent or second.percent:
                yield _Try(a * b / 100, near / 100, pair, "{0} × {1}", True)
            else:
                yield _Try(a * b, near, pair, "{0} × {1}", False)
        if b:
            near = _ratio_slack(a, b, first, second)
            yield _Try(a / b, near, pair, "{0} / {1}", True)
            yield _Try(100 * a / b, 100 * near, pair, "{0} / {1} %", True)
            if _alike(first, second):
                growth = 100 * (a - b) / b
                yield _Try(growth, 100 * near, pair, "({0} − {1}) / {1} %", True)


def _three(first: Operand, second: Operand, third: Operand) -> Iterator[_Try]:
    trio = (first, second, third)
    if len({operand.start for operand in trio}) < 3:
        return
    for a, b, c in _scales(*trio):
        slack = sum((one.half * _factor(v, one) for v, one in zip((a, b, c), trio, strict=True)), 0.0)
        ordered = second.start < third.start
        if _alike(*trio) and ordered:
            yield _Try(a - b - c, slack, trio, "{0} − {1} − {2}", False)
            if first.start < second.start:
                yield _Try(a + b + c, slack, trio, "{0} + {1} + {2}", False)
        if _alike(first, second):
            yield _Try(a + b - c, slack, trio, "{0} + {1} − {2}", False) if _alike(first, third) else _none()
            for top, form in ((a + b, "({0} + {1}) / {2}"), (a - b, "({0} − {1}) / {2}")):
                if c and (form[5] == "−" or first.start < second.start):
                    near = _ratio_slack(top, c, first, third)
                    yield _Try(top / c, near, trio, form, True)
                    yield _Try(100 * top / c, 100 * near, trio, f"{form} %", True)
        if _alike(second, third) and ordered and b + c:
            near = _ratio_slack(a, b + c, first, second)
            yield _Try(a / (b + c), near, trio, "{0} / ({1} + {2})", True)
            yield _Try(100 * a / (b + c), 100 * near, trio, "{0} / ({1} + {2}) %", True)
        if c and first.start < second.start:
            yield _Try(a * b / c, abs(a * b / c) * 0.001, trio, "{0} × {1} / {2}", True)


def _none() -> _Try:
    """A calculation that hits nothing."""
    return _Try(-1e30, 0.0, (), "", False)


def _chain(operands: Sequence[Operand]) -> Iterator[_Try]:
    """Sums of many numbers as they are signed, the first less the others, and both over the last."""
    chosen = tuple(operands)
    for values in _scales(*chosen):
        first, *rest = values
        slacks = [one.half * _factor(v, one) for v, one in zip(values, chosen, strict=True)]
        every = sum(slacks, 0.0)
        if _alike(*chosen):
            yield _Try(sum(values, 0.0), every, chosen, "sum", False)
            yield _Try(first - sum(map(abs, rest), 0.0), every, chosen, "less", False)
        if len(chosen) > 3 and _alike(*chosen[:-1]) and values[-1]:
            parts, by = rest[:-1], values[-1]
            near = (every - slacks[-1]) / abs(by)
            total = first + sum(parts, 0.0)
            less = first - sum(map(abs, parts), 0.0)
            yield _Try(total / by, near + abs(total / by) * slacks[-1] / abs(by), chosen, "sum/", True)
            if less != total:
                yield _Try(less / by, near + abs(less / by) * slacks[-1] / abs(by), chosen, "less/", True)


def _factor(value: float, operand: Operand) -> float:
    """What the operand's half unit is worth where its magnitude word is left out."""
    return 1.0 if value == operand.value or not operand.value else abs(value / operand.value)


def _ratio_slack(a: float, b: float, first: Operand, second: Operand) -> float:
    of_first = first.half / abs(first.value) if first.value else 0.0
    of_second = second.half / abs(second.value) if second.value else 0.0
    return abs(a / b) * (of_first + of_second)


def _best(gold: Gold, tries: Iterable[_Try], ours: Sequence[Operand]) -> Derivation | None:
    """The shortest hit; among equals the one with the most digits behind it."""
    best: tuple[tuple[bool, int, int, int], _Try] | None = None
    for one in tries:
        exact, near = one.hits(gold)
        if not near or len({operand.start for operand in one.operands}) < len(one.operands):
            continue
        digits = sum(operand.digits for operand in one.operands)
        rank = (not exact, len(one.operands), -digits, len(one.form))
        if best is None or rank < best[0]:
            best = rank, one
    if best is None:
        return None
    one = best[1]
    named = sum(operand in ours for operand in one.operands)
    return Derivation(_written(one, gold), one.value, one.operands, named, not best[0][0], slack=one.slack)


def _chance(gold: Gold, tries: Sequence[_Try], hit: Derivation) -> float:
    """The share of made-up golds, of about the same size and printed alike, that some try hits as well."""
    wide = sorted(one.value for one in tries if one.ratio or not gold.is_integer)
    narrow = sorted(one.value for one in tries if not one.ratio and gold.is_integer)
    random = Random(f"{gold.value} {len(tries)}")
    slack = 0.0 if hit.exact else max(hit.slack, gold.step / 2)
    hits = 0
    for _ in range(_MADE_UP):
        made = round(gold.value * _SPREAD ** random.uniform(-1, 1) / gold.step) * gold.step
        if abs(made - gold.value) < gold.step / 2:
            made += gold.step * random.choice((-1, 1))
        reach = slack + _DOUBLE * abs(made)
        hits += _any_within(wide, made, reach + gold.step / 2) or _any_within(narrow, made, reach)
    return hits / _MADE_UP


def _any_within(values: Sequence[float], at: float, reach: float) -> bool:
    return bisect_right(values, at + reach) > bisect_left(values, at - reach)


def _written(one: _Try, gold: Gold) -> str:
    texts = [operand.text for operand in one.operands]
    if one.form in ("sum", "less", "sum/", "less/"):
        divided = one.form.endswith("/")
        parts, by = (texts[:-1], texts[-1]) if divided else (texts, "")
        minus = one.form.startswith("less")
        signed = [parts[0]]
        for part in parts[1:]:
            signed.append(f"− {part.lstrip('−')}" if minus or part.startswith("−") else f"+ {part}")
        left = " ".join(signed)
        left = f"({left}) / {by}" if divided else left
    else:
        left = one.form.removesuffix(" %").format(*(f"({t})" if t.startswith("−") else t for t in texts))
    unit = " %" if one.form.endswith("%") else ""
    return f"{left} = {printed_value(one.value, gold)}{unit}"


def printed_value(value: float, gold: Gold) -> str:
    """A result with two digits more than the gold value, so that its rounding can be seen, but no zeros."""
    places = min(12, max(0, -round(log10(gold.step)))) + 2
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
