"""What a change of the items did to the answers: the same items and configurations, before and after.

The change is one of the benchmark, such as windows that were cut anew; another study holds the answers from
before it. A cell is an item under one configuration, and takes part when it was measured in both studies.
Over these cells: before, after = unstable cells of all (Wilson); fall = before less after, so that a positive
one is a fall of wobble. Its interval resamples items with both their sides; fall_newcombe is the published
interval, which takes the two sides, and all cells, as independent. acc_before, acc_after: cells whose
majority is right; acc_rise = after less before, items resampled. p: the sign of each item's difference is
flipped. An exact McNemar test over discordant cells is not valid here: the cells of one item are dependent.

Complete cells have all their answers on both sides, each side's being the most (readable or not) that their
configuration has of any of these items there: fewer answers have fewer chances to differ, so that a side with
fewer looks steadier. Rarefied figures compare the same number of answers on both sides.
Source: Probity, section 5 and Table 7; the bootstrap that keeps pairs and the permutation are added here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    bootstrapped,
    count,
    counted,
    in_points,
    p_value,
    points,
    ratio,
    share,
    unknown,
    without_spread,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.groups import item_groups
from leadline.lenses.protocol import Protocol, Registered
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.repair_sides import Part, Sides
from leadline.lenses.whole import Whole
from leadline.stats.alike import alike
from leadline.stats.bootstrap import bootstrap_ratio
from leadline.stats.intervals import newcombe
from leadline.stats.sign_flips import sign_flip_p

ALL_TASKS = "all tasks"
WOBBLE, COMPLETE = "wobble", "wobble, complete cells"
ROUNDING, RAREFIED = "wobble, rounding", "wobble, rarefied"
# Of fewer items nothing can be resampled; of fewer that waver, too many resamples hold none.
ITEMS, ENOUGH = 2, 10
DEFINITION = (
    "Cells (an item under a configuration) that were measured (two readable answers or more) in both "
    "studies. before, after: unstable ones of all cells. fall: before less after; positive: the change "
    "lowered wobble. Its interval resamples items with both their sides, which is the right one. "
    "fall_newcombe: as published, takes the two sides and all cells as independent. acc_rise: accuracy of "
    "the majority after less before. p: signs of the items' differences flipped, two-sided; McNemar's test "
    "over discordant cells is not valid, as the cells of one item are dependent. Complete cells: on both "
    "sides as many readable answers as their configuration has answers, readable or not, to any of these "
    "items. Rarefied: the wobble that a common number of answers would show."
)
OUTCOMES = {"holds": ClaimStatus.SUPPORTED, "fails": ClaimStatus.NOT_SUPPORTED}


def look(whole: Whole) -> list[Finding]:
    """Findings `by task` and, with a registered prediction, `registered`; none without readings from
    before."""
    told = whole.protocol.before
    if whole.before is None:
        return []
    sides = Sides(whole)
    rows = _rows(whole, sides)
    notes = list(told.notes) if told else []
    finding = Finding(
        lens="repair",
        table="by task",
        model=ALL_MODELS,
        title="What did the change of the items change?",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=(_claim(rows, told.study if told else "the study before"),),
        notes=tuple(notes + _notes(whole, sides)),
    )
    registered = told.registered if told else None
    return [finding, *([_registered(registered)] if registered else [])]


def _rows(whole: Whole, sides: Sides) -> list[Row]:
    """All tasks by every measure, the study's own first; then each task."""
    protocol, m = whole.protocol, whole.protocol.stability.rarefy
    if not sides.measured.any():
        return []
    wobble = sides.wobble(sides.measured), sides.accuracy(sides.measured)
    complete = sides.wobble(sides.complete), sides.accuracy(sides.complete)
    measures: dict[str, dict[str, Figure]] = {
        WOBBLE: _counted(*wobble, protocol, pooled=True),
        COMPLETE: _counted(*complete, protocol, pooled=True),
    }
    numbers = np.isin(sides.after.answer_types, ("number", "parts")).any()
    if numbers and protocol.stability.sameness != "rounding":
        rounded = Sides(whole, "rounding")
        part = rounded.wobble(rounded.measured)
        measures[ROUNDING] = _counted(part, None, protocol, pooled=True)
    measures[RAREFIED] = _means(sides.rarefied(m), protocol, m)
    rows = [Row(keys={"task": ALL_TASKS, "measure": name}, figures=its) for name, its in measures.items()]
    for group in item_groups(sides.after, "task"):
        its = np.zeros(len(sides.after.items), dtype=bool)
        its[group.items] = True
        if sides.measured[:, its].any():
            figures = _counted(wobble[0].of(its), wobble[1].of(its), protocol, pooled=False)
            rows.append(Row(keys={"task": group.name, "measure": WOBBLE}, figures=figures))
    return rows


def _counted(part: Part, accuracy: Part | None, protocol: Protocol, *, pooled: bool) -> dict[str, Figure]:
    """The figures of cells that are counted; the test is of all tasks together."""
    items, cells = _sizes(part)
    sums = [round(float(side.sum())) for side in (part.before, part.after)]
    figures = {"items": count(items), "cells": count(cells)}
    figures |= {name: share(above, cells) for name, above in zip(("before", "after"), sums, strict=True)}
    figures["fall"] = _difference(part, protocol)
    if cells:
        ends = newcombe(sums[0], cells, sums[1], cells)
        figures["fall_newcombe"] = Figure(
            value=figures["fall"].value,
            denominator=cells,
            low=ends.low,
            high=ends.high,
            method="newcombe over cells",
            note="takes the two sides, and the cells of one item, as independent",
        )
    else:
        figures["fall_newcombe"] = unknown("no such cells", 0)
    if pooled:
        figures["p"] = _p(part, protocol)
    if accuracy is not None:
        right = [round(float(side.sum())) for side in (accuracy.before, accuracy.after)]
        figures["acc_before"], figures["acc_after"] = (share(above, cells) for above in right)
        figures["acc_rise"] = _difference(Part(accuracy.after, accuracy.before, accuracy.cells), protocol)
    return figures


def _means(part: Part, protocol: Protocol, m: int) -> dict[str, Figure]:
    """The figures of cells that each have a fraction."""
    items, cells = _sizes(part)
    there = part.cells > 0
    figures = {"items": count(items), "cells": count(cells)}
    for name, side in (("before", part.before), ("after", part.after)):
        figures[name] = ratio(side[there], part.cells[there], protocol, note=f"m = {m}")
    figures["fall"] = _difference(part, protocol)
    figures["p"] = _p(part, protocol)
    return figures


def _sizes(part: Part) -> tuple[int, int]:
    return int((part.cells > 0).sum()), int(part.cells.sum())


def _difference(part: Part, protocol: Protocol) -> Figure:
    """The first side less the second, items resampled with both; of one item there is no interval."""
    items, cells = _sizes(part)
    if not cells:
        return unknown("no such cells", 0)
    there = part.cells > 0
    change, below = (part.before - part.after)[there], part.cells[there]
    value = float(np.sort(change).sum()) / cells
    method = bootstrapped(protocol)
    if items < ITEMS:
        return Figure(
            value=value, denominator=cells, method=method, note=f"1 item: at least {ITEMS} have an interval"
        )
    if alike(change, below):
        return without_spread(
            value, (None, cells), items, f"all {items} items alike: not resampled", is_difference=True
        )
    ends = bootstrap_ratio(change, below, protocol.bootstrap_draws, protocol.bootstrap_seed)
    return Figure(value=value, denominator=cells, low=ends.low, high=ends.high, method=method)


def _p(part: Part, protocol: Protocol) -> Figure:
    items = _sizes(part)[0]
    if items < ITEMS:
        return unknown("too few items", items)
    draws, seed = protocol.stability.permutations, protocol.stability.permutation_seed
    p, exact = sign_flip_p(part.before - part.after, draws, seed)
    method = "all patterns" if exact else f"{draws} draws, seed {seed}"
    return p_value(p, f"signs of items flipped, {method}, two-sided", items)


def _claim(rows: list[Row], study: str) -> Claim:
    """Whether wobble is lower after the change."""
    if not rows or rows[0].figures["p"].value is None:
        return Claim(
            text=f"Whether the change since {study} lowers wobble cannot be told: fewer than {ITEMS} items "
            "were answered repeatedly in both studies.",
            status=ClaimStatus.NOT_ESTIMABLE,
        )
    figures: Mapping[str, Figure] = rows[0].figures
    fall, p = figures["fall"], figures["p"].value or 0.0
    items = int(figures["items"].value or 0)
    # Were they all to change one way, no p could be smaller.
    out_of_reach = 2.0 ** (1 - items) > SIGNIFICANCE
    others = {row.keys["measure"]: row.figures["fall"] for row in rows if row.keys["task"] == ALL_TASKS}
    left = [f"{in_points(fall.low)} at the lower end of the interval over items", f"p = {p:.2g}"]
    for measure, said in ((ROUNDING, "under rounding sameness"), (COMPLETE, "over complete cells")):
        if measure in others and others[measure].value is not None:
            left.append(f"{in_points(others[measure].value)} {said}")
    return Claim(
        text=f"The change since {study} lowers wobble: {counted(figures['before'])} before, "
        f"{counted(figures['after'])} after it, over the same cells of {items} items.",
        status=ClaimStatus.UNREACHABLE
        if out_of_reach
        else ClaimStatus.SUPPORTED
        if above_zero(fall) and p <= SIGNIFICANCE
        else ClaimStatus.NOT_SUPPORTED,
        point=f"a fall of {points(fall)}",
        conservative="; ".join(left),
    )


def _registered(one: Registered) -> Finding:
    """The threshold, what was measured by the rules of the registration, and whether the prediction holds."""
    figures = {
        "threshold": Figure(value=one.threshold, method="registered"),
        "measured": one.figures[0] if one.figures else unknown(one.reason),
    }
    if len(one.figures) > 1:
        figures["measured_items"] = one.figures[-1]  # the bootstrap over items
    ends = [end for figure in one.figures for end in (figure.low, figure.high) if end is not None]
    end = (max if one.direction == "below" else min)(ends, default=None)
    value = figures["measured"].value
    return Finding(
        lens="repair",
        table="registered",
        model=ALL_MODELS,
        title="What was predicted before the change was answered?",
        definition="measured: the predicted statistic after the change (of a paired prediction: after less "
        "before), by the rules of the registration; its interval over cells, and (measured_items) over "
        "items. The verdict is that of `leadline verdict`.",
        rows=(Row(keys={"prediction": one.sentence}, figures=figures),),
        claims=(
            Claim(
                text=f"Registered beforehand: {one.sentence}. The prediction "
                + (f"{one.outcome}: {one.reason}." if one.outcome != "no verdict" else f"has {one.outcome}."),
                status=OUTCOMES.get(one.outcome, ClaimStatus.NOT_ESTIMABLE),
                point=f"{value:.3f}, threshold {one.threshold:g}" if value is not None else "",
                conservative=f"{end:.3f} at the unfavourable end of its intervals" if end is not None else "",
            ),
        ),
        notes=(f"No verdict: {one.reason}.",) if one.outcome == "no verdict" else (),
    )


def _notes(whole: Whole, sides: Sides) -> list[str]:
    notes = []
    lost = int(((sides.before.asked > 0) & (sides.after.asked > 0) & ~sides.measured).sum())
    if lost:
        notes.append(f"Cells without two readable answers on either side left out: {lost}.")
    if sides.once:
        notes.append(f"Configurations with a single answer to each item left out: {sides.once}.")
    absent = len(whole.repeated) - len(sides.members)
    if absent > 0:
        notes.append(f"Configurations without repeated answers from before left out: {absent}.")
    either = (sides.before.unstable | sides.after.unstable) & sides.measured
    unsteady = int(either.any(axis=0).sum())
    if 0 < unsteady < ENOUGH:
        notes.append(
            f"Only {unsteady} items are unstable on either side: the bootstrap over items holds its level "
            f"from about {ENOUGH} on, and is too narrow below; p holds for any number."
        )
    counts = [one.n[sides.measured] for one in (sides.before, sides.after)]
    if sides.measured.any() and len({int(n) for each in counts for n in np.unique(each)}) > 1:
        ranges = [f"{each.min()} to {each.max()}" for each in counts]
        notes.append(
            f"Readable answers of a cell: {ranges[0]} before, {ranges[1]} after. Fewer have fewer chances to "
            f"differ: compare by the complete cells, or rarefied (m = {whole.protocol.stability.rarefy})."
        )
    return notes


LENS = Lens("repair", order=57, whole=look)
