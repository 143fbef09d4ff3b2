"""Intervals where all units are alike: a bootstrap knows only the spread that it sees, and here it sees none.

Resamples of units without a difference are all the same, so that their percentiles are an interval without
width: 0 of 4 items would show that none of a million does. An interval that rests on the number of units
stands in its place: Wilson's of a share, Tango's of a difference on the same units, Newcombe's of one between
two groups of units. They hold for means of numbers from 0 to 1 (of a difference, from -1 to 1) as they do for
counts, since none varies more than a count with the same mean: p(1 - p), or the share of discordant units.
Sources: as `stats.intervals` and `stats.paired_shares`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import Interval, newcombe, wilson
from leadline.stats.paired_shares import tango

# Sums of fractions that are equal on paper may differ in their last digits.
_ROUNDING = 1e-9


def alike(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> bool:
    """Whether every unit is what the ratio of the sums says of it; both [units], some denominator above zero.

    Then every resample has the same ratio, but for those with nothing to divide by.

    >>> alike([2, 0, 4], [3, 0, 6]), alike([2, 1], [3, 3])
    (True, False)
    """
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    expected = above.sum() / below.sum() * below
    return bool((np.abs(above - expected) <= _ROUNDING * np.maximum(1.0, np.abs(above))).all())


def share_of_alike(value: float, units: int) -> Interval:
    """Wilson's interval of a mean from 0 to 1 that each of so many units has.

    >>> tuple(round(end, 3) for end in share_of_alike(0.0, 4))
    (0.0, 0.49)
    """
    return wilson(_within(value, 0.0) * units, units)


def difference_of_alike(value: float, units: int) -> Interval:
    """Tango's interval of a mean difference from -1 to 1 that each of so many units has.

    >>> tuple(round(end, 3) for end in difference_of_alike(0.0, 16))
    (-0.194, 0.194)
    """
    bounded = _within(value, -1.0)
    return tango(max(0.0, -bounded) * units, max(0.0, bounded) * units, units)


def difference_of_groups(of: float, units: int, against: float, others: int) -> Interval:
    """Newcombe's interval of a mean over so many units less that over so many others, both from 0 to 1."""
    return newcombe(_within(of, 0.0) * units, units, _within(against, 0.0) * others, others)


def _within(value: float, least: float) -> float:
    """A value that a sum of fractions may have carried past the end of the scale."""
    if not least - _ROUNDING <= value <= 1 + _ROUNDING:
        raise ValueError(f"a mean of {value} does not lie between {least:g} and 1")
    return min(1.0, max(least, value))
