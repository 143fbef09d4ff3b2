"""Where all units are alike, resampling them shows nothing: intervals that rest on how many they are.

Wilson's of a share, Newcombe's of the difference of two groups, Tango's of a difference on the same units.
Written for means as for counts: no mean of numbers from 0 to 1 varies more than a share of the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Optional

from leadline.bundle.verifier.intervals import Z, newcombe_ends, wilson_ends


def are_alike(above: Sequence[float], below: Sequence[float]) -> bool:
    """Every unit has the share that all have together (or no part in it), but for the last digits."""
    pooled = sum(above) / sum(below)
    return all(abs(top - pooled * bottom) <= 1e-9 * max(1.0, abs(top)) for top, bottom in zip(above, below))


def alike_share(value: float, units: int) -> tuple[float, float]:
    """The interval of a share that each of so many units has."""
    return wilson_ends(_clipped(value, 0.0) * units, units)


def alike_groups(of: float, units: int, against: float, others: int) -> tuple[float, float]:
    """The interval of a share less another's, of so many units each."""
    first, second = _clipped(of, 0.0), _clipped(against, 0.0)
    return newcombe_ends((first * units, units), (second * others, others))


def apart_of_alike(
    of: tuple[Sequence[float], Sequence[float]], against: tuple[Sequence[float], Sequence[float]]
) -> Optional[tuple[float, float]]:
    """The interval of one group's share less another's where the units of a group are alike, else None.

    Each group is what its units add up above and below.
    """
    if not (are_alike(*of) or are_alike(*against)):
        return None
    (first, units), (second, others) = (
        (sum(above) / sum(below), len(below)) for above, below in (of, against)
    )
    return alike_groups(first, units, second, others)


def alike_difference(value: float, units: int) -> tuple[float, float]:
    """The interval of a difference that each of so many units has: where a supposed one is z standard errors
    off."""
    seen = _clipped(value, -1.0)
    if seen < 0:
        low, high = alike_difference(-seen, units)
        return -high, -low

    def off(supposed: float) -> float:
        # Of the units only the second side gained, so many: seen * units. Were the difference `supposed`, the
        # likeliest share of units that only the first side had would be this; it gives the variance.
        first_only = max(0.0, -supposed, (seen - (2 - seen) * supposed) / 2)
        variance = (2 * first_only + supposed - supposed * supposed) / units
        return abs(seen - supposed) - Z * sqrt(max(0.0, variance))

    ends = []
    for beyond in (-1.0, 1.0):
        inside, outside = seen, beyond
        for _ in range(80):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if off(middle) > 0 else (middle, outside)
        ends.append(inside)
    return ends[0], ends[1]


def _clipped(value: float, least: float) -> float:
    return min(1.0, max(least, value))
