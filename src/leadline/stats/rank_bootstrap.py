"""Bootstrap of a rank correlation: the things that are ranked are drawn again, with both their scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import NO_INTERVAL, Interval
from leadline.stats.rank_correlation import spearman_resampled

Floats = npt.NDArray[np.float64]

# At most this many numbers (8 bytes each) of weights are held at once.
_BLOCK = 2_000_000
# An interval out of fewer draws than this share would be that of the draws that happened to be defined.
_DEFINED = 0.9


def resamples(things: int, draws: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """How often each thing is in each of `draws` resamples: blocks of [some draws, things]."""
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // max(1, things))
    for start in range(0, draws if things else 0, block):
        yield rng.multinomial(things, np.full(things, 1 / things), size=min(block, draws - start))


def bootstrap_spearman(first: npt.ArrayLike, second: npt.ArrayLike, draws: int, seed: int) -> Interval:
    """Percentile interval of Spearman's ρ over things [things]; see `percentiles`."""
    found = [spearman_resampled(first, second, weights) for weights in resamples(np.size(first), draws, seed)]
    return percentiles(np.concatenate(found)) if found else NO_INTERVAL


def percentiles(draws: npt.ArrayLike, level: float = 0.95) -> Interval:
    """The middle `level` of the draws that are defined; none when more than one in ten is not (nan).

    >>> percentiles([0.1, 0.2, 0.3, 0.4, float("nan")])
    Interval(low=None, high=None)
    """
    values = np.asarray(draws, np.float64)
    defined = values[~np.isnan(values)]
    if len(values) == 0 or len(defined) < _DEFINED * len(values):
        return NO_INTERVAL
    low = float(np.quantile(defined, (1 - level) / 2, method="lower"))
    high = float(np.quantile(defined, (1 + level) / 2, method="higher"))
    return Interval(low, high)
