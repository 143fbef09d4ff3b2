"""A permutation test of Spearman's ρ: could scores dealt out at random agree so well, or so badly?"""

from __future__ import annotations

from itertools import permutations as permutations_of

import numpy as np
import numpy.typing as npt

from leadline.stats.ranks import average_ranks

Floats = npt.NDArray[np.float64]

# So many things have 5,040 orders.
EXACT_THINGS = 7
# At most this many numbers (8 bytes each) are permuted at once.
_BLOCK = 2_000_000
_ROUNDING = 1e-9


def spearman_p(first: npt.ArrayLike, second: npt.ArrayLike, permutations: int, seed: int) -> float:
    """Two-sided p of Spearman's ρ over things [things].

    Of at most `EXACT_THINGS` all orders are gone through: p is the share of them as far from 0. Of more it is
    1 + permutations as far from 0, over 1 + all of them. Valid for few things and for many ties; 1 where one
    side ties them all. The null depends on the scores and the seed, not on the order of the things. No score
    is nan.
    Source: B. Phipson and G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010)
    article 39.
    """
    mine, its = (average_ranks(side) - (np.size(side) + 1) / 2 for side in (first, second))
    observed = abs(float(mine @ its))
    if len(mine) == 0 or not mine.any() or not its.any():
        return 1.0
    if len(mine) <= EXACT_THINGS:
        orders = np.array(list(permutations_of(its)))
        return float((np.abs(orders @ mine) >= observed - _ROUNDING).mean())
    rng = np.random.default_rng(seed)
    fixed, dealt = np.sort(mine), np.sort(its)
    block = max(1, _BLOCK // len(dealt))
    reached = 0
    for start in range(0, permutations, block):
        trials = np.tile(dealt, (min(block, permutations - start), 1))
        sums = np.abs(rng.permuted(trials, axis=1, out=trials) @ fixed)
        reached += int((sums >= observed - _ROUNDING).sum())
    return (1 + reached) / (1 + permutations)
