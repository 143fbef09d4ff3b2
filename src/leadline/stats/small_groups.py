"""Bootstrap intervals of the means of very many small groups: tasks under configurations, by the thousand.

For a group of few items the resamples themselves (how often each place is in each draw) depend on the number
of items and the seed alone, so they are drawn once for all groups of one size. The interval of a group is
what `bootstrap_mean` gives but for the draws; it depends on the group's own values, not on other groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from leadline.stats.bootstrap import DRAWS, Floats, bootstrap_mean
from leadline.stats.intervals import NO_INTERVAL, Interval

# Above this many items, a draw by distinct values is faster than one by places.
SMALL = 64


def bootstrap_means(
    groups: Sequence[Floats], draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> list[Interval]:
    """Interval of the mean of each group's values, groups of any size; none for a group without items.

    >>> bootstrap_means([np.array([0.5, 0.5]), np.array([])])
    [Interval(low=0.5, high=0.5), Interval(low=None, high=None)]
    """
    found = [NO_INTERVAL] * len(groups)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    for size in sorted({len(group) for group in groups} - {0}):
        at = np.flatnonzero(sizes == size)
        if size > SMALL:
            for place in at.tolist():
                found[place] = bootstrap_mean(groups[place], draws, seed, level)
            continue
        # Ordered values: the draw of an interval hangs on the values alone, not on who has which.
        values = np.sort(np.stack([groups[place] for place in at.tolist()]), axis=1)
        means = _resamples(size, draws, seed) @ values.T / size
        low = np.quantile(means, (1 - level) / 2, axis=0, method="lower")
        high = np.quantile(means, (1 + level) / 2, axis=0, method="higher")
        for place, one, other in zip(at.tolist(), low, high, strict=True):
            found[place] = Interval(float(one), float(other))
    return found


@lru_cache(maxsize=SMALL)
def _resamples(items: int, draws: int, seed: int) -> Floats:
    """How often each of `items` places is in each draw [draws, items]."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(items, np.full(items, 1 / items), size=draws).astype(np.float64)
