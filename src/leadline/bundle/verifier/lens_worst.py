"""The worst category against the mean, at its Wilson bounds, and whether its multiple grows as wobble
falls."""

from __future__ import annotations

from statistics import median
from typing import Any, Optional

from leadline.bundle.verifier.cells import Side, Sides
from leadline.bundle.verifier.dealt_categories import Dealt, dealt_categories, intercept_p
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    median_figure,
    no_figure,
    plain_count,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import wilson_ends
from leadline.bundle.verifier.lens_wobble import POOLED
from leadline.bundle.verifier.ranks import Line, student_quantile

_FLOORS = (3, 5)
_FEWEST_POINTS = 5


class Worst:
    """The estimable categories of one configuration."""

    def __init__(self, sides: Sides, side: Side, floor: int) -> None:
        self.flips = sum(cell.unstable for cell in side.values())
        self.n = len(side)
        counts: dict[str, list[Any]] = {}
        for item, cell in side.items():
            category = sides.bundle.category(item)
            if category:
                entry = counts.setdefault(category, [0, 0, set()])
                entry[0] += cell.unstable
                entry[1] += 1
                if sides.bundle.task(item):
                    entry[2].add(sides.bundle.task(item))
        self.counts = {
            name: (flips, n) for name, (flips, n, tasks) in sorted(counts.items()) if len(tasks) >= floor
        }

    @property
    def is_estimable(self) -> bool:
        """There are two categories to compare."""
        return len(self.counts) >= 2

    @property
    def name(self) -> str:
        """The category with the highest rate; of equal ones that with more items, then the first by name."""
        return max(
            self.counts, key=lambda name: (self.counts[name][0] / self.counts[name][1], self.counts[name][1])
        )

    @property
    def ratio(self) -> tuple[float, float]:
        """The highest rate, and the mean."""
        flips, n = self.counts[self.name]
        return flips / n, self.flips / self.n

    @property
    def conservative(self) -> tuple[float, float]:
        """The largest lower bound, and the upper bound of the mean."""
        return max(wilson_ends(*pair)[0] for pair in self.counts.values()), wilson_ends(self.flips, self.n)[1]


def worst_category_tables(sides: Sides) -> dict[str, Table]:
    """By configuration, overall, and the trend."""
    bundle = sides.bundle
    measured = sides.measured()
    if not any(bundle.category(item) for side in measured for item in side):
        return {}
    by_configuration: Table = {}
    overall: Table = {}
    for floor in _FLOORS:
        ratios, conservatives = [], []
        for name, side in zip(sides.names, measured):
            worst = Worst(sides, side, floor)
            keys = {"floor": f"{floor} tasks", "configuration": name}
            if not worst.is_estimable:
                few = {key: no_figure() for key in ("worst_rate", "ratio", "conservative_ratio")}
                by_configuration[row_key(**keys, worst="n/a")] = {
                    **few,
                    "wobble": wilson_share(worst.flips, worst.n),
                }
                continue
            (rate, mean), (low, high) = worst.ratio, worst.conservative
            if mean:  # else nothing is a multiple of it
                ratios.append(rate / mean)
            conservatives.append(low / high)
            by_configuration[row_key(**keys, worst=worst.name)] = {
                "worst_rate": wilson_share(*worst.counts[worst.name]),
                "wobble": wilson_share(worst.flips, worst.n),
                "ratio": Expected(rate / mean, rate, mean) if mean else no_figure(0),
                "conservative_ratio": Expected(low / high, low, high),
            }
        overall[row_key(floor=f"{floor} tasks")] = {
            "median_ratio": median_figure(ratios),
            "median_conservative": median_figure(conservatives),
            "above_1": wilson_share(sum(ratio > 1 for ratio in conservatives), len(conservatives)),
            "above_2": wilson_share(sum(ratio > 2 for ratio in conservatives), len(conservatives)),
        }
    return {"by configuration": by_configuration, "overall": overall, "trend": _trend(sides, measured)}


def _trend(sides: Sides, measured: list[Side]) -> Table:
    table: Table = {}
    sets = {POOLED: list(range(len(measured)))}
    for name, places in sides.subsets.items():
        if len(places) >= _FEWEST_POINTS:
            sets.setdefault(name, places)
    permutations: int = sides.stability["permutations"]
    dealt: Optional[Dealt] = None
    for name, places in sets.items():
        points, told, clear = [], [], 0
        for place in places:
            worst = Worst(sides, measured[place], _FLOORS[0])
            if len(worst.counts) >= 2:
                points.append((worst.ratio[1], worst.ratio[0]))
                told.append(place)
                clear += worst.conservative[0] > worst.conservative[1]
        figures = {"configurations": plain_count(len(points)), "clear": wilson_share(clear, len(points))}
        x, y = [point[0] for point in points], [point[1] for point in points]
        if len(points) < _FEWEST_POINTS or len(set(x)) < 2:
            for figure in ("slope", "intercept", "intercept_p", "r_squared"):
                figures[figure] = no_figure(len(points))
        else:
            line = Line(x, y)
            reach = student_quantile(0.975, line.freedom)
            for figure, value, error in (
                ("slope", line.slope, line.slope_error),
                ("intercept", line.intercept, line.intercept_error),
            ):
                ends = (value - reach * error, value + reach * error)
                figures[figure] = Expected(value, None, len(points), ends)
            dealt = dealt or dealt_categories(sides, measured, _FLOORS[0])
            figures["intercept_p"] = intercept_p(dealt, told, x, line.intercept, permutations)
            figures["r_squared"] = Expected(line.r_squared, None, len(points))
        table[row_key(subset=name)] = figures
    return table


def middle(values: list[float]) -> float:
    """The median."""
    return float(median(values))
