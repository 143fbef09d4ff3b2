"""Split halves: whether half of the samples order the tasks by wobble as the other half does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from math import comb
from statistics import median
from typing import Optional

from leadline.bundle.verifier.cells import Side, Sides
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import Expected, Table, no_figure, plain_count, row_key
from leadline.bundle.verifier.loading import value_under
from leadline.bundle.verifier.ranks import spearman_rho
from leadline.bundle.verifier.resampling import Draws, statistic_draws

_SPLITS = 1000
_OWN_SPLITS = 400
# Where few splits have a value, more are made until so many have one.
_ENOUGH = 200
_MOST_SPLITS = 4000
_DRAWS = 1000
_FEWEST_TASKS = 3

# Task -> (wobble in one half, wobble in the other).
Halves = dict[str, tuple[float, float]]


def stepped_up(r: Optional[float]) -> Optional[float]:
    """Spearman and Brown: 2r / (1 + r); None for r = -1."""
    return None if r is None or 1 + r <= 1e-12 else 2 * r / (1 + r)


def correlation_of(pairs: Sequence[tuple[float, float]]) -> Optional[float]:
    """Spearman's r of the two halves; None for fewer than three tasks, or a half in which all wobble
    alike."""
    if len(pairs) < _FEWEST_TASKS:
        return None
    return spearman_rho([pair[0] for pair in pairs], [pair[1] for pair in pairs])


class SplitMember:
    """One configuration: its cells by task, with the sample numbers that they were read at."""

    def __init__(self, sides: Sides, side: Side, rule: str) -> None:
        self.samples = sorted({answer.sample for cell in side.values() for answer in cell.answers})
        # Of each cell: {sample: value}; a stable one only needs its samples.
        self.tasks: dict[str, list[tuple[bool, dict[int, Optional[str]]]]] = {}
        for item, cell in side.items():
            task = sides.bundle.task(item)
            if task:
                read = {answer.sample: value_under(answer, rule) for answer in cell.answers}
                self.tasks.setdefault(task, []).append((cell.unstable, read))

    def halves(self, first: Iterable[int]) -> Halves:
        """The wobble of each task on the samples `first` and on the others; tasks defined in both."""
        chosen = set(first)
        found: Halves = {}
        for task, cells in self.tasks.items():
            flips, counted = [0, 0], [0, 0]
            for unstable, read in cells:
                parts: tuple[list[Optional[str]], list[Optional[str]]] = ([], [])
                for sample, value in read.items():
                    parts[sample not in chosen].append(value)
                for half, values in enumerate(parts):
                    if len(values) >= 2:
                        counted[half] += 1
                        flips[half] += unstable and len(set(values)) > 1
            if counted[0] and counted[1]:
                found[task] = (flips[0] / counted[0], flips[1] / counted[1])
        return found

    def random_halves(self, active: set[str]) -> list[Optional[float]]:
        """The corrected correlation over random splits; configurations of as many samples share them."""
        n = len(self.samples)
        rng = random.Random(f"halves of {n}")
        # Without an item that wavers, no task differs from another in any half.
        if not any(unstable for cells in self.tasks.values() for unstable, _ in cells):
            return [None] * _OWN_SPLITS
        # Few samples have few halves; each is looked at once.
        known: dict[tuple[int, ...], Optional[float]] = {}
        is_kept = comb(n, n // 2) <= _SPLITS
        found: list[Optional[float]] = []
        defined = 0
        while len(found) < _OWN_SPLITS or (defined < _ENOUGH and len(found) < _MOST_SPLITS):
            places = tuple(sorted(rng.sample(range(n), n // 2)))
            if places not in known:
                halves = self.halves(self.samples[place] for place in places)
                value = stepped_up(correlation_of([pair for task, pair in halves.items() if task in active]))
                if is_kept:
                    known[places] = value
            else:
                value = known[places]
            found.append(value)
            defined += value is not None
        return found


def split_members(sides: Sides, measured: Sequence[Side], rule: str) -> tuple[list[SplitMember], set[str]]:
    """The configurations, and the tasks that wobble in some of them."""
    active = {
        sides.bundle.task(item) for side in measured for item, cell in side.items() if cell.unstable
    } - {""}
    return [SplitMember(sides, side, rule) for side in measured], active


def median_corrected(sides: Sides, measured: Sequence[Side], rule: str) -> tuple[Optional[float], int]:
    """The headline: the median over configurations of the corrected correlation, even against odd samples;
    and over how many."""
    found, active = split_members(sides, measured, rule)
    values = []
    for member in found:
        halves = member.halves([sample for sample in member.samples if sample % 2 == 0])
        corrected = stepped_up(correlation_of([pair for task, pair in halves.items() if task in active]))
        if corrected is not None:
            values.append(corrected)
    return (median(values) if values else None), len(values)


def reliability_tables(sides: Sides) -> dict[str, Table]:
    """Overall, and by configuration."""
    measured = sides.measured()
    rule = sides.stability["sameness"]
    if not measured:
        return {}
    found, active = split_members(sides, measured, rule)
    tasks = sorted({task for member in found for task in member.tasks})
    if len(tasks) < _FEWEST_TASKS:  # no order, for any configuration
        none_or_two = plain_count(len([task for task in tasks if task in active]), len(tasks))
        names = ("median_corrected", "median_r", "median_corrected_all_tasks")
        figures = {name: no_figure(0) for name in names}
        figures.update(
            random_median=no_figure(len(active)),
            estimable=plain_count(0, len(found)),
            unsteady_tasks=none_or_two,
        )
        return {"overall": {(): figures}}
    halves = [member.halves([sample for sample in member.samples if sample % 2 == 0]) for member in found]
    by_configuration: Table = {}
    spreads = []
    for place, member in enumerate(found):
        over_active = [halves[place][task] for task in tasks if task in halves[place] and task in active]
        over_all = [halves[place][task] for task in tasks if task in halves[place]]
        spreads.append(member.random_halves(active))
        unsteady = len(
            {task for task, cells in member.tasks.items() if any(unstable for unstable, _ in cells)}
        )
        by_configuration[row_key(configuration=sides.names[place])] = {
            "r": _over_tasks(over_active, correlation_of),
            "corrected": _over_tasks(over_active, lambda pairs: stepped_up(correlation_of(pairs))),
            "random_median": _random(spreads[-1], len(over_active)),
            "corrected_all_tasks": _over_tasks(over_all, lambda pairs: stepped_up(correlation_of(pairs))),
            "unsteady_tasks": plain_count(unsteady, len(member.tasks)),
        }
    return {"by configuration": by_configuration, "overall": {(): _overall(tasks, active, halves, spreads)}}


def _over_tasks(pairs: list[tuple[float, float]], statistic: Callable[..., Optional[float]]) -> Expected:
    value = statistic(pairs)
    if value is None:
        return no_figure(len(pairs))
    drawn = Drawn(
        lambda: statistic_draws(len(pairs), lambda chosen: statistic([pairs[at] for at in chosen]), _DRAWS)
    )
    return Expected(value, None, len(pairs), drawn)


class Seldom(Drawn):
    """What the report's random splits gave, of which only some have a value; perhaps none of them."""

    def __init__(self, spread: Sequence[Optional[float]], share: Optional[float] = None) -> None:
        values = Draws(sorted(value for value in spread if value is not None))
        defined = len(values) / len(spread)
        super().__init__(lambda: values, max(1, round(_SPLITS * defined)), share, between=True)
        self.may_be_none = (1 - defined) ** _SPLITS > 1e-6
        # Told as with any other draws: too many without a value, so that there may be no interval.
        values.lost = 0.1 if self.may_be_none else 0.0

    def agrees(self, value: Optional[float], theirs: int) -> bool:
        """Whether `value` may be it."""
        return (value is None and self.may_be_none) or super().agrees(value, theirs)


def _random(spread: Sequence[Optional[float]], tasks: int) -> Expected:
    if not any(value is not None for value in spread):
        return no_figure(tasks)
    return Expected(Seldom(spread, 0.5), None, tasks, Seldom(spread))


def _overall(
    tasks: list[str], active: set[str], halves: list[Halves], spreads: list[list[Optional[float]]]
) -> dict[str, Expected]:
    over_active = [task for task in tasks if task in active]
    medians: list[Optional[float]] = []
    for together in zip(*spreads):
        values = [value for value in together if value is not None]
        medians.append(median(values) if values else None)
    estimable = [
        stepped_up(correlation_of([half[task] for task in over_active if task in half])) is not None
        for half in halves
    ]
    return {
        "median_corrected": _median_over(over_active, halves),
        "median_r": _median_over(over_active, halves, lambda r: r),
        "random_median": _random(medians, len(over_active)),
        "median_corrected_all_tasks": _median_over(tasks, halves),
        "estimable": plain_count(sum(estimable), len(halves)),
        "unsteady_tasks": plain_count(len(over_active), len(tasks)),
    }


def _median_over(
    tasks: list[str], halves: list[Halves], form: Callable[[Optional[float]], Optional[float]] = stepped_up
) -> Expected:
    def statistic(chosen: Sequence[str]) -> Optional[float]:
        values = []
        for half in halves:
            value = form(correlation_of([half[task] for task in chosen if task in half]))
            if value is not None:
                values.append(value)
        return median(values) if values else None

    value = statistic(tasks)
    estimable = sum(
        form(correlation_of([half[task] for task in tasks if task in half])) is not None for half in halves
    )
    if value is None:
        return no_figure(estimable)
    drawn = Drawn(
        lambda: statistic_draws(len(tasks), lambda chosen: statistic([tasks[at] for at in chosen]), _DRAWS)
    )
    return Expected(value, None, estimable, drawn)
