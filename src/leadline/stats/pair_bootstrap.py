"""Bootstrap over the members of all pairs: pairs that have a member in common are not independent.

Each draw takes as many members as there are, with replacement; a pair of two different members counts as
often as the product of how often they were drawn, a member with itself never. What a pair shares is not
computed anew. Percentile intervals. Source: the node bootstrap of T. A. B. Snijders and S. P. Borgatti,
Connections 22 (1999) 161–170, without their replacement of self-pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import NO_INTERVAL, Interval

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Fewer members are too few to say anything about members.
MEMBERS = 3


class PairInterval(NamedTuple):
    """An interval, and how many draws held no pair and were left out of it."""

    interval: Interval
    without: int


def pair_weights(members: int, draws: int, seed: int) -> Floats:
    """How often each member is in each draw [draws, members]."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(members, np.full(members, 1 / members), size=draws).astype(np.float64)


def bootstrap_pair_ratio(above: Floats, below: Floats, weights: Floats, level: float = 0.95) -> PairInterval:
    """Interval of Σ above / Σ below over pairs, both [members, members] and 0 where a pair does not count.

    `below` of ones makes it a mean. None for fewer than three members with a pair, or where a draw
    has nothing to divide by (then it is left out and counted).
    """
    if _involved(below != 0) < MEMBERS:
        return PairInterval(NO_INTERVAL, 0)
    top, bottom = (np.einsum("da,ab,db->d", weights, part, weights, optimize=True) for part in (above, below))
    there = bottom > 0
    return _percentiles(top[there] / bottom[there], len(there) - int(there.sum()), level)


def bootstrap_pair_median(values: Floats, pairs: Mask, weights: Floats, level: float = 0.95) -> PairInterval:
    """Interval of the median of `values` over `pairs`, both [members, members]."""
    if _involved(pairs) < MEMBERS:
        return PairInterval(NO_INTERVAL, 0)
    first, second = np.nonzero(pairs)
    listed = values[first, second]
    order = np.argsort(listed, kind="stable")
    listed, first, second = listed[order], first[order], second[order]
    reached = (weights[:, first] * weights[:, second]).cumsum(axis=1)
    total = reached[:, -1]
    there = total > 0
    # The two middle ones of a sorted list with repetitions; the same one where their number is odd.
    low = (reached <= ((total - 1) // 2)[:, None]).sum(axis=1)[there]
    high = (reached <= (total // 2)[:, None]).sum(axis=1)[there]
    return _percentiles((listed[low] + listed[high]) / 2, len(there) - int(there.sum()), level)


def _involved(pairs: Mask) -> int:
    return int((pairs.any(axis=0) | pairs.any(axis=1)).sum())


def _percentiles(drawn: Floats, without: int, level: float) -> PairInterval:
    if not len(drawn):
        return PairInterval(NO_INTERVAL, without)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return PairInterval(Interval(float(low), float(high)), without)
