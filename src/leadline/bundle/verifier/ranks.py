"""Correlations of orders, and straight lines: Spearman, Kendall's tau-b, least squares."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt


def mid_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[order[place]] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The correlation coefficient; None where one of the two does not vary."""
    n = len(x)
    if n < 2:
        return None
    mean_x, mean_y = fsum(x) / n, fsum(y) / n
    xx = fsum((a - mean_x) ** 2 for a in x)
    yy = fsum((b - mean_y) ** 2 for b in y)
    if xx <= 0 or yy <= 0:
        return None
    xy = fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return max(-1.0, min(1.0, xy / sqrt(xx * yy)))


def spearman_rho(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's coefficient of the mid ranks; None where one of the two is constant."""
    return pearson(mid_ranks(x), mid_ranks(y))


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> float | None:
    """(concordant - discordant) / sqrt((pairs - ties in x)(pairs - ties in y)); None where that is 0."""
    agree = ties_x = ties_y = 0
    n = len(x)
    for i in range(n):
        for j in range(i):
            a = (x[i] > x[j]) - (x[i] < x[j])
            b = (y[i] > y[j]) - (y[i] < y[j])
            agree += a * b
            ties_x += a == 0
            ties_y += b == 0
    pairs = n * (n - 1) // 2
    below = (pairs - ties_x) * (pairs - ties_y)
    return agree / sqrt(below) if below > 0 else None


class Line:
    """y = intercept + slope·x by least squares, with standard errors and R²."""

    def __init__(self, x: Sequence[float], y: Sequence[float]) -> None:
        n = len(x)
        mean_x, mean_y = fsum(x) / n, fsum(y) / n
        xx = fsum((a - mean_x) ** 2 for a in x)
        yy = fsum((b - mean_y) ** 2 for b in y)
        self.slope = fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / xx
        self.intercept = mean_y - self.slope * mean_x
        rest = fsum((b - self.intercept - self.slope * a) ** 2 for a, b in zip(x, y))
        spread = rest / (n - 2) if n > 2 else float("nan")
        self.slope_error = sqrt(spread / xx)
        self.intercept_error = sqrt(spread * (1 / n + mean_x**2 / xx))
        # A line through values that are all alike leaves nothing unexplained.
        self.r_squared = 1 - rest / yy if yy > 0 else 1.0
        self.freedom = n - 2


def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t, by bisection of its distribution function (integrated by Simpson's
    rule)."""
    from math import gamma, pi

    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2)) if freedom < 300 else None

    def density(t: float) -> float:
        from math import exp, lgamma, log

        size = scale or exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(freedom * pi))
        return float(size * (1 + t * t / freedom) ** (-(freedom + 1) / 2))

    def below(t: float) -> float:
        steps = 4000
        width = t / steps
        total = density(0.0) + density(t)
        total += 4 * fsum(density(width * k) for k in range(1, steps, 2))
        total += 2 * fsum(density(width * k) for k in range(2, steps, 2))
        return 0.5 + total * width / 3

    low, high = 0.0, 1000.0
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    high = 2.0
    while below(high) < probability:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < probability else (low, middle)
    return (low + high) / 2
