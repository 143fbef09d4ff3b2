"""What two groups of items are compared by: each item's part in a figure pooled over configurations.

A pooled figure is Σ numerators / Σ denominators over the items of a group, and an item's numbers add up its
cells. Wobble and accuracy count cells, so Wilson and Newcombe intervals exist for them; the other two are
means over cells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import bootstrapped, count
from leadline.lenses.finding import Figure
from leadline.lenses.panel import Panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.whole import Whole
from leadline.stats.intervals import Interval, newcombe, wilson
from leadline.stats.two_groups import Counts, GroupIntervals, bootstrap_groups, relabelled_p

Mask = npt.NDArray[np.bool_]

WOBBLE, ROUNDING, RAREFIED = "wobble", "wobble, rounding", "wobble, rarefied"
DISPERSION, ACCURACY = "dispersion", "accuracy"
COUNTED = (WOBBLE, ROUNDING, ACCURACY)

# Of fewer items nothing can be resampled.
ITEMS = 2


class Measures:
    """Per-item sums of a study over sets of its members, everyone included; each is computed once."""

    def __init__(self, whole: Whole) -> None:
        self.whole = whole
        self._made: dict[tuple[str, tuple[int, ...]], Counts] = {}

    @property
    def panel(self) -> Panel:
        """Everyone, under the study's own rule."""
        return self.whole.panel_by(self.whole.protocol.stability.sameness, everyone=True)

    @property
    def steadiness(self) -> tuple[str, ...]:
        """The ways to tell steadiness; `rounding` only where there are numbers under another rule."""
        numbers = np.isin(self.panel.answer_types, ("number", "parts")).any()
        rounding = numbers and self.whole.protocol.stability.sameness != "rounding"
        return (WOBBLE, ROUNDING, RAREFIED) if rounding else (WOBBLE, RAREFIED)

    def per_item(self, measure: str, members: Sequence[int]) -> Counts:
        """Numerators and denominators [items of everyone's panel], summed over `members`."""
        key = (measure, tuple(members))
        if key not in self._made:
            self._made[key] = self._sums(measure, list(members))
        return self._made[key]

    def _sums(self, measure: str, members: list[int]) -> Counts:
        panel = self.whole.panel_by("rounding", everyone=True) if measure == ROUNDING else self.panel
        measured = panel.measured[members]
        cells: npt.NDArray[np.float64]
        if measure == RAREFIED:
            cells = panel.rarefied(self.whole.protocol.stability.rarefy)[members]
            measured = ~np.isnan(cells)
        elif measure == DISPERSION:
            cells = panel.dispersion[members]
        else:
            cells = (panel.correct if measure == ACCURACY else panel.unstable)[members].astype(np.float64)
        # In order of size, so that sums of fractions do not depend on the order of configurations.
        ordered = np.sort(np.where(measured, cells, 0), axis=0)
        return Counts(ordered.sum(axis=0), measured.sum(axis=0).astype(np.float64))


@dataclass(frozen=True)
class Comparison:
    """One figure of two groups: the sums of their measured items, and which items these are."""

    measure: str
    of: Counts
    against: Counts
    items: bytes
    with_p: bool = False


def comparison(
    measure: str, counts: Counts, of: Mask, against: Mask, with_p: bool = False
) -> Comparison | None:
    """Two groups as masks over everyone's items, without what was not measured; None where one is empty."""
    there = counts.denominators > 0
    first, second = of & there, against & there
    if not first.any() or not second.any():
        return None
    one, other = (Counts(counts.numerators[its], counts.denominators[its]) for its in (first, second))
    return Comparison(measure, one, other, np.packbits([first, second]).tobytes(), with_p)


def compare(comparisons: Sequence[Comparison], protocol: Protocol) -> list[dict[str, Figure]]:
    """The figures of each comparison; what needs more items than there are has no value, and says why.

    Comparisons of the same items share their resamples.
    """
    found: list[dict[str, Figure]] = [{} for _ in comparisons]
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, one in enumerate(comparisons):
        places[one.items].append(place)
    for together in places.values():
        ones = [comparisons[place] for place in together]
        intervals = bootstrap_groups(
            [one.of for one in ones],
            [one.against for one in ones],
            protocol.bootstrap_draws,
            protocol.bootstrap_seed,
        )
        for place, one, ends in zip(together, ones, intervals, strict=True):
            found[place] = _figures(one, ends, protocol)
    return found


def _figures(one: Comparison, ends: GroupIntervals, protocol: Protocol) -> dict[str, Figure]:
    of, against = one.of, one.against
    sizes = (len(of.numerators), len(against.numerators))
    figures = {"items_of": count(sizes[0]), "items_against": count(sizes[1])}
    few = min(sizes) < ITEMS
    method = bootstrapped(protocol)
    for name, group, interval in (("of", of, ends.of), ("against", against, ends.against)):
        figures[name] = _rate(group, interval, method)
    notes = [figures[name].note for name in ("of", "against") if figures[name].note]
    figures["difference"] = _difference(of, against, ends.difference, method, "; ".join(notes), few)
    if one.measure in COUNTED:
        cells = [(float(group.numerators.sum()), float(group.denominators.sum())) for group in (of, against)]
        for name, group, (above, below) in zip(("of", "against"), (of, against), cells, strict=True):
            figures[f"{name}_wilson"] = _rate(group, wilson(above, below), "wilson over cells")
        interval = newcombe(*cells[0], *cells[1])
        note = "takes cells as independent, which those of one item are not"
        figures["difference_newcombe"] = _difference(of, against, interval, "newcombe over cells", note, few)
    if one.with_p:
        figures["p"] = _p(of, against, protocol, few)
    return figures


def _rate(group: Counts, interval: Interval, method: str) -> Figure:
    above, below = float(group.numerators.sum()), float(group.denominators.sum())
    if len(group.numerators) < ITEMS:
        note = f"{_items(len(group.numerators))}, at least {ITEMS} are needed"
        return Figure(value=None, numerator=above, denominator=below, method=method, note=note)
    rates = group.numerators / group.denominators
    alike = method.startswith("bootstrap") and float(np.ptp(rates)) == 0
    return Figure(
        value=above / below,
        numerator=above,
        denominator=below,
        low=interval.low,
        high=interval.high,
        method=method,
        note=f"all {len(rates)} items alike, so that its interval has no width" if alike else "",
    )


def _difference(of: Counts, against: Counts, interval: Interval, method: str, note: str, few: bool) -> Figure:
    cells = float(of.denominators.sum() + against.denominators.sum())
    if few:
        note = f"{_items(min(len(of.numerators), len(against.numerators)))}, at least {ITEMS} are needed"
        return Figure(value=None, denominator=cells, method=method, note=note)
    return Figure(
        value=of.ratio - against.ratio,
        denominator=cells,
        low=interval.low,
        high=interval.high,
        method=method,
        note=note,
    )


def _p(of: Counts, against: Counts, protocol: Protocol, few: bool) -> Figure:
    permutations = protocol.stability.permutations
    items = len(of.numerators) + len(against.numerators)
    seed = protocol.stability.permutation_seed
    method = f"items relabelled, {permutations} permutations, seed {seed}, two-sided"
    if few:
        return Figure(value=None, denominator=items, method=method, note="too few items")
    p = relabelled_p(of, against, permutations, seed)
    least = p * (permutations + 1) < 1.5
    note = f"no permutation reaches it: < 1/{permutations + 1}" if least else ""
    return Figure(value=p, denominator=items, method=method, note=note)


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"
