"""A straight line: published coefficients' arithmetic, scipy as a second opinion, and coverage."""

import numpy as np
import pytest
from scipy.stats import linregress, t

from leadline.stats.least_squares import straight_line


def test_coefficients_and_errors_are_those_of_scipy():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 12)
    y = 0.3 + 2 * x + rng.normal(0, 0.2, 12)
    line, other = straight_line(x, y), linregress(x, y)
    assert (line.slope, line.intercept) == pytest.approx((other.slope, other.intercept))
    assert line.r_squared == pytest.approx(other.rvalue**2)
    reach = t.ppf(0.975, 10)
    assert line.slope_interval.high - line.slope == pytest.approx(reach * other.stderr)
    assert line.intercept - line.intercept_interval.low == pytest.approx(reach * other.intercept_stderr)
    assert line.slope_normal.high - line.slope == pytest.approx(1.96 * other.stderr)


def test_two_points_or_one_place_have_no_line():
    assert straight_line([0, 1], [0, 1]) is None
    assert straight_line([1, 1, 1], [0, 1, 2]) is None


def test_the_t_interval_holds_the_truth_and_the_normal_one_is_too_narrow_for_ten_points():
    rng = np.random.default_rng(7)
    x = np.linspace(0, 1, 10)
    held = {"t": 0, "normal": 0}
    for _ in range(1000):
        line = straight_line(x, 0.5 + x + rng.normal(0, 0.3, 10))
        held["t"] += line.intercept_interval.low <= 0.5 <= line.intercept_interval.high
        held["normal"] += line.intercept_normal.low <= 0.5 <= line.intercept_normal.high
    assert held["t"] / 1000 == pytest.approx(0.95, abs=0.02)
    assert held["normal"] / 1000 < 0.93
