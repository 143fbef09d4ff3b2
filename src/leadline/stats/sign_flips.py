"""Is a change more than chance, when every item was seen before and after it?

If nothing changed, either side of an item might as well have been the other: its difference is as likely to
have the opposite sign. So the signs of the items' differences are flipped. Items, not cells, since the cells
of one item resemble each other: McNemar's test over discordant cells takes them for independent, and is not
valid.

Sources: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and G. K. Smyth, Statistical
Applications in Genetics and Molecular Biology 9 (2010) article 39 (p-values of drawn signs, never zero).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.stats.bootstrap import DRAWS

# Of so many items that changed at all, every pattern of signs is gone through.
EXACT_ITEMS = 12
# Sums of fractions that are equal on paper may differ in their last digits.
_ROUNDING = 1e-9
# Draws are made a block at a time: about this many numbers are held at once.
_BLOCK = 1_000_000


class SignFlips(NamedTuple):
    """A two-sided p, and whether all patterns of signs were gone through (else they were drawn)."""

    p: float
    is_exact: bool


def sign_flip_p(differences: npt.ArrayLike, draws: int = DRAWS, seed: int = 0) -> SignFlips:
    """Two-sided p of the sum of `differences` [items]; items that did not change have no sign to flip.

    Five items that all change one way:

    >>> sign_flip_p([1, 1, 2, 1, 3])
    SignFlips(p=0.0625, is_exact=True)
    """
    values = np.asarray(differences, dtype=np.float64)
    sizes, counts = np.unique(np.abs(values[values != 0]), return_counts=True)
    observed = abs(float(np.sort(values).sum())) - _ROUNDING * max(1.0, float(sizes.max(initial=0.0)))
    changed = int(counts.sum())
    if changed <= EXACT_ITEMS:
        patterns = np.arange(2**changed)[:, None] >> np.arange(changed) & 1
        sums = (2 * patterns - 1) @ np.repeat(sizes, counts)
        return SignFlips(float((np.abs(sums) >= observed).mean()), True)
    rng = np.random.default_rng(seed)
    reached = 0
    step = max(1, _BLOCK // len(sizes))
    for start in range(0, draws, step):
        # Of equal sizes only how many are positive matters.
        positive = rng.binomial(counts, 0.5, size=(min(step, draws - start), len(sizes)))
        reached += int((np.abs((2 * positive - counts) @ sizes) >= observed).sum())
    return SignFlips((1 + reached) / (1 + draws), False)
