"""A straight line through points, and how sure its two coefficients are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from statsmodels.regression.linear_model import OLS

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

    >>> straight_line([1, 2, 3, 4], [2.1, 3.9, 6.1, 7.9]).slope
    1.96
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(across) < 3 or np.ptp(across) == 0:
        return None
    fit = OLS(up, np.column_stack([np.ones_like(across), across])).fit()
    (intercept, slope), errors = fit.params, fit.bse
    (intercept_ends, slope_ends) = fit.conf_int(0.05)
    return Line(
        slope=float(slope),
        intercept=float(intercept),
        slope_interval=Interval(float(slope_ends[0]), float(slope_ends[1])),
        intercept_interval=Interval(float(intercept_ends[0]), float(intercept_ends[1])),
        slope_normal=_around(float(slope), float(errors[1])),
        intercept_normal=_around(float(intercept), float(errors[0])),
        r_squared=float(fit.rsquared) if np.ptp(up) > 0 else 1.0,
        points=len(across),
    )


def _around(value: float, error: float) -> Interval:
    return Interval(value - NORMAL * error, value + NORMAL * error)
