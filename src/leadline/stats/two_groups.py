"""Two groups of items, each with a pooled ratio: how far apart they are, with items as what is drawn.

An item gives one number to each configuration that answered it, and these resemble each other; so items, not
cells, are resampled, and items, not cells, change groups in the permutation.
Sources: B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 8 (two samples) and 15
(permutation); B. Phipson and G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010)
article 39 (p-values that are never zero).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.stats.bootstrap import DRAWS, percentiles, quotients, resample_counts
from leadline.stats.intervals import NO_INTERVAL, Interval

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Of so many ways to deal items out to the groups every one is gone through.
EXACT_WAYS = 20_000
# Resamples are made a block at a time: about this many numbers are held at once.
_BLOCK = 1_000_000
# Sums of fractions that are equal on paper may differ in their last digits.
_ROUNDING = 1e-9


class Counts(NamedTuple):
    """What one group of items adds up: a numerator and a denominator of each item, both [items]."""

    numerators: Floats
    denominators: Floats

    @property
    def ratio(self) -> float:
        """Σ numerators / Σ denominators; nan where nothing stands below."""
        below = float(self.denominators.sum())
        return float(self.numerators.sum()) / below if below else float("nan")


class GroupIntervals(NamedTuple):
    """Intervals of the two ratios and of the first less the second, from the same draws."""

    of: Interval
    against: Interval
    difference: Interval


def bootstrap_groups(
    of: Sequence[Counts],
    against: Sequence[Counts],
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> list[GroupIntervals]:
    """Percentile intervals of several figures of the same two groups, the items of each drawn by themselves.

    All of `of` go over the same items in the same order, and so do all of `against`: the figures share their
    resamples. None where a group is empty. Every denominator is above zero: an item that was not measured is
    no item of its group.
    """
    if not of or not len(of[0].numerators) or not len(against[0].numerators):
        return [GroupIntervals(NO_INTERVAL, NO_INTERVAL, NO_INTERVAL) for _ in of]
    rng = np.random.default_rng(seed)
    first, second = (_resampled_ratios(group, draws, rng) for group in (of, against))
    return [
        GroupIntervals(*(percentiles(drawn, level) for drawn in (one, other, one - other)))
        for one, other in zip(first, second, strict=True)
    ]


def _resampled_ratios(group: Sequence[Counts], draws: int, rng: np.random.Generator) -> Floats:
    """The ratio of every figure in each resample of the group's items [figures, draws]."""
    sums = resampled_sums(group, draws, rng)
    found: Floats = (sums[:, 0::2] / sums[:, 1::2]).T
    return found


def resampled_sums(group: Sequence[Counts], draws: int, rng: np.random.Generator) -> Floats:
    """Numerator, then denominator of every figure in each resample of items [draws, 2 · figures]."""
    table = np.column_stack([column for counts in group for column in counts])
    items = len(table)
    found = np.empty((draws, table.shape[1]))
    step = max(1, _BLOCK // items)
    for start in range(0, draws, step):
        block = min(step, draws - start)
        picks = rng.integers(0, items, size=(block, items), dtype=np.int32)
        places = picks + (np.arange(block, dtype=np.int64) * items)[:, None]
        weights = np.bincount(places.reshape(-1), minlength=block * items).reshape(block, items)
        found[start : start + block] = weights.astype(np.float64) @ table
    return found


def bootstrap_change(
    before: Counts, after: Counts, draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> Interval:
    """Interval of the ratio of `after` less that of `before`, two ways to count over the same items [items].

    Items are drawn with all four of their numbers. An end is None where it is not finite.
    """
    if not len(before.numerators):
        return NO_INTERVAL
    table = np.column_stack([*before, *after]).astype(np.float64)
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    with np.errstate(invalid="ignore"):
        changes = [
            quotients(sums[:, 2:]) - quotients(sums[:, :2])
            for sums in (weights @ distinct for weights in resample_counts(counts, draws, rng))
        ]
    return percentiles(np.nan_to_num(np.concatenate(changes), nan=np.inf, posinf=np.inf), level)


class Relabelled(NamedTuple):
    """A two-sided p, and in how many ways the items could be dealt out, all of which were gone through; None
    where these are so many that deals were drawn."""

    p: float
    ways: int | None


def relabelled_p(of: Counts, against: Counts, permutations: int = DRAWS, seed: int = 0) -> Relabelled:
    """Two-sided p of the difference of two ratios, if any items of both might have been the first group.

    Where there are at most `EXACT_WAYS` ways to choose the first group, p is the share of them with a
    difference at least as large, whatever `permutations` is. Else p = (1 + permutations with such a
    difference) / (1 + permutations). Either is valid for any number of items, even two. Every denominator is
    above zero, no group is empty.

    >>> import numpy as np
    >>> three = np.full(3, 4.0)
    >>> relabelled_p(Counts(np.array([3.0, 4, 4]), three), Counts(np.array([0.0, 1, 0]), three))
    Relabelled(p=0.1, ways=20)
    """
    size = len(of.numerators)
    table = np.column_stack([np.concatenate(pair) for pair in zip(of, against, strict=True)])
    ways = comb(len(table), size)
    if ways <= EXACT_WAYS:
        sums = _every_choice(table, min(size, len(table) - size))
        reached = _reaching(sums, table.sum(axis=0), of, against)
        return Relabelled(reached / ways, ways)
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    # Which items are the first group is told by how many of each kind are in it.
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(counts, size, size=permutations)
    reached = _reaching(drawn @ distinct, counts @ distinct, of, against)
    return Relabelled((1 + reached) / (1 + permutations), None)


def _every_choice(table: Floats, size: int) -> Floats:
    """The sums of every choice of `size` rows of `table` [items, 2]: [choices, 2]."""
    places = chain.from_iterable(combinations(range(len(table)), size))
    chosen = np.fromiter(places, dtype=np.int64).reshape(-1, size)
    sums: Floats = table[chosen].sum(axis=1)
    return sums


def _reaching(sums: Floats, whole: Floats, of: Counts, against: Counts) -> int:
    """How many choices, by their sums [choices, 2], lie as far from the rest as `of` does from `against`."""
    rest = whole - sums
    differences = np.abs(sums[:, 0] / sums[:, 1] - rest[:, 0] / rest[:, 1])
    return int((differences >= abs(of.ratio - against.ratio) - _ROUNDING).sum())
