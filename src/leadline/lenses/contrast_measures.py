"""What two groups of items are compared by: each item's part in a figure pooled over configurations.

A pooled figure is Σ numerators / Σ denominators over the items of a group, and an item's numbers add up its
cells. Wobble and accuracy count cells, so Wilson and Newcombe intervals exist for them; the other two are
means over cells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import bootstrapped, count, without_spread
from leadline.lenses.finding import Figure
from leadline.lenses.panel import Panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.whole import Whole
from leadline.stats.alike import alike, difference_of_groups
from leadline.stats.clustered_groups import CLUSTERS, bootstrap_clusters, in_clusters, share_clusters
from leadline.stats.intervals import Interval, newcombe, wilson
from leadline.stats.two_groups import Counts, GroupIntervals, bootstrap_groups, relabelled_p

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

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

    @cached_property
    def tasks(self) -> Ints | None:
        """The number of each item's task [items]; an item without one is a task of its own.

        None where no item has one.
        """
        names, numbers = np.unique(self.panel.tasks, return_inverse=True)
        alone = self.panel.tasks == ""
        if alone.all():
            return None
        return np.where(alone, len(names) + np.cumsum(alone), numbers).astype(np.int64)

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
    """One figure of two groups: the sums of their measured items, and which items these are.

    `by_task` are the same sums by task, of both groups over the same tasks; None where there are no tasks.
    """

    measure: str
    of: Counts
    against: Counts
    items: bytes
    by_task: tuple[Counts, Counts] | None = None
    with_p: bool = False


def comparison(
    measure: str, counts: Counts, of: Mask, against: Mask, tasks: Ints | None = None, with_p: bool = False
) -> Comparison | None:
    """Two groups as masks over everyone's items, without what was not measured; None where one is empty."""
    there = counts.denominators > 0
    first, second = of & there, against & there
    if not first.any() or not second.any():
        return None
    one, other = (Counts(counts.numerators[its], counts.denominators[its]) for its in (first, second))
    by_task = None
    if tasks is not None:
        numbers = np.unique(tasks[first | second])
        by_task = (
            in_clusters(one, np.searchsorted(numbers, tasks[first]), len(numbers)),
            in_clusters(other, np.searchsorted(numbers, tasks[second]), len(numbers)),
        )
    return Comparison(measure, one, other, np.packbits([first, second]).tobytes(), by_task, with_p)


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
        for place, figures in zip(together, _over_tasks(ones, protocol), strict=True):
            found[place].update(figures)
    return found


def _over_tasks(ones: Sequence[Comparison], protocol: Protocol) -> list[dict[str, Figure]]:
    """The same differences with tasks as what is drawn; of the same items, so that resamples are shared."""
    tables = [one.by_task for one in ones if one.by_task is not None]
    if not tables:
        return [{} for _ in ones]
    sides = [int((group.denominators > 0).sum()) for group in tables[0]]
    few = min(sides) < CLUSTERS
    whole = not share_clusters(*tables[0])
    ends = (
        [None] * len(tables)
        if few
        else bootstrap_clusters(
            [of for of, _ in tables],
            [against for _, against in tables],
            protocol.bootstrap_draws,
            protocol.bootstrap_seed,
        )
    )
    found = []
    for one, (of, against), interval in zip(ones, tables, ends, strict=True):
        figures = {"tasks_of": count(sides[0]), "tasks_against": count(sides[1])}
        figures["difference_tasks"] = _across(of, against, interval, protocol, min(sides))
        if one.with_p and whole:
            its = [Counts(*(part[group.denominators > 0] for part in group)) for group in (of, against)]
            figures["p_tasks"] = _p(its[0], its[1], protocol, few, "tasks")
        found.append(figures)
    return found


def _across(
    of: Counts, against: Counts, interval: Interval | None, protocol: Protocol, fewest: int
) -> Figure:
    """The difference with an interval that resamples tasks; no value where a side has too few of them."""
    cells = float(of.denominators.sum() + against.denominators.sum())
    method = bootstrapped(protocol, "tasks")
    if interval is None:
        note = f"{_number(fewest, 'task')}, at least {CLUSTERS} are needed on either side"
        return Figure(value=None, denominator=cells, method=method, note=note)
    if said := _alike(of, against, "tasks"):
        return _counted_apart(of, against, "tasks", said)
    lost = "" if interval.low is not None else "too many resamples of tasks leave a group empty"
    return Figure(
        value=of.ratio - against.ratio,
        denominator=cells,
        low=interval.low,
        high=interval.high,
        method=method,
        note=lost,
    )


def _figures(one: Comparison, ends: GroupIntervals, protocol: Protocol) -> dict[str, Figure]:
    of, against = one.of, one.against
    sizes = (len(of.numerators), len(against.numerators))
    figures = {"items_of": count(sizes[0]), "items_against": count(sizes[1])}
    few = min(sizes) < ITEMS
    method = bootstrapped(protocol)
    for name, group, interval in (("of", of, ends.of), ("against", against, ends.against)):
        figures[name] = _rate(group, interval, method)
    said = _alike(of, against, "items")
    figures["difference"] = (
        _counted_apart(of, against, "items", said)
        if said and not few
        else _difference(of, against, ends.difference, method, "", few)
    )
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
        note = f"{_number(len(group.numerators), 'item')}, at least {ITEMS} are needed"
        return Figure(value=None, numerator=above, denominator=below, method=method, note=note)
    if method.startswith("bootstrap") and alike(*group):
        items = len(group.numerators)
        return without_spread(above / below, (above, below), items, _said(items, "items"))
    return Figure(
        value=above / below,
        numerator=above,
        denominator=below,
        low=interval.low,
        high=interval.high,
        method=method,
    )


def _said(number: int, what: str) -> str:
    return f"all {number} {what} alike: not resampled"


def _alike(of: Counts, against: Counts, what: str) -> str:
    """Which of the groups have units [units of the group] without a difference; "" where neither has."""
    groups = [Counts(*(part[group.denominators > 0] for part in group)) for group in (of, against)]
    return "; ".join(_said(len(group.numerators), what) for group in groups if alike(*group))


def _counted_apart(of: Counts, against: Counts, what: str, note: str) -> Figure:
    """The difference where a group's units are alike: resampled, that group would seem to be known for
    certain."""
    sizes = [int((group.denominators > 0).sum()) for group in (of, against)]
    ends = difference_of_groups(of.ratio, sizes[0], against.ratio, sizes[1])
    cells = float(of.denominators.sum() + against.denominators.sum())
    method = f"newcombe over {what}"
    return Figure(
        value=of.ratio - against.ratio,
        denominator=cells,
        low=ends.low,
        high=ends.high,
        method=method,
        note=note,
    )


def _difference(of: Counts, against: Counts, interval: Interval, method: str, note: str, few: bool) -> Figure:
    cells = float(of.denominators.sum() + against.denominators.sum())
    if few:
        fewest = min(len(of.numerators), len(against.numerators))
        note = f"{_number(fewest, 'item')}, at least {ITEMS} are needed"
        return Figure(value=None, denominator=cells, method=method, note=note)
    return Figure(
        value=of.ratio - against.ratio,
        denominator=cells,
        low=interval.low,
        high=interval.high,
        method=method,
        note=note,
    )


def _p(of: Counts, against: Counts, protocol: Protocol, few: bool, what: str = "items") -> Figure:
    permutations = protocol.stability.permutations
    dealt = len(of.numerators) + len(against.numerators)
    seed = protocol.stability.permutation_seed
    if few:
        return Figure(value=None, denominator=dealt, method=f"{what} relabelled", note=f"too few {what}")
    p, ways = relabelled_p(of, against, permutations, seed)
    how = f"{permutations} permutations, seed {seed}" if ways is None else f"all {ways:,} ways"
    least = ways is None and p * (permutations + 1) < 1.5
    note = f"no permutation reaches it: < 1/{permutations + 1}" if least else ""
    return Figure(value=p, denominator=dealt, method=f"{what} relabelled, {how}, two-sided", note=note)


def _number(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
