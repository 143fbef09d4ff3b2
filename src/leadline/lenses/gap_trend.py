"""Does the gap between the worst category and the mean grow as models improve?

One point a configuration: across, its wobble over all items; up, the largest rate of its categories that span
at least three tasks (see `lenses.worst_category`). Through the points of a set of configurations a straight
line by least squares. The worst category's multiple of the mean is slope + intercept / mean, so it grows as
wobble falls only if the intercept lies above zero.

The largest of several rates lies above the mean by chance alone, and the more so the fewer items are
unstable: an intercept above zero is also what chance makes. The claim therefore asks moreover that in most
configurations some category is above the mean at the Wilson bounds (`clear`).
Source: Probity, table 4; there the intervals are ± 1.96 standard errors, and the intercept alone decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from leadline.lenses.figures import count, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
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
    "the intercept lies above zero. Clear: configurations with a category above the mean at the Wilson "
    "bounds; the largest of several rates is above it by chance alone. Intervals: t with n - 2 degrees of freedom; "
    "the notes tell ± 1.96 standard errors."
)


class Point(NamedTuple):
    """A configuration: its wobble, the largest rate of a category, whether one is above the mean for sure."""

    mean: float
    largest: float
    clear: bool


def gap_trend(whole: Whole, points: Sequence[Point | None]) -> Finding:
    """Finding `trend` from each repeated member's mean and largest rate, None where none is estimable."""
    places = {member: place for place, member in enumerate(whole.repeated)}
    sets = {EVERY_SET: tuple(range(len(points)))}
    sets |= {name: tuple(places[member] for member in its) for name, its in whole.subsets.items()}
    rows, claims, notes = [], [], []
    for name, members in sets.items():
        known = [point for place in members if (point := points[place]) is not None]
        line = None
        if len(known) >= POINTS_FOR_A_LINE:
            line = straight_line([point.mean for point in known], [point.largest for point in known])
        if line is None:
            few = len(known) < POINTS_FOR_A_LINE
            why = f"{len(known)} configurations, at least {POINTS_FOR_A_LINE} are needed"
            figures = {
                key: unknown(why if few else "all configurations wobble alike", len(known))
                for key in ("slope", "intercept", "r_squared")
            }
        else:
            method = f"ordinary least squares, t interval with {line.points - 2} degrees of freedom"
            figures = {
                "slope": _coefficient(line.slope, line.slope_interval, line.points, method),
                "intercept": _coefficient(line.intercept, line.intercept_interval, line.points, method),
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
        claims.append(_grows(whole.protocol, name, figures))
    return Finding(
        lens="worst_category",
        table="trend",
        model=ALL_MODELS,
        title=f"Does the worst {whole.protocol.category_name} fall behind the mean as models improve?",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def _grows(protocol: Protocol, name: str, figures: dict[str, Figure]) -> Claim:
    slope, intercept = figures["slope"], figures["intercept"]
    text = f"The gap between the worst {protocol.category_name} and the mean grows as models improve ({name})"
    if slope.value is None or intercept.low is None or intercept.high is None:
        return Claim(
            text=f"{text}: {slope.note}.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point="n/a",
            conservative=slope.note,
        )
    above, clear = intercept.low > 0, figures["clear"]
    where = "lies above" if above else "lies below" if intercept.high < 0 else "contains"
    held = above and clear.value is not None and clear.value > MOST
    return Claim(
        text=f"{text}.",
        status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
        point=f"slope {slope.value:.2f}",
        conservative=f"intercept [{intercept.low:.3f}, {intercept.high:.3f}] {where} zero "
        f"(R² {figures['r_squared'].value:.3f}, n = {slope.denominator:.0f}); at the Wilson bounds a "
        f"{protocol.category_name} is above the mean in {clear.numerator:.0f}/{clear.denominator:.0f}",
    )


def _coefficient(value: float, ends: tuple[float | None, float | None], points: int, method: str) -> Figure:
    return Figure(value=value, denominator=points, low=ends[0], high=ends[1], method=method)


def _ends(ends: tuple[float | None, float | None]) -> str:
    return f"[{ends[0]:.3f}, {ends[1]:.3f}]"
