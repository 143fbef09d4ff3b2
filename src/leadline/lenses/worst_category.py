"""Does the worst category run at a multiple of the mean, and does that multiple grow as wobble falls?

Per configuration, a category's rate is its unstable over its measured items, by the study's rule of sameness;
the mean is that of all items, whatever their category. A category is estimable at a floor F when at least F
of its tasks have a measured item (3 for a rate, 5 for a claim); at least two must be.
ratio = largest rate of the estimable categories / mean.
conservative_ratio = largest lower Wilson bound of the estimable categories / upper Wilson bound of the mean.
The category with the largest lower bound need not be the one with the largest rate: none is picked by the
data that judge it. How the gap moves from configuration to configuration: `lenses.gap_trend`.
Source: Probity, sections 5 and 6, table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.lenses.figures import left_out, median, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.gap_trend import Point, gap_trend
from leadline.lenses.groups import (
    TASKS_FOR_A_RATE,
    TASKS_FOR_THE_WORST,
    UNNAMED,
    item_groups,
    tasks_spanned,
)
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole
from leadline.stats.intervals import wilson

FLOORS = (TASKS_FOR_A_RATE, TASKS_FOR_THE_WORST)
DEFINITION = (
    "Ratio: the highest wobble among the categories that span enough tasks, over the wobble of all items. "
    "Conservative ratio: the largest lower Wilson bound among these categories over the upper Wilson bound "
    "of all items, so that no category is picked by the data that judge it."
)


@dataclass(frozen=True)
class Worst:
    """The estimable categories of one configuration: the one with the highest rate, the bounds of all."""

    name: str
    unstable: int
    cells: int
    largest_low: float
    held_by: str  # the category with the largest lower bound
    compared: int

    @property
    def rate(self) -> float:
        """Share of the category's items that are unstable."""
        return self.unstable / self.cells


@dataclass(frozen=True)
class Counts:
    """Unstable and measured items, by configuration [C] and by category [C, G]."""

    categories: tuple[str, ...]
    unstable: np.ndarray
    cells: np.ndarray
    tasks: np.ndarray
    all_unstable: np.ndarray
    all_cells: np.ndarray
    all_once: np.ndarray  # items with a single reading, which are in neither

    def worst(self, number: int, floor: int) -> Worst | None:
        """The worst category of a configuration; None where fewer than two are estimable."""
        able = [
            at
            for at, name in enumerate(self.categories)
            if name != UNNAMED and self.tasks[number, at] >= floor and self.cells[number, at]
        ]
        if len(able) < 2:
            return None
        counted = {at: (int(self.unstable[number, at]), int(self.cells[number, at])) for at in able}
        lows = {at: wilson(*counted[at]).low or 0.0 for at in able}
        top = max(able, key=lambda at: (counted[at][0] / counted[at][1], counted[at][1]))
        firmest = max(able, key=lambda at: lows[at])
        names = self.categories
        return Worst(names[top], *counted[top], lows[firmest], names[firmest], len(able))


def look(whole: Whole) -> list[Finding]:
    """Findings `by configuration`, `overall` and `trend`; none where the benchmark has no categories."""
    counts = _counts(whole)
    if counts is None:
        return []
    labels = [whole.labels[number] for number in whole.repeated]
    worst = {floor: [counts.worst(number, floor) for number in range(len(labels))] for floor in FLOORS}
    found = [_by_configuration(whole.protocol, counts, labels, worst)]
    found.append(_overall(whole.protocol, found[0], labels))
    points = [
        Point(
            counts.all_unstable[number] / counts.all_cells[number],
            one.rate,
            one.largest_low > (wilson(counts.all_unstable[number], counts.all_cells[number]).high or 1.0),
        )
        if one
        else None
        for number, one in enumerate(worst[TASKS_FOR_A_RATE])
    ]
    return [*found, gap_trend(whole, points)]


def _counts(whole: Whole) -> Counts | None:
    panel = whole.panel.only(whole.repeated)
    groups = item_groups(panel, "category") if whole.repeated else []
    if not groups:
        return None
    return Counts(
        categories=tuple(group.name for group in groups),
        unstable=np.column_stack([panel.unstable[:, group.items].sum(axis=1) for group in groups]),
        cells=np.column_stack([panel.measured[:, group.items].sum(axis=1) for group in groups]),
        tasks=np.column_stack([tasks_spanned(panel, group.items) for group in groups]),
        all_unstable=panel.unstable.sum(axis=1),
        all_cells=panel.measured.sum(axis=1),
        all_once=panel.once.sum(axis=1),
    )


def _by_configuration(
    protocol: Protocol, counts: Counts, labels: Sequence[str], worst: dict[int, list[Worst | None]]
) -> Finding:
    rows = []
    for floor in FLOORS:
        for number, (label, one) in enumerate(zip(labels, worst[floor], strict=True)):
            keys = {"floor": _floor(floor), "configuration": label, "worst": one.name if one else "n/a"}
            rows.append(Row(keys=keys, figures=_figures(counts, number, one, floor)))
    return Finding(
        lens="worst_category",
        table="by configuration",
        model=ALL_MODELS,
        title=f"The {protocol.category_name} with the highest wobble against the mean",
        definition=DEFINITION,
        rows=tuple(rows),
    )


def _figures(counts: Counts, number: int, one: Worst | None, floor: int) -> dict[str, Figure]:
    once = left_out(int(counts.all_once[number]))
    mean = share(int(counts.all_unstable[number]), int(counts.all_cells[number]), note=once)
    if one is None or mean.value is None or mean.high is None:
        why = unknown(f"fewer than two categories span {floor} tasks")
        return {"worst_rate": why, "wobble": mean, "ratio": why, "conservative_ratio": why}
    rate = share(one.unstable, one.cells)
    ratio = (
        Figure(
            value=one.rate / mean.value,
            numerator=one.rate,
            denominator=mean.value,
            method=f"largest of {one.compared} rates over the mean",
            note="no interval: the category is picked by the data that judge it; read the conservative ratio",
        )
        if mean.value
        else unknown("no item is unstable", 0)
    )
    conservative = Figure(
        value=one.largest_low / mean.high,
        numerator=one.largest_low,
        denominator=mean.high,
        method=f"largest of {one.compared} lower wilson bounds over the upper wilson bound of the mean",
        note="" if one.held_by == one.name else f"the largest lower bound is that of {one.held_by}",
    )
    return {"worst_rate": rate, "wobble": mean, "ratio": ratio, "conservative_ratio": conservative}


def _overall(protocol: Protocol, by_configuration: Finding, labels: Sequence[str]) -> Finding:
    rows, claims = [], []
    for floor in FLOORS:
        its = [row.figures for row in by_configuration.rows if row.keys["floor"] == _floor(floor)]
        points, bounds = (
            np.array([one[key].value for one in its if one[key].value is not None], dtype=np.float64)
            for key in ("ratio", "conservative_ratio")
        )
        empty = f"no configuration has two categories of {floor} tasks"
        figures = {
            "median_ratio": median(np.sort(points), protocol, over="configurations", empty=empty),
            "median_conservative": median(np.sort(bounds), protocol, over="configurations", empty=empty),
            "above_1": share(int((bounds > 1).sum()), len(bounds), empty=empty),
            "above_2": share(int((bounds > 2).sum()), len(bounds), empty=empty),
        }
        rows.append(Row(keys={"floor": _floor(floor)}, figures=figures))
        if floor == TASKS_FOR_THE_WORST:
            claims.append(_multiple(protocol, figures, len(bounds)))
    return Finding(
        lens="worst_category",
        table="overall",
        model=ALL_MODELS,
        title=f"Does the worst {protocol.category_name} run at a multiple of the mean?",
        definition=f"{DEFINITION} Medians over configurations; above 1, above 2: configurations whose "
        "conservative ratio exceeds that.",
        rows=tuple(rows),
        claims=tuple(claims),
        notes=(
            f"A claim rests on categories of at least {TASKS_FOR_THE_WORST} tasks. The largest of several "
            "rates lies above the mean by chance alone, the more so the smaller the categories.",
        ),
    )


def _multiple(protocol: Protocol, figures: dict[str, Figure], configurations: int) -> Claim:
    text = f"The worst {protocol.category_name} runs at a multiple of the mean wobble"
    point, bound = figures["median_ratio"].value, figures["median_conservative"].value
    if bound is None or point is None:
        return Claim(
            text=f"{text}: {figures['median_conservative'].note or figures['median_ratio'].note}.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point="n/a",
            conservative=f"needs two of at least {TASKS_FOR_THE_WORST} tasks",
        )
    above_1, above_2 = (int(figures[key].numerator or 0) for key in ("above_1", "above_2"))
    return Claim(
        text=f"{text}.",
        status=ClaimStatus.SUPPORTED if bound > 1 else ClaimStatus.NOT_SUPPORTED,
        point=f"median {point:.2f}×",
        conservative=f"median {bound:.2f}× at the Wilson bounds; {above_1}/{configurations} above 1×, "
        f"{above_2}/{configurations} above 2×",
    )


def _floor(floor: int) -> str:
    return f"{floor} tasks"


LENS = Lens("worst_category", order=52, whole=look)
