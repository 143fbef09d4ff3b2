"""Does the worst category's multiple of the mean grow as configurations wobble less?

One point a configuration: across, its wobble over all items; up, the largest rate of its categories that span
at least three tasks (see `lenses.worst_category`). Through the points of a set of configurations a straight
line by least squares. The worst category's multiple of the mean is slope + intercept / mean, so it grows as
wobble falls only if the intercept lies above zero.

The largest of several rates lies above the mean by chance alone, and the more so the fewer items are
unstable: an intercept above zero is also what chance makes. The claim therefore asks three things: the
intercept's interval lies above zero; a null in which tasks change their categories (`lenses.category_null`)
reaches the intercept in at most one of twenty permutations; and in most configurations some category is
above the mean at the Wilson bounds (`clear`). intercept_p = (1 + permutations that reach it) / (1 +
permutations); one through whose points no line goes counts as one that does.
Source: Probity, table 4; there the intervals are ± 1.96 standard errors, and the intercept alone decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.lenses.category_null import intercepts, largest_by_chance, least_p
from leadline.lenses.figures import SIGNIFICANCE, count, decimal, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.groups import TASKS_FOR_A_RATE
from leadline.lenses.panel import Floats
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS
from leadline.lenses.whole import Whole
from leadline.stats.least_squares import straight_line

EVERY_SET = "all configurations"
# A line through fewer points has an interval that says nothing.
POINTS_FOR_A_LINE = 5
# The share of configurations above which "most" is meant.
MOST = 0.5
DEFINITION = (
    "Least squares over configurations: highest wobble of an estimable category on the wobble of all items. "
    "The worst category's multiple of the mean is slope + intercept / mean: it grows as wobble falls only if "
    "the intercept lies above zero. The largest of several rates is above the mean by chance alone, so "
    "intercept_p tells how often the intercept is as high where whole tasks change their categories (the "
    "same under all configurations), and clear the configurations with a category above the mean at the "
    "Wilson bounds. Intervals: t with n - 2 degrees of freedom; "
    "the notes tell ± 1.96 standard errors."
)


class Point(NamedTuple):
    """A configuration: its wobble, the largest rate of a category, whether one is above the mean for sure."""

    mean: float
    largest: float
    clear: bool


def gap_trend(whole: Whole, points: Sequence[Point | None]) -> Finding:
    """Finding `trend` from each repeated member's mean and largest rate, None where none is estimable.

    Sets of fewer than five configurations have no row, but for the one of all configurations.
    """
    places = {member: place for place, member in enumerate(whole.repeated)}
    sets = {EVERY_SET: tuple(range(len(points)))}
    for name, members in whole.subsets.items():
        if len(members) >= POINTS_FOR_A_LINE:
            sets.setdefault(name, tuple(places[member] for member in members))
    panel, rule = whole.panel.only(whole.repeated), whole.protocol.stability
    null: Floats | None = None
    least = 0.0
    rows, claims, notes = [], [], []
    for name, its in sets.items():
        told = [place for place in its if points[place] is not None]
        known = [point for place in its if (point := points[place]) is not None]
        line = None
        if len(known) >= POINTS_FOR_A_LINE:
            line = straight_line([point.mean for point in known], [point.largest for point in known])
        if line is None:
            few = len(known) < POINTS_FOR_A_LINE
            why = f"{len(known)} configurations, at least {POINTS_FOR_A_LINE} are needed"
            figures = {
                key: unknown(why if few else "all configurations wobble alike", len(known))
                for key in ("slope", "intercept", "intercept_p", "r_squared")
            }
        else:
            if null is None:
                null = largest_by_chance(panel, TASKS_FOR_A_RATE, rule.permutations, rule.permutation_seed)
                least = max(least_p(panel), 1 / (1 + rule.permutations))
            method = f"ordinary least squares, t interval with {line.points - 2} degrees of freedom"
            means = np.array([point.mean for point in known])
            figures = {
                "slope": _coefficient(line.slope, line.slope_interval, line.points, method),
                "intercept": _coefficient(line.intercept, line.intercept_interval, line.points, method),
                "intercept_p": _reached(
                    intercepts(means, null[:, told]), line.intercept, least_p(panel), whole.protocol
                ),
                "r_squared": Figure(
                    value=line.r_squared, denominator=line.points, method="ordinary least squares"
                ),
            }
            notes.append(
                f"{name}: ± 1.96 standard errors are {_ends(line.slope_normal)} for the slope and "
                f"{_ends(line.intercept_normal)} for the intercept, too narrow for {line.points} points."
            )
        figures["clear"] = share(sum(point.clear for point in known), len(known))
        rows.append(Row(keys={"subset": name}, figures={"configurations": count(len(known)), **figures}))
        claims.append(_grows(whole.protocol, name, figures, least))
    return Finding(
        lens="worst_category",
        table="trend",
        model=ALL_MODELS,
        title=f"Does the worst {whole.protocol.category_name}'s multiple of the mean grow as wobble falls?",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def _grows(protocol: Protocol, name: str, figures: dict[str, Figure], least: float) -> Claim:
    slope, intercept, p = (figures[key] for key in ("slope", "intercept", "intercept_p"))
    category = protocol.category_name
    text = (
        f"The multiple of the mean at which the worst {category} runs grows as configurations wobble less "
        f"({name})"
    )
    if slope.value is None or intercept.low is None or intercept.high is None or p.value is None:
        return Claim(
            text=f"{text}: {slope.note}.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point="n/a",
            conservative=slope.note,
        )
    above, clear = intercept.low > 0, figures["clear"]
    where = "lies above" if above else "lies below" if intercept.high < 0 else "contains"
    held = above and p.value <= SIGNIFICANCE and clear.value is not None and clear.value > MOST
    # So few tasks that hardly any change of categories differs: even the clearest rates could not pass.
    never = not held and least > SIGNIFICANCE
    return Claim(
        text=f"{text}.",
        status=ClaimStatus.SUPPORTED
        if held
        else ClaimStatus.UNREACHABLE
        if never
        else ClaimStatus.NOT_SUPPORTED,
        point=f"slope {decimal(slope.value, '.2f')}",
        conservative=f"intercept [{decimal(intercept.low)}, {decimal(intercept.high)}] {where} zero "
        f"(R² {figures['r_squared'].value:.3f}, n = {slope.denominator:.0f}); p = {p.value:.3f} when tasks "
        f"change their {category}; at the Wilson bounds a {category} is above the mean in "
        f"{clear.numerator:.0f}/{clear.denominator:.0f}",
    )


def _reached(null: Floats, observed: float, least: float, protocol: Protocol) -> Figure:
    rule = protocol.stability
    # The same categories by other names give the same line, whatever its last bits say.
    reached = int((~(null < observed - 1e-12)).sum())
    p = (1 + reached) / (1 + len(null))
    return Figure(
        value=max(p, least),  # of few ways to deal tasks out a draw may miss the one that is there
        denominator=len(null),
        method=f"tasks permuted over categories, one-sided, {rule.permutations:,} permutations, "
        f"seed {rule.permutation_seed}",
        note="the smallest that so few tasks allow" if p <= least else "",
    )


def _coefficient(value: float, ends: tuple[float | None, float | None], points: int, method: str) -> Figure:
    return Figure(value=value, denominator=points, low=ends[0], high=ends[1], method=method)


def _ends(ends: tuple[float | None, float | None]) -> str:
    return "[" + ", ".join("n/a" if end is None else decimal(end) for end in ends) + "]"
