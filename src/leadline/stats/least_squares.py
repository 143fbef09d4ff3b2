"""A straight line through points, and how sure its two coefficients are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import Interval

# What the normal approximation takes for the t quantile: too small for few points (2.31 at ten).
NORMAL = 1.96


@dataclass(frozen=True)
class Line:
    """y = intercept + slope · x by least squares, with 95% intervals.

    `*_interval` are by the t distribution with points - 2 degrees of freedom, `*_normal` are ± 1.96 standard
    errors.
    """

    slope: float
    intercept: float
    slope_interval: Interval
    intercept_interval: Interval
    slope_normal: Interval
    intercept_normal: Interval
    r_squared: float
    points: int


def straight_line(x: npt.ArrayLike, y: npt.ArrayLike) -> Line | None:
    """The least-squares line through the points (x, y); None for fewer than three points or one x alone.

    Standard errors are the classical ones, of equal variance along the line.

    >>> round(straight_line([1, 2, 3, 4], [2.1, 3.9, 6.1, 7.9]).slope, 6)
    1.96
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(across) < 3 or np.ptp(across) == 0:
        return None
    from scipy.special import stdtrit  # late, and not statsmodels, which brings pandas along

    # Centred, so that large offsets take no digits.

    x_mean, y_mean = across.mean(), up.mean()
    off = across - x_mean
    spread = off @ off
    slope = float(off @ (up - y_mean) / spread)
    intercept = float(y_mean - slope * x_mean)
    rest = (up - y_mean) - slope * off
    variance = rest @ rest / (len(across) - 2)
    slope_error = float(np.sqrt(variance / spread))
    intercept_error = float(np.sqrt(variance * (1 / len(across) + x_mean**2 / spread)))
    t = float(stdtrit(len(across) - 2, 0.975))
    total = (up - y_mean) @ (up - y_mean)
    return Line(
        slope=slope,
        intercept=intercept,
        slope_interval=_around(slope, t * slope_error),
        intercept_interval=_around(intercept, t * intercept_error),
        slope_normal=_around(slope, NORMAL * slope_error),
        intercept_normal=_around(intercept, NORMAL * intercept_error),
        r_squared=float(1 - rest @ rest / total) if np.ptp(up) > 0 else 1.0,
        points=len(across),
    )


def _around(value: float, reach: float) -> Interval:
    return Interval(value - reach, value + reach)
