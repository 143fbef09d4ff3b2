"""What leaving items out does to every headline: both readings, side by side.

"included" goes over everyone but the items left out by name or by a person's decision, "audited" without
those that the audit excludes: the study's population or, where the study leaves nothing out by its audit, the
items that it does not flag. change = audited - included. An exclusion is a choice; this table is the record
of what the choice moved, and of what it did not. Figures are those of the lenses of the same name. Source:
Probity, Table 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.lenses.audited import adjudicated, flagged, named
from leadline.lenses.figures import (
    above_zero,
    below_zero,
    count,
    counted,
    in_points,
    percent,
    points,
    ratio,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.moved import moved
from leadline.lenses.panel import Panel
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.split_halves import median_corrected
from leadline.lenses.structural import Tasks, ceiling, tasks_of
from leadline.lenses.transfer_figures import drawn_members, mean_over, pair_figures
from leadline.lenses.transfer_scores import item_scores
from leadline.lenses.whole import Whole
from leadline.stats.rank_correlation import spearman
from leadline.stats.top_sets import TopSets, top_sets
from leadline.stats.two_groups import Counts

Mask = npt.NDArray[np.bool_]

DEFINITION = (
    "included: everyone but the items left out by name or by a person's decision. audited: without the items "
    "that the audit excludes. "
    "change: audited less included. Wobble, accuracy and shares of cells are pooled over configurations; "
    "their intervals resample items, that of a change with what each item adds to either reading. Those of "
    "the mean shared top resample configurations. Other figures are what the lenses of that name define."
)


@dataclass(frozen=True)
class Readings:
    """One panel of the repeated configurations, and which of its items the audit leaves in."""

    whole: Whole
    panel: Panel
    kept: Mask  # [items]

    @cached_property
    def panels(self) -> tuple[Panel, Panel]:
        """Included and audited."""
        return self.panel, self.panel.only(items=self.kept)

    @cached_property
    def tasks(self) -> tuple[Tasks, Tasks]:
        """The tasks of either."""
        first, second = self.panels
        return tasks_of(first), tasks_of(second)


def look(whole: Whole) -> list[Finding]:
    """Finding `both readings`; none when the audit excludes nothing, or everything."""
    if not whole.repeated:
        return []
    both = _both(whole)
    if both.kept.all() or not both.kept.any():
        return []
    rows = [*_sizes(both), *_pooled(both), *_of_tasks(both), *_shared(both)]
    by_quantity = {row.keys["quantity"]: row.figures for row in rows}
    mean = f"shared top {whole.protocol.stability.top[-1]}, mean"
    claims = [_claim("wobble is", by_quantity["wobble"])]
    if mean in by_quantity:
        claims.append(_claim("what configurations share is", by_quantity[mean]))
    left_out = int((~both.kept).sum())
    return [
        Finding(
            lens="exclusion",
            table="both readings",
            model=ALL_MODELS,
            title="What leaving items out changes",
            definition=DEFINITION,
            rows=tuple(rows),
            claims=tuple(claims),
            notes=(f"The audit leaves out {left_out} of {len(both.kept)} items.", *_named(whole)),
        )
    ]


def _both(whole: Whole) -> Readings:
    everyone = whole.panel_by(whole.protocol.stability.sameness, everyone=True)
    panel = everyone.only(members=whole.repeated, items=~named(everyone))
    kept = np.asarray(panel.excluded == "")
    if kept.all():
        kept = ~flagged(panel)
    return Readings(whole, panel, kept)


def _named(whole: Whole) -> list[str]:
    everyone = whole.panel_by(whole.protocol.stability.sameness, everyone=True)
    by_decision = int(adjudicated(everyone).sum())
    by_name = int(named(everyone).sum()) - by_decision
    notes = [f"Items left out by name are in neither reading: {by_name}."] if by_name else []
    if by_decision:
        notes.append(f"Items that a person's decision leaves out are in neither reading: {by_decision}.")
    return notes


def _row(quantity: str, included: Figure, audited: Figure, change: Figure | None = None) -> Row:
    figures = {"included": included, "audited": audited}
    return Row(
        keys={"quantity": quantity}, figures=figures if change is None else {**figures, "change": change}
    )


def _sizes(both: Readings) -> list[Row]:
    rows = []
    for name, counts in (
        ("items", [int(panel.measured.any(axis=0).sum()) for panel in both.panels]),
        ("tasks", [len(_measured_tasks(panel)) for panel in both.panels]),
        ("cells", [int(panel.measured.sum()) for panel in both.panels]),
        ("tasks with wobble", [len(_unsteady(panel)) for panel in both.panels]),
    ):
        rows.append(_row(name, count(counts[0]), count(counts[1])))
    return rows


def _measured_tasks(panel: Panel) -> npt.NDArray[np.str_]:
    return np.unique(panel.tasks[panel.measured.any(axis=0) & (panel.tasks != "")])


def _unsteady(panel: Panel) -> npt.NDArray[np.str_]:
    unsteady = panel.unstable.any(axis=0) & (panel.tasks != "")
    return np.unique(panel.tasks[unsteady])


def _pooled(both: Readings) -> list[Row]:
    """Shares of cells: counts by item, over all of them and over those that stay."""
    panel, protocol = both.panel, both.whole.protocol
    measured = panel.measured.sum(axis=0).astype(np.float64)
    there = measured > 0
    n, right = panel.n, panel.right
    # In whole numbers, so that 6 of 20 is inside the band whatever 0.3 is as a float.
    in_band = panel.measured & (10 * right >= 3 * n) & (10 * right <= 7 * n)
    rows = []
    for name, cells in (
        ("wobble", panel.unstable),
        ("accuracy", panel.correct & panel.measured),
        ("share of cells at p = 1", panel.measured & (right == n)),
        ("share of cells in 0.3 ≤ p ≤ 0.7", in_band),
    ):
        sums = cells.sum(axis=0).astype(np.float64)
        before = Counts(sums[there], measured[there])
        kept = both.kept[there]
        change = moved(before, Counts(before.numerators * kept, before.denominators * kept), protocol)
        included = ratio(*before, protocol)
        audited = ratio(before.numerators[kept], before.denominators[kept], protocol)
        rows.append(_row(name, included, audited, change))
    return rows


def _of_tasks(both: Readings) -> list[Row]:
    """Figures over tasks, as the lenses on reliability, observability and difficulty define them."""
    reliability = [median_corrected(panel) for panel in both.panels]
    ceilings = [ceiling(tasks) for tasks in both.tasks]
    rhos = [float(spearman(tasks.wobble, tasks.accuracy)) for tasks in both.tasks]
    sizes = [len(tasks.names) for tasks in both.tasks]
    why = "no task has an accuracy of 0.9"
    return [
        _row(
            "split-half reliability, median",
            *_told(
                [value for value, _ in reliability],
                [defined for _, defined in reliability],
                "not defined",
                over="configurations",
            ),
        ),
        _row("structural ceiling, accuracy ≥ 0.9", *_told([one.lower for one in ceilings], sizes, why)),
        _row(
            "wobble–accuracy ρ",
            *_told([None if np.isnan(rho) else rho for rho in rhos], sizes, "not defined"),
        ),
    ]


def _told(
    values: Sequence[float | None], sizes: Sequence[int], why: str, over: str = "tasks"
) -> tuple[Figure, Figure]:
    first, second = (
        unknown(why, of) if value is None else Figure(value=value, denominator=of, method=f"over {of} {over}")
        for value, of in zip(values, sizes, strict=True)
    )
    return first, second


def _shared(both: Readings) -> list[Row]:
    """What configurations share of their least steady items at the largest k: all of them, each subset."""
    whole = both.whole
    k = whole.protocol.stability.top[-1]
    place = {number: at for at, number in enumerate(whole.repeated)}
    sets = [("", list(place.values()))]
    sets += [(f" ({name})", [place[one] for one in of]) for name, of in whole.subsets.items()]
    labels = [whole.labels[number] for number in whole.repeated]
    rows = []
    for name, members in sets:
        if len(members) < 2:
            continue
        scores = [item_scores(panel, name, members, labels) for panel in both.panels]
        tops = [top_sets(one.table, k) for one in scores]
        drawn = drawn_members(scores[0], whole.protocol)
        told = [pair_figures(top, top.pairs, drawn, whole.protocol) for top in tops]
        change = _change(tops, drawn, both)
        rows.append(_row(f"shared top {k}, mean{name}", told[0]["mean"], told[1]["mean"], change))
        rows.append(_row(f"shared top {k}, ratio{name}", told[0]["ratio"], told[1]["ratio"]))
    return rows


def _change(tops: Sequence[TopSets], drawn: npt.NDArray[np.float64], both: Readings) -> Figure:
    included, audited = tops
    if not np.array_equal(included.pairs, audited.pairs):
        return unknown("not the same pairs of configurations have unstable items")
    return mean_over(audited.share - included.share, included.pairs, drawn, both.whole.protocol)


def _claim(what: str, figures: dict[str, Figure]) -> Claim:
    """Whether leaving items out moves a headline."""
    included, audited = figures["included"], figures["audited"]
    change = figures["change"]
    if included.value is None or audited.value is None or change.value is None:
        text = f"Whether {what} another without the items that the audit excludes cannot be told."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    way = "lower" if change.value < 0 else "higher"
    end = change.high if change.value < 0 else change.low
    clear = above_zero(change) or below_zero(change)
    shares = [
        counted(one) if what.startswith("wobble") else percent(one.value) for one in (audited, included)
    ]
    return Claim(
        text=f"Without the items that the audit excludes {what} {way}: {shares[0]} instead of {shares[1]}.",
        status=ClaimStatus.SUPPORTED if clear else ClaimStatus.NOT_SUPPORTED,
        point=points(change),
        conservative=f"{in_points(end)} at the unfavourable end of the interval",
    )


LENS = Lens("exclusion", order=58, whole=look)
