"""Split-half reliability: is a measure of tasks the same on two halves of the samples?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# As close to -1 as this, the correction divides by nothing.
_REVERSED = 1e-12
# One reading cannot disagree with itself: a cell needs two of them within a half to be counted in it.
READINGS_PER_HALF = 2


def spearman_brown(halves: npt.ArrayLike) -> Floats:
    """What a correlation of two halves says of the whole length: 2r / (1 + r); nan where r is -1 or nan.

    Source: C. Spearman and W. Brown, British Journal of Psychology 3 (1910) 271–295 and 296–322.

    >>> spearman_brown([0.5, 0.0, -1.0])
    array([0.66666667, 0.        ,        nan])
    """
    r = np.asarray(halves, np.float64)
    found = np.full(r.shape, np.nan)
    np.divide(2 * r, 1 + r, out=found, where=1 + r > _REVERSED)
    return found


def parity(samples: npt.NDArray[np.integer]) -> Mask:
    """The half of the even sample numbers [1, samples]; the odd ones are the other."""
    halves: Mask = (samples % 2 == 0)[None, :]
    return halves


def random_halves(samples: int, splits: int, seed: int) -> Mask:
    """`splits` times a random half of `samples` samples [splits, samples]; the smaller half if it is odd."""
    first = np.zeros((splits, samples), dtype=bool)
    first[:, : samples // 2] = True
    return np.random.default_rng(seed).permuted(first, axis=1)


class HalfRates(NamedTuple):
    """The share of unstable items of each task in each half, both [splits, tasks]; nan, nothing measured."""

    first: Floats
    second: Floats


def half_rates(
    codes: npt.NDArray[np.integer], tasks: npt.NDArray[np.integer], number: int, halves: Mask
) -> HalfRates:
    """Wobble by task in `halves` [splits, samples] and in what they leave over.

    `codes` [items, samples] says which value each reading carries, -1 none. `tasks` [items] are from 0 to
    `number` - 1. An item is measured in a half that holds at least two of its readings. An item that says the
    same in all samples and lacks none is stable in every half, so that only the others are split.
    """
    there = codes >= 0
    highest = codes.max(axis=1, initial=-1)
    lowest = np.where(there, codes, highest[:, None]).min(axis=1, initial=np.iinfo(codes.dtype).max)
    plain = there.all(axis=1) & (lowest == highest)
    sizes = np.stack([halves.sum(axis=1), (~halves).sum(axis=1)])
    always = np.bincount(tasks[plain], minlength=number)
    measured = (sizes >= READINGS_PER_HALF)[:, :, None] * always[None, None, :].astype(np.float64)
    flips = np.zeros_like(measured)
    split = np.flatnonzero(~plain)
    if len(split):
        by_task = np.argsort(tasks[split], kind="stable")
        its = tasks[split][by_task]
        for half, (enough, differ) in enumerate(_split(codes[split][by_task], halves)):
            _add(measured[half], enough, its)
            _add(flips[half], differ, its)
    rates = np.full_like(flips, np.nan)
    np.divide(flips, measured, out=rates, where=measured > 0)
    return HalfRates(rates[0], rates[1])


def _split(codes: npt.NDArray[np.integer], halves: Mask) -> Iterator[tuple[Mask, Mask]]:
    """For both halves: which items hold two readings or more there, and which say more than one thing."""
    there = codes >= 0
    ordered = np.sort(codes, axis=1)
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    item, column = np.nonzero(new)
    # One row per value of an item: the samples that say so.
    says = (codes[item] == ordered[item, column][:, None]).astype(np.float32)
    first = np.flatnonzero(np.diff(item, prepend=-1))
    named = item[first]
    for half in (halves, ~halves):
        samples = half.T.astype(np.float32)
        enough = there.astype(np.float32) @ samples >= READINGS_PER_HALF
        said = says @ samples > 0
        differ = np.zeros_like(enough)
        if len(first):
            differ[named] = np.add.reduceat(said, first, axis=0, dtype=np.int16) >= 2
        yield enough, differ


def _add(sums: Floats, rows: Mask, group: npt.NDArray[np.integer]) -> None:
    """Add `rows` [rows, splits], which are in order of `group`, to `sums` [splits, groups]."""
    first = np.flatnonzero(np.diff(group, prepend=-1))
    sums[:, group[first]] += np.add.reduceat(rows, first, axis=0, dtype=np.int32).T
