"""The wobble of tasks on two halves of the samples, and how well the halves agree: numbers, no figures.

Sample numbers are split into even and odd ones, or at random. Within a half, an item counts that has at least
two readings there, and is unstable when they differ. A task's rate is the share of its items that are
unstable. r is Spearman's correlation of the two halves' rates over tasks; 2r / (1 + r) is what it says of all
samples together.
Sources: Probity, appendix D; C. Spearman and W. Brown, British Journal of Psychology 3 (1910) 271–322.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.lenses.panel import Panel
from leadline.lenses.structural import named_tasks, sums_by
from leadline.stats.rank_correlation import FEWEST, spearman
from leadline.stats.split_half import HalfRates, half_rates, parity, random_halves, spearman_brown

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SPLITS = 1000
# Splits are made a block at a time: at most this many numbers (4 or 8 bytes each) for each array of them.
_BLOCK = 20_000_000


@dataclass(frozen=True)
class SplitHalves:
    """Configurations of a panel with the tasks that have a name; build with `split_halves`."""

    panel: Panel  # items of named tasks only
    places: npt.NDArray[np.int64]  # the task of each item [items]
    tasks: int
    even: Floats  # wobble by task on the even samples [configurations, tasks], nan where not measured
    odd: Floats

    @cached_property
    def unsteady(self) -> Mask:
        """Tasks with an unstable item, on all samples [configurations, tasks]."""
        return np.asarray(sums_by(self.places, self.tasks, self.panel.unstable.astype(np.float64)) > 0)

    @cached_property
    def measured(self) -> Mask:
        """Tasks with an item that was read twice [configurations, tasks]."""
        return np.asarray(sums_by(self.places, self.tasks, self.panel.measured.astype(np.float64)) > 0)

    @property
    def active(self) -> Mask:
        """Tasks that are unsteady in some configuration [tasks]."""
        return np.asarray(self.unsteady.any(axis=0))

    def r(self, chosen: Mask) -> Floats:
        """Correlation of the halves over the `chosen` tasks [configurations]; nan where not defined."""
        return spearman(self.even[:, chosen], self.odd[:, chosen])

    def why(self, number: int, chosen: Mask) -> str:
        """Why a configuration's correlation, or its correction, is not defined; "" where both are."""
        even, odd = self.even[number, chosen], self.odd[number, chosen]
        there = ~(np.isnan(even) | np.isnan(odd))
        if not self.tasks:
            return "the benchmark declares no tasks"
        if not there.any():
            return "no item has two readings in each half" if chosen.any() else "no task wobbles"
        if there.sum() < FEWEST:
            return f"an order needs {FEWEST} tasks, there are {there.sum()}"
        r = self.r(chosen)[number]
        if np.isnan(r):
            return "all tasks wobble alike in one half"
        return (
            "" if not np.isnan(spearman_brown(r)) else "the halves put the tasks in opposite orders: r = -1"
        )

    def random(self, chosen: Mask, seed: int, splits: int = SPLITS) -> Floats:
        """r over the `chosen` tasks for `splits` random halves [configurations, splits].

        A split deals out sample numbers, the same for all items and for all configurations of as many
        samples.
        """
        items = chosen[self.places]
        places = np.cumsum(chosen)[self.places[items]] - 1
        tasks = int(chosen.sum())
        block = max(1, _BLOCK // max(len(places), 1))
        found = np.full((len(self.panel.members), splits), np.nan)
        for number, codes in enumerate(self.panel.codes):
            there = _answered(codes)
            its = codes[np.ix_(items, there)]
            halves = random_halves(len(there), splits, seed)
            for start in range(0, splits, block):
                part = slice(start, start + block)
                rates = half_rates(its, places, tasks, halves[part])
                found[number, part] = spearman(rates.first, rates.second)
        return found


def split_halves(panel: Panel) -> SplitHalves:
    """Even against odd samples of every configuration."""
    names, places = named_tasks(panel)
    if (places < 0).any():
        panel, places = panel.only(items=places >= 0), places[places >= 0]
    rates = [_parity_rates(codes, places, len(names)) for codes in panel.codes]
    even, odd = (
        np.array([getattr(one, half)[0] for one in rates]).reshape(len(rates), len(names))
        for half in ("first", "second")
    )
    return SplitHalves(panel, places, len(names), even, odd)


def median_corrected(panel: Panel) -> tuple[float | None, int]:
    """The median over configurations of the corrected correlation, and over how many of them.

    Over the tasks that wobble in some configuration of the panel; configurations without a defined value are
    left out of the median, which is None where it is defined for none.
    """
    halves = split_halves(panel)
    corrected = spearman_brown(halves.r(halves.active))
    defined = int((~np.isnan(corrected)).sum())
    return (float(np.nanmedian(corrected)) if defined else None), defined


def _answered(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The sample numbers that a configuration has readings of [samples]."""
    return np.flatnonzero((codes >= 0).any(axis=0))


def _parity_rates(codes: npt.NDArray[np.int32], places: npt.NDArray[np.int64], tasks: int) -> HalfRates:
    there = _answered(codes)
    return half_rates(codes[:, there], places, tasks, parity(there))
