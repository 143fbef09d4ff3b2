"""Intervals for a share and for the difference of two shares.

Both are a few lines of arithmetic, written out here: every report needs them, and the library that has them
(statsmodels, which the tests compare with) takes a second to import.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    """The two ends of an interval; both are None when it cannot be estimated."""

    low: float | None
    high: float | None


NO_INTERVAL = Interval(None, None)


@lru_cache(maxsize=65_536)  # tables of many small groups ask for the same few counts thousands of times
def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Wilson score interval of `successes / trials`; none when there are no trials.

    Holds its level for small counts and for shares at 0 or 1, where the usual ± interval collapses.
    Source: E. B. Wilson, JASA 22 (1927) 209–212; without continuity correction.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return NO_INTERVAL
    share, z = successes / trials, normal_quantile((1 + level) / 2)
    below = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / below
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / below
    # At 0 and at 1 the exact ends are 0 and 1; the arithmetic may miss them in the last digit.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    return Interval(low, 1.0 if successes == trials else min(1.0, centre + half))


def newcombe(
    successes_1: float, trials_1: float, successes_2: float, trials_2: float, level: float = 0.95
) -> Interval:
    """Interval of the difference of two independent shares, first minus second; none when one has no trials.

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 873–890, method 10 (hybrid of two Wilson
    intervals). For two configurations over the same items it is not the right one: resample the items.
    """
    if trials_1 == 0 or trials_2 == 0:
        return NO_INTERVAL
    first, second = successes_1 / trials_1, successes_2 / trials_2
    (low_1, high_1), (low_2, high_2) = (
        _ends(successes_1, trials_1, level),
        _ends(successes_2, trials_2, level),
    )
    difference = first - second
    return Interval(
        difference - sqrt((first - low_1) ** 2 + (high_2 - second) ** 2),
        difference + sqrt((second - low_2) ** 2 + (high_1 - first) ** 2),
    )


def _ends(successes: float, trials: float, level: float) -> tuple[float, float]:
    low, high = wilson(successes, trials, level)
    assert low is not None and high is not None, "there are trials"
    return low, high


@cache
def normal_quantile(share: float) -> float:
    """The z that the standard normal distribution stays below with chance `share`.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return NormalDist().inv_cdf(share)
