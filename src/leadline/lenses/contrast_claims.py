"""What is claimed of two groups of items: that one wobbles more than the other, and how far that reaches.

A claim rests on the interval from resampled items and, where items carry tasks, on that from resampled tasks
too: the wider of both. Its p deals items out to the groups anew, or whole tasks where the groups share none;
after Holm's correction over the table's claims. Where a group is of fewer than three tasks the difference is
one between these tasks, and nothing can be told of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import SIGNIFICANCE, above_zero, below_zero, counted, in_points, percent, points
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Row
from leadline.stats.clustered_groups import CLUSTERS, smallest_p
from leadline.stats.multiple import holm

Mask = npt.NDArray[np.bool_]


class Sides(NamedTuple):
    """Two groups of items, as masks over everyone's panel, and what sentences call them."""

    of: Mask
    against: Mask
    called: str
    rest: str


# The p of dealing out items, and tasks.
P_OF = {"items": "p", "tasks": "p_tasks"}
# The groups, their headline row, and the row of their accuracies where there is one.
Claimed = tuple[Sides, Row, Row | None]


def with_holm(rows: Sequence[Row]) -> list[Row]:
    """The headlines of a table with `p_holm`: their decisive p after Holm's correction over those that have
    one."""
    p_values = [decisive_p(row.figures) for row in rows]
    tested = [p for p in p_values if p is not None]
    corrected = iter(holm(tested))
    found = []
    for row, p in zip(rows, p_values, strict=True):
        what = _dealt(row.figures)
        method = f"{what} relabelled, holm over {len(tested)} contrasts"
        figure = (
            Figure(value=None, method=method, note=_untested(row.figures))
            if p is None
            else Figure(value=next(corrected), denominator=row.figures[P_OF[what]].denominator, method=method)
        )
        found.append(Row(keys=row.keys, figures={**row.figures, "p_holm": figure}))
    return found


def contrast_claims(claimed: Sequence[Claimed]) -> tuple[Claim, ...]:
    """A claim for each headline of a table, which `with_holm` has looked at."""
    tested = [row.figures for _, row, _ in claimed if row.figures["p_holm"].value is not None]
    # The smallest that each p could be after the correction, were all as small as they can be.
    least = iter(holm([smallest_p(*_sizes(figures)) for figures in tested]))
    return tuple(
        _claim(
            sides,
            row.figures,
            accuracy,
            next(least) if row.figures["p_holm"].value is not None else 1.0,
            len(tested),
        )
        for sides, row, accuracy in claimed
    )


def decisive_p(figures: Mapping[str, Figure]) -> float | None:
    """The p that a claim rests on; None where nothing can be said beyond these items or these tasks."""
    across = figures.get("difference_tasks")
    if across is not None and across.low is None:
        return None
    return figures[P_OF[_dealt(figures)]].value


def _dealt(figures: Mapping[str, Figure]) -> str:
    """What is dealt out to the groups anew: whole tasks where the groups share none, else items."""
    return "tasks" if "p_tasks" in figures else "items"


def _sizes(figures: Mapping[str, Figure]) -> tuple[int, int]:
    """Of how many of these either group is."""
    of, against = (figures[f"{_dealt(figures)}_{side}"].value or 0 for side in ("of", "against"))
    return int(of), int(against)


def _untested(figures: Mapping[str, Figure]) -> str:
    return figures["difference"].note if figures["difference"].value is None else "no test of other tasks"


def _claim(
    sides: Sides, figures: Mapping[str, Figure], accuracy: Row | None, least: float, tested: int
) -> Claim:
    p = figures["p_holm"].value
    difference, of, against = figures["difference"], figures["of"], figures["against"]
    if difference.value is None:
        text = f"{sides.called} cannot be compared with {sides.rest}: {difference.note}."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    way = "less" if difference.value < 0 else "more"
    harder = ""
    if accuracy is not None and accuracy.figures["difference"].value is not None:
        shares = [percent(accuracy.figures[name].value) for name in ("of", "against")]
        harder = f"; their majorities are right in {shares[0]} against {shares[1]}"
    rates = f"{counted(of)} against {counted(against)} of the cells"
    seen = f"{sides.called} wobble {way} than {sides.rest}: {rates}"
    if p is None:
        of_tasks, against_tasks = (int(figures[f"tasks_{side}"].value or 0) for side in ("of", "against"))
        few = min(of_tasks, against_tasks) < CLUSTERS
        why = f"at least {CLUSTERS} are needed on either side" if few else figures["difference_tasks"].note
        return Claim(
            text=f"{seen}{harder}. Beyond these tasks it cannot be told: the groups are of {of_tasks} and "
            f"{against_tasks} tasks, and {why}.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point=points(difference),
            conservative="nothing is said of other tasks than these",
        )
    dealt = _dealt(figures)
    intervals = {"items": difference}
    if "difference_tasks" in figures:
        intervals["tasks"] = figures["difference_tasks"]
    ends = {over: one.high if way == "less" else one.low for over, one in intervals.items()}
    over = max(ends, key=lambda name: (ends[name] or 0.0) * (1 if way == "less" else -1))
    is_clear = all((below_zero if way == "less" else above_zero)(one) for one in intervals.values())
    return Claim(
        text=f"{seen}. An association, which does not say why{harder}.",
        status=ClaimStatus.UNREACHABLE
        if least > SIGNIFICANCE  # so few can be dealt out in so few ways that no difference would stand out
        else ClaimStatus.SUPPORTED
        if is_clear and p <= SIGNIFICANCE
        else ClaimStatus.NOT_SUPPORTED,
        point=points(difference),
        conservative=f"{in_points(ends[over] or 0.0)} at the unfavourable end of the interval over "
        f"{over}; p = {p:.2g} when {dealt} change groups{_after_holm(tested)}",
    )


def _after_holm(tested: int) -> str:
    return f", after Holm over {tested} contrasts" if tested > 1 else ""
