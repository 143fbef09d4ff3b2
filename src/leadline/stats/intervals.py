"""Intervals for a share and for the difference of two shares."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint


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
    low, high = proportion_confint(successes, trials, alpha=1 - level, method="wilson")
    # At 0 and at 1 the exact ends are 0 and 1; the library's arithmetic may miss them in the last digit.
    return Interval(0.0 if successes == 0 else float(low), 1.0 if successes == trials else float(high))


def newcombe(
    successes_1: float, trials_1: float, successes_2: float, trials_2: float, level: float = 0.95
) -> Interval:
    """Interval of the difference of two independent shares, first minus second; none when one has no trials.

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 873–890, method 10 (hybrid of two Wilson
    intervals). For two configurations over the same items it is not the right one: resample the items.
    """
    if trials_1 == 0 or trials_2 == 0:
        return NO_INTERVAL
    low, high = confint_proportions_2indep(
        successes_1, trials_1, successes_2, trials_2, method="newcomb", compare="diff", alpha=1 - level
    )
    return Interval(float(low), float(high))
