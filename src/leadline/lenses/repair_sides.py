"""The same items under the same configurations before and after they were changed, cell by cell.

A cell takes part when it was measured (read twice at least) on both sides. Each item adds up its cells, so
that the sides of an item stay together wherever items are resampled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.panel import Floats, Panel, make_panel
from leadline.lenses.protocol import Sameness
from leadline.lenses.whole import Whole

Mask = npt.NDArray[np.bool_]

# Why readings from before take no part: their items are shown as they were.
UNCHANGED = "unchanged"


class Part(NamedTuple):
    """What each item adds to a figure before and after, and its cells, the same on both sides; all [I]."""

    before: Floats
    after: Floats
    cells: Floats

    def of(self, items: Mask) -> Part:
        """Some of the items."""
        return Part(self.before[items], self.after[items], self.cells[items])


class Sides:
    """Two panels of the same items and configurations [C, I]; configurations that were asked once are left
    out."""

    def __init__(self, whole: Whole, rule: Sameness | None = None) -> None:
        assert whole.before is not None
        rule = rule or whole.protocol.stability.sameness
        after = whole.panel_by(rule)
        counting = whole.before.filter(pl.col("excluded").fill_null("") != UNCHANGED)
        before = make_panel(counting, whole.members, rule)
        shared = np.intersect1d(after.items, before.items)
        before, after = (one.only(items=np.isin(one.items, shared)) for one in (before, after))
        several = [(one.n >= 2).any(axis=1) for one in (before, after)]
        answered = [(one.n >= 1).any(axis=1) for one in (before, after)]
        self.members = [int(number) for number in np.flatnonzero(several[0] & several[1])]
        self.once = int((answered[0] & answered[1]).sum()) - len(self.members)
        self.before: Panel = before.only(self.members)
        self.after: Panel = after.only(self.members)

    @property
    def measured(self) -> Mask:
        """Cells with two readings on both sides [C, I]."""
        both: Mask = self.before.measured & self.after.measured
        return both

    @property
    def complete(self) -> Mask:
        """Cells that have all their answers on both sides: as many as their configuration has of any of these
        items on that side, all of them readable [C, I]."""
        whole = [
            one.n == one.asked.max(axis=1, initial=0, keepdims=True) for one in (self.before, self.after)
        ]
        found: Mask = self.measured & whole[0] & whole[1]
        return found

    def wobble(self, cells: Mask) -> Part:
        """Unstable cells."""
        return _part(self.before.unstable, self.after.unstable, cells)

    def accuracy(self, cells: Mask) -> Part:
        """Cells whose majority is right."""
        return _part(self.before.correct, self.after.correct, cells)

    def rarefied(self, m: int) -> Part:
        """The wobble that m answers would show, of cells with so many on both sides."""
        before, after = self.before.rarefied(m), self.after.rarefied(m)
        return _part(before, after, ~np.isnan(before) & ~np.isnan(after))


def _part(before: npt.NDArray[np.generic], after: npt.NDArray[np.generic], cells: Mask) -> Part:
    # In order of size, so that sums of fractions do not depend on the order of configurations.
    first, second = (
        np.sort(np.where(cells, side.astype(np.float64), 0), axis=0).sum(axis=0) for side in (before, after)
    )
    return Part(first, second, cells.sum(axis=0).astype(np.float64))
