"""Logarithms of factorials and sums of binomials of counts, exact or nearly so."""

from __future__ import annotations

from fractions import Fraction
from math import comb, lgamma

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Up to so many tosses the sum is taken in whole numbers, which costs less than a millisecond.
_EXACT = 2_000


def log_factorial(counts: npt.ArrayLike) -> Floats:
    """log(n!) of whole numbers n ≥ 0, of any shape: each distinct one up to the largest is computed once.

    >>> log_factorial([0, 1, 5]).round(6)
    array([0.      , 0.      , 4.787492])
    """
    whole = np.asarray(counts).astype(np.int64)
    largest = int(whole.max(initial=0))
    return np.array([lgamma(n + 1) for n in range(largest + 1)])[whole]


def fair_tail(successes: int, tosses: int) -> float:
    """The chance of at most `successes` heads in `tosses` of a fair coin.

    >>> fair_tail(1, 3)
    0.5
    """
    if tosses > _EXACT:
        from scipy.special import bdtr

        return float(bdtr(successes, tosses, 0.5))
    ways = sum(comb(tosses, heads) for heads in range(successes + 1))
    return float(Fraction(ways, 2**tosses))
