"""Is the answer steady when asked again?

A cell is one item under one configuration, with n readings in state ok, of which m carry its most frequent
value. It is measured when n ≥ 2 and unstable when m < n; in a single reading nothing can differ, so cells of
one are left out and counted. Over the measured cells: wobble = share that are unstable; dispersion = mean
1 - m/n; pairwise = mean of 1 - Σ c(c-1) / (n(n-1)), c the count of each value: the chance that two readings
of a cell disagree; rarefied = mean over cells with n ≥ k of 1 - Σ C(c, k) / C(n, k): the wobble that k
readings of each cell would show, k the study's own `rarefy`; acc = share whose most frequent value (of
equally frequent ones the one seen first) is correct. response_rate = readings in state ok over answers asked
for, of all cells.

One configuration: each item has one cell, intervals of shares are Wilson's, of means by bootstrap over items.
All configurations: Σ over cells / number of cells, intervals by bootstrap over items with all their cells, as
the cells of one item are not independent; `wobble_wilson` takes them for independent, as the paper prints.
Sources: Probity, sections 3 and 4 (wobble, dispersion); S. H. Hurlbert, Ecology 52 (1971) 577–586
(rarefaction); E. H. Simpson, Nature 163 (1949) 688 (the pairwise form).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import between, counted, left_out, mean, percent, ratio, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import Floats, Panel
from leadline.lenses.protocol import Sameness
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.steadiest import steadiest
from leadline.lenses.whole import Whole
from leadline.lenses.wobble_by_group import by_group

DEFINITION = (
    "Wobble: share of measured items (two readable answers or more) whose answers are not all the same. "
    "Wobble under exact, declared and rounding sameness: the same, with numbers compared by one rule. "
    "Rarefied: the wobble that m readings of each item would show. Pairwise: chance that two readings of an "
    "item disagree. Dispersion: mean share of an item's readings that differ from its most frequent value. "
    "Accuracy (majority over the same readings of the same items) stands beside them, never in them. "
    "Response rate: readable answers of those asked for."
)
POOLED = "all configurations"
# Of fewer items that waver, too many resamples hold none (tests/stats/test_coverage.py).
ENOUGH = 10
RULES: tuple[Sameness, ...] = ("exact", "declared", "rounding")


def look(whole: Whole) -> list[Finding]:
    """Findings `overall`, `steadiest`, `by category`, `by task`, `by answer type`; none where nothing was
    asked twice."""
    if not whole.repeated:
        return []
    panels = {rule: whole.panel_by(rule).only(whole.repeated) for rule in RULES}
    panel = whole.panel.only(whole.repeated)
    labels = [whole.labels[number] for number in whole.repeated]
    found = [_overall(whole, panel, panels, labels)]
    found += steadiest(whole.protocol, panel, labels)
    found += by_group(whole.protocol, panel, panels["rounding"], labels)
    return found


def _overall(whole: Whole, panel: Panel, panels: dict[Sameness, Panel], labels: Sequence[str]) -> Finding:
    protocol, m = whole.protocol, whole.protocol.stability.rarefy
    is_declared = bool(whole.readings["value_declared"].is_not_null().any())
    flips = panel.rarefied(m)
    rows = []
    for number, label in enumerate(labels):
        read, measured = panel.read[number], panel.measured[number]
        asked = panel.asked[number] > 0
        figures = {"wobble": _unstable(panel, number)}
        figures |= {f"wobble_{rule}": _unstable(panels[rule], number) for rule in RULES}
        figures["rarefied"] = _rarefied(flips[number], read, m, whole)
        figures["pairwise"] = mean(_kept(panel.disagreement[number]), protocol)
        figures["dispersion"] = mean(_kept(panel.dispersion[number]), protocol)
        figures["acc"] = share(int((panel.correct[number] & measured).sum()), int(measured.sum()))
        figures["response_rate"] = ratio(
            panel.n[number, asked], panel.asked[number, asked], protocol, empty="nothing was asked"
        )
        rows.append(Row(keys={"configuration": label}, figures=_declared(figures, is_declared)))
    if len(labels) > 1:
        figures = _pooled(whole, panel, panels, flips)
        rows.append(Row(keys={"configuration": POOLED}, figures=_declared(figures, is_declared)))
    return Finding(
        lens="wobble",
        table="overall",
        model=ALL_MODELS,
        title="Is the answer steady when asked again?",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=(_claim(rows[-1].figures, panel),),
        notes=tuple(_notes(panel, labels, whole)),
    )


def _pooled(whole: Whole, panel: Panel, panels: dict[Sameness, Panel], flips: Floats) -> dict[str, Figure]:
    """All configurations together: an item's cells are resampled with the item."""
    protocol, m = whole.protocol, whole.protocol.stability.rarefy
    measured = panel.measured

    def over_items(per_cell: npt.NDArray[Any], cells: npt.NDArray[Any], note: str = "") -> Figure:
        above = np.where(cells > 0, per_cell, 0).sum(axis=0).astype(np.float64)
        below = cells.sum(axis=0).astype(np.float64)
        there = below > 0
        return ratio(above[there], below[there], protocol, note=note)

    single = left_out(int(panel.once.sum()), "cell")
    figures = {
        "wobble": over_items(panel.unstable, measured, single),
        "wobble_wilson": share(
            int(panel.unstable.sum()), int(measured.sum()), note="takes the cells of one item as independent"
        ),
    }
    figures |= {f"wobble_{rule}": over_items(panels[rule].unstable, measured, single) for rule in RULES}
    enough = ~np.isnan(flips)
    note = _rarefied_note(m, int(panel.read.sum() - enough.sum()), "cells")
    figures["rarefied"] = over_items(flips, enough, note)
    figures["pairwise"] = over_items(panel.disagreement, measured)
    figures["dispersion"] = over_items(panel.dispersion, measured)
    figures["acc"] = over_items(panel.correct, measured)
    figures["response_rate"] = over_items(panel.n, panel.asked)
    return figures


def _unstable(panel: Panel, number: int) -> Figure:
    unstable, measured, once = (
        int(cells[number].sum()) for cells in (panel.unstable, panel.measured, panel.once)
    )
    return share(unstable, measured, note=left_out(once))


def _declared(figures: dict[str, Figure], is_declared: bool) -> dict[str, Figure]:
    if is_declared:
        return figures
    return {**figures, "wobble_declared": unknown("no item declares a precision", 0)}


def _rarefied(flips: Floats, read: npt.NDArray[np.bool_], m: int, whole: Whole) -> Figure:
    kept = _kept(flips)
    note = _rarefied_note(m, int(read.sum()) - len(kept), "items")
    return mean(kept, whole.protocol, note=note if len(kept) else "", empty=f"no item has m = {m} readings")


def _rarefied_note(m: int, left_out: int, of: str) -> str:
    return f"m = {m}" + (f", {of} with fewer readings left out: {left_out}" if left_out else "")


def _kept(per_item: Floats) -> Floats:
    kept: Floats = per_item[~np.isnan(per_item)]
    return kept


def _claim(figures: dict[str, Figure], panel: Panel) -> Claim:
    """Whether answers change at all, for another reason than how a number is written."""
    wobble, rounding = figures["wobble"], figures["wobble_rounding"]
    of = "cells" if len(panel.members) > 1 else "items"
    text = f"Some answers change when they are asked for again: {counted(wobble)} of the {of} are unstable."
    if not rounding.numerator:
        items = int(panel.measured.any(axis=0).sum())
        return Claim(
            text=text,
            status=ClaimStatus.NOT_SUPPORTED,
            point=counted(wobble),
            conservative=f"none of {items} items under rounding sameness; at most "
            f"{percent(share(0, items).high)} of such items",
        )
    return Claim(
        text=text,
        status=ClaimStatus.SUPPORTED,
        point=counted(wobble),
        conservative=f"{counted(rounding)} {between(rounding)} under rounding sameness",
    )


def _notes(panel: Panel, labels: Sequence[str], whole: Whole) -> list[str]:
    notes = []
    asked, measured = (panel.asked > 0).sum(axis=1), panel.measured.sum(axis=1)
    once, unread = panel.once.sum(axis=1), asked - panel.read.sum(axis=1)
    for number, of in (
        (
            once,
            "with a single readable answer (asked once, or all others failed), in which nothing can differ,",
        ),
        (unread, "without any readable answer"),
    ):
        its = [f"{label} {n} of {total}" for label, n, total in zip(labels, number, asked, strict=True) if n]
        if its:
            notes.append(f"Items {of} are left out: {', '.join(its)}.")
    uneven = []
    for label, n in zip(labels, panel.n, strict=True):
        there = n[n >= 2]
        if there.min() != there.max():
            uneven.append(f"{label} {there.min()} to {there.max()}")
    if uneven:
        notes.append(
            f"Items differ in their number of readable answers: {', '.join(uneven)}. Fewer answers have "
            "fewer chances to differ: compare by the rarefied or the pairwise figure."
        )
    if tied := int(panel.tied.sum()):
        notes.append(
            f"In {tied} of {int(measured.sum())} cells several values are the most frequent; accuracy takes "
            "the one seen first."
        )
    unsteady = int(panel.unstable.any(axis=0).sum())
    if len(labels) > 1 and 0 < unsteady < ENOUGH:
        notes.append(
            f"Only {unsteady} items are unstable in any configuration: the bootstrap over items of all "
            f"configurations holds its level from about {ENOUGH} on, and is too narrow below."
        )
    if whole.protocol.partitions:
        notes.append("The samples that split shallow from deep are left out: only failures were asked.")
    return notes


LENS = Lens("wobble", order=50, whole=look)
