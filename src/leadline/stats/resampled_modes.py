"""Would the stored run's own most frequent answers return? The published null of behavioural equivalence.

Per item, as many answers as the stored run has are drawn from them with replacement; q is the share of draws
whose most frequent answer is not the stored one. How many items differ is then a sum of independent trials
with chances q. It takes the stored most frequent answer for the truth, so where that was itself luck it
expects too few differences and finds some in runs of the same thing. Source: Probity, Limitations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.stats.two_runs import Tally, blocks

Floats = npt.NDArray[np.float64]

DRAWS = 2000
# Over many items the errors of their chances cancel, and fewer draws of each will do.
_FEWEST, _CHANCES = 200, 2_000_000


def modes_lost(groups: tuple[Tally, ...], stored: npt.ArrayLike, draws: int = DRAWS, seed: int = 0) -> Floats:
    """The chance q of every item that a resample of the first run has another most frequent answer.

    `stored` are the codes of the first run's most frequent answers, by number of the item; ties in a resample
    are decided at random. Returned in the order of `groups`.
    """
    rng = np.random.default_rng(seed)
    modes = np.asarray(stored)
    found = []
    for group in groups:
        chances = np.zeros(len(group.items))
        unstable = (group.a > 0).sum(axis=0) > 1
        a = group.a[:, unstable]
        kept = group.codes[:, unstable] == modes[group.items[unstable]]
        n = a.sum(axis=0)
        lost = np.zeros(a.shape[1])
        times = min(draws, max(_FEWEST, _CHANCES // max(a.shape[1], 1)))
        for block in blocks(times, max(a.size, 1)):
            size = (block.stop - block.start, a.shape[1])
            drawn = rng.multinomial(n, (a / n).T, size=size)
            most = drawn == drawn.max(axis=2, keepdims=True)
            lost += (1 - (most & kept.T).sum(axis=2) / most.sum(axis=2)).sum(axis=0)
        chances[unstable] = lost / times
        found.append(chances)
    return np.concatenate(found) if found else np.zeros(0)


def at_least(count: int, chances: npt.ArrayLike) -> float:
    """P(at least `count` of independent trials with these chances succeed): the Poisson binomial's tail."""
    distribution = np.ones(1)
    for chance in np.sort(np.asarray(chances, dtype=np.float64)):
        if chance > 0:
            distribution = np.convolve(distribution, [1 - chance, chance])
    return float(min(1.0, distribution[count:].sum()))
