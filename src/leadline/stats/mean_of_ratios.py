"""Bootstrap of a mean of ratios: each configuration's share first, then the mean over configurations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import NO_INTERVAL, Interval
from leadline.stats.rank_bootstrap import percentiles

# At most this many numbers (8 bytes each) of weights are held at once.
_BLOCK = 2_000_000


def bootstrap_mean_of_ratios(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, draws: int, seed: int
) -> Interval:
    """Interval of the mean over rows of Σ numerators / Σ denominators, both [rows, items].

    Items are drawn with all their rows. A row without a denominator in a draw is left out of that draw's
    mean, a draw without any out of the interval. Items alike in every row are counted rather than
    drawn one by one.
    """
    above, below = np.atleast_2d(numerators), np.atleast_2d(denominators)
    if above.shape[1] == 0:
        return NO_INTERVAL
    kinds, counts = np.unique(np.concatenate([above, below]), axis=1, return_counts=True)
    tops, bottoms = (half.T.astype(np.float64) for half in np.split(kinds, 2))
    rng, items = np.random.default_rng(seed), int(counts.sum())
    block = max(1, _BLOCK // len(counts))
    found = []
    for start in range(0, draws, block):
        weights = rng.multinomial(items, counts / items, size=min(block, draws - start)).astype(np.float64)
        of = weights @ bottoms
        ratios = np.divide(weights @ tops, of, out=np.zeros_like(of), where=of > 0)
        rows = (of > 0).sum(axis=1)
        means = np.full(len(rows), np.nan)
        np.divide(ratios.sum(axis=1), rows, out=means, where=rows > 0)
        found.append(means)
    return percentiles(np.concatenate(found))
