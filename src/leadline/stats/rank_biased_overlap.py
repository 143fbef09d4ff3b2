"""How alike two rankings of unequal length are, the first places counting most.

RBO of a ranking A with a ranking B, truncated at the longer one's length D:

    (1 - p) · Σ_{d=1..D} p^(d-1) · |A_1..d ∩ B_1..d| / d

A prefix longer than its ranking is the ranking. Two equal rankings do not reach 1, as nothing is assumed
beyond their ends: the most that rankings of these lengths can reach is reached when the shorter one is the
beginning of the longer one (`ceiling`).
Source: W. Webber, A. Moffat and J. Zobel, ACM Transactions on Information Systems 28 (2010) article 20.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

PERSISTENCE = 0.9


def rank_biased_overlap(
    first: Sequence[int] | npt.NDArray[np.int64],
    second: Sequence[int] | npt.NDArray[np.int64],
    p: float = PERSISTENCE,
) -> float | None:
    """Truncated RBO of two rankings, each without repetition; None when one is empty.

    >>> rank_biased_overlap([4, 2], [4, 2], p=0.5)
    0.75
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if not len(a) or not len(b):
        return None
    # A thing that both rank is in both prefixes from the deeper of its two places on.
    _, at_a, at_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    return _weighted(np.maximum(at_a, at_b), max(len(a), len(b)), p)


def ceiling(first: int, second: int, p: float = PERSISTENCE) -> float | None:
    """The most that rankings of these two lengths can reach; None when one is empty.

    >>> round(ceiling(9, 6), 6)
    0.578681
    """
    if not first or not second:
        return None
    return _weighted(np.arange(min(first, second)), max(first, second), p)


def _weighted(enter: npt.NDArray[np.int64], depth: int, p: float) -> float:
    """`enter`: the prefixes (from 0) at which the common things enter."""
    common = np.bincount(enter, minlength=depth).cumsum()
    at = np.arange(1, depth + 1)
    return float((1 - p) * (p ** (at - 1.0) * common / at).sum())
