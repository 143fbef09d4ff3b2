"""Percentile bootstrap over items: each draw takes as many items as there are, with replacement.

Figures over the same items are resampled together (paired): the caller hands over one number per item,
for instance the difference of two verdicts. The values are ordered before any draw, so that an interval
depends on the data and the seed alone, never on the order of the rows.
Source: B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import NO_INTERVAL, Interval

Floats = npt.NDArray[np.float64]

DRAWS = 2000
# Draws are made a block at a time: at most this many numbers (8 bytes each) are held at once.
_BLOCK = 4_000_000


def bootstrap_mean(values: npt.ArrayLike, draws: int = DRAWS, seed: int = 0, level: float = 0.95) -> Interval:
    """Interval of the mean of `values` [items]; none for no items."""
    per_item = np.asarray(values, dtype=np.float64)
    return bootstrap_ratio(per_item, np.ones_like(per_item), draws, seed, level)


def bootstrap_ratio(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Interval of Σ numerators / Σ denominators, both [items], items drawn with both their numbers.

    An end is None where it is not finite: some draws hold no item with a denominator at all.
    """
    if np.size(numerators) == 0:
        return NO_INTERVAL
    return percentiles(resampled_ratio(numerators, denominators, draws, np.random.default_rng(seed)), level)


def bootstrap_difference(
    first: tuple[npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike],
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Interval of the ratio of `first` less that of `second`, each (numerators, denominators) [items].

    For two sets of different items, each resampled by itself; none when one of them is empty. Denominators
    are above zero. For the same items twice, resample the differences: `bootstrap_ratio`.
    """
    if np.size(first[0]) == 0 or np.size(second[0]) == 0:
        return NO_INTERVAL
    rng = np.random.default_rng(seed)
    return percentiles(resampled_ratio(*first, draws, rng) - resampled_ratio(*second, draws, rng), level)


def bootstrap_median(
    values: npt.ArrayLike, draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> Interval:
    """Interval of the median of `values` [items]; none for no items.

    The median needs the one or two middle values of a resample only, and these can be drawn directly: the
    k-th smallest of n uniform numbers follows Beta(k, n-k+1), the next one given it is the smallest of the
    n-k that lie above. Mapping both through the ordered values gives the bootstrap median exactly.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n == 0:
        return NO_INTERVAL
    rng = np.random.default_rng(seed)
    middle = (n + 1) // 2
    lower = rng.beta(middle, n - middle + 1, size=draws)
    medians = ordered[_position(lower, n)]
    if n % 2 == 0:
        upper = 1 - (1 - lower) * rng.random(draws) ** (1 / (n - middle))
        medians = (medians + ordered[_position(upper, n)]) / 2
    return percentiles(medians, level)


def resampled_ratio(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, draws: int, rng: np.random.Generator
) -> Floats:
    """The ratio in each resample of items [draws]; infinite where a resample has nothing to divide by."""
    # One complex number per pair: numpy orders these, by real part first, far faster than rows of a table.
    pairs = np.asarray(numerators, np.float64) + 1j * np.asarray(denominators, np.float64)
    # A resample of items is fully described by how often each distinct pair is in it: a multinomial draw.
    # Verdicts have two or three distinct values, so this costs the same for a hundred items and a million.
    distinct, counts = np.unique(pairs, return_counts=True)
    columns = np.column_stack([distinct.real, distinct.imag])
    return np.concatenate([quotients(weights @ columns) for weights in resample_counts(counts, draws, rng)])


def _position(uniform: Floats, n: int) -> npt.NDArray[np.int64]:
    return np.minimum((uniform * n).astype(np.int64), n - 1)


def resample_counts(
    counts: npt.NDArray[np.int64], draws: int, rng: np.random.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    """How often each distinct value is in each resample: blocks of [draws, distinct]."""
    items = int(counts.sum())
    block = max(1, _BLOCK // len(counts))
    for start in range(0, draws, block):
        yield rng.multinomial(items, counts / items, size=min(block, draws - start))


def quotients(sums: Floats) -> Floats:
    """Numerator over denominator of [draws, 2]; infinite where nothing stands below."""
    ratios = np.full(len(sums), np.inf)
    np.divide(sums[:, 0], sums[:, 1], out=ratios, where=sums[:, 1] != 0)
    return ratios


def percentiles(draws: Floats, level: float) -> Interval:
    """The ends that hold the middle `level` of `draws`; an end is None where it is not finite."""
    # "lower" and "higher" pick values that were drawn: no arithmetic between a finite and an infinite one.
    low = float(np.quantile(draws, (1 - level) / 2, method="lower"))
    high = float(np.quantile(draws, (1 + level) / 2, method="higher"))
    return Interval(low if np.isfinite(low) else None, high if np.isfinite(high) else None)
