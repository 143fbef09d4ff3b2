"""Interval for the difference of two shares of the same items, which does not collapse where few differ."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from leadline.stats.intervals import NO_INTERVAL, Interval, normal_quantile

_CLOSE = 1e-13  # of two ends, on a scale from -1 to 1


def tango(only_first: float, only_second: float, items: int, level: float = 0.95) -> Interval:
    """Score interval of (only_second - only_first) / items: second share less the first, on the same items.

    only_first, only_second: items that one of the two alone gets right; fractions where items have them. None
    without items. Where no item tells the two apart, it says how much difference that leaves open; resampling
    such items says [0, 0].
    Source: T. Tango, Statistics in Medicine 17 (1998) 891–908, eqs. 4–8.
    """
    if min(only_first, only_second) < 0 or only_first + only_second > items:
        raise ValueError(f"{only_first} and {only_second} of {items} items")
    if items == 0:
        return NO_INTERVAL
    z = normal_quantile((1 + level) / 2)
    found = (only_second - only_first) / items

    def off(difference: float, side: int) -> float:
        return score(only_first, only_second, items, difference) - side * z

    # The score falls as the supposed difference grows; at the ends of the scale it is without bound.
    edge = 1 - 1e-12
    low = -1.0 if found <= -edge else _falls_to_zero(lambda at: off(at, 1), -edge, found)
    high = 1.0 if found >= edge else _falls_to_zero(lambda at: off(at, -1), found, edge)
    return Interval(low, high)


def _falls_to_zero(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0 from `low` to `high`, by halving (scipy.optimize loads slowly)."""
    while high - low > _CLOSE:
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def score(only_first: float, only_second: float, items: int, difference: float) -> float:
    """How many standard errors the counts lie above a true `difference`, whose variance is that of the most
    likely shares which have this difference."""
    above = only_second - only_first - items * difference
    if above == 0:
        return 0.0
    # The larger root of 2n q² + b q + c = 0: the share that the first alone gets right.
    b = -only_first - only_second + (2 * items - only_second + only_first) * difference
    c = -only_first * difference * (1 - difference)
    share = (sqrt(max(0.0, b * b - 8 * items * c)) - b) / (4 * items)
    variance = items * (2 * share + difference * (1 - difference))
    if variance <= 0:
        return float("inf") if above > 0 else float("-inf")
    return float(above / sqrt(variance))
