"""Is the gold number a short calculation with numbers of the window? Which one, and could that be chance?

Between a few dozen numbers there are thousands of sums and ratios, and some of them hit any two-digit value.
So operands that the quote names are tried first; and a derivation from the window alone counts only if the
same search seldom reaches a value that nobody meant: it is repeated with golds that are made up.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import isclose, log10
from random import Random

from leadline.audit.calculations import (
    DOUBLE,
    Gold,
    Try,
    all_calculations,
    all_in_order,
    differences,
    pairs,
    pairs_with,
    runs,
    triples,
)
from leadline.audit.operands import Operand

# A derivation from the window alone is believed when at most this share of made-up golds has one as well.
MOST_CHANCE = 0.05
_MADE_UP = 400  # golds tried; drawn between a quarter and four times the real one
_SPREAD = 4.0
# With more numbers than this, pairs hit everything, and the search would say nothing.
_MOST_FOR_PAIRS, _MOST_FOR_TRIPLES, _MOST_NAMED = 60, 10, 7
_LONG = 4
# "1,362,500 thousand" without its word.
_MAGNITUDE = re.compile(r"(?<=\d)\s*[^\W\d_]+\.?\Z")


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
        tries = [*all_calculations(ours), *differences(our_years)]
        hit = _best(gold, tries, ours + our_years)
        # A result that is only nearly the gold value says little if it leaves out what the quote names.
        if hit and (hit.exact or len(hit.operands) >= len(ours) + len(our_years)):
            return hit
    searches: list[list[Try]] = []
    if ours and len(window) <= _MOST_FOR_PAIRS:
        searches.append(list(pairs_with(ours, window)))
    top = [operand for operand in window if not operand.inner]
    searches.append([one for some in {tuple(_once(top)), tuple(_once(window))} for one in all_in_order(some)])
    searches.append([*runs(_once(top)), *runs(_once(window))])
    if len(window) <= _MOST_FOR_PAIRS:
        searches.append(list(pairs(window)))
    if len(window) <= _MOST_FOR_TRIPLES:
        searches.append([one for chosen in permutations(window, 3) for one in triples(*chosen)])
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
    if 2 <= len(years) <= _MOST_NAMED and (hit := _best(gold, list(differences(years)), ())) is not None:
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


def _best(gold: Gold, tries: Iterable[Try], ours: Sequence[Operand]) -> Derivation | None:
    """The shortest hit; among equals the one with the most digits behind it."""
    best: tuple[tuple[bool, int, int, int], Try] | None = None
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


def _chance(gold: Gold, tries: Sequence[Try], hit: Derivation) -> float:
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
        reach = slack + DOUBLE * abs(made)
        hits += _any_within(wide, made, reach + gold.step / 2) or _any_within(narrow, made, reach)
    return hits / _MADE_UP


def _any_within(values: Sequence[float], at: float, reach: float) -> bool:
    return bisect_right(values, at + reach) > bisect_left(values, at - reach)


def _written(one: Try, gold: Gold) -> str:
    texts = [_bare_text(operand) if _is_bare(one) else operand.text for operand in one.operands]
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


def _is_bare(one: Try) -> bool:
    """Whether a ratio of two numbers leaves their magnitude words out, as under a head "(in thousands)"."""
    if one.form.removesuffix(" %") != "{0} / {1}":
        return False
    above, below = one.operands
    times = 100 if one.form.endswith("%") else 1
    return not isclose(times * above.value, one.value * below.value, rel_tol=1e-9)


def _bare_text(operand: Operand) -> str:
    return operand.text if operand.bare == operand.value else _MAGNITUDE.sub("", operand.text)


def printed_value(value: float, gold: Gold) -> str:
    """A result with two digits more than the gold value, so that its rounding can be seen, but no zeros."""
    places = min(12, max(0, -round(log10(gold.step)))) + 2
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
