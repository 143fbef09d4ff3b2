"""Intervals and tests of counts: Wilson, Newcombe, exact McNemar, Fisher, Holm. From the textbook
formulas."""

from __future__ import annotations

from math import comb, erf, exp, lgamma, log, sqrt
from statistics import NormalDist

# The 97.5 % point of the normal distribution.
Z = NormalDist().inv_cdf(0.975)


def wilson_ends(successes: float, total: float) -> tuple[float, float]:
    """The shares p with |x/n - p| = z·sqrt(p(1-p)/n), solved for p. Wilson 1927."""
    share = successes / total
    middle = share + Z * Z / (2 * total)
    reach = Z * sqrt(share * (1 - share) / total + Z * Z / (4 * total * total))
    below = 1 + Z * Z / total
    low, high = (middle - reach) / below, (middle + reach) / below
    return (0.0 if successes == 0 else max(0.0, low)), (1.0 if successes == total else min(1.0, high))


def newcombe_level(
    first: tuple[float, float], second: tuple[float, float], level: float
) -> tuple[float, float]:
    """Newcombe's interval at another level than 95 %."""
    z = NormalDist().inv_cdf((1 + level) / 2)

    def ends(successes: float, total: float) -> tuple[float, float]:
        share, below = successes / total, 1 + z * z / total
        middle = share + z * z / (2 * total)
        reach = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        return (middle - reach) / below, (middle + reach) / below

    p, q = first[0] / first[1], second[0] / second[1]
    (p_low, p_high), (q_low, q_high) = ends(*first), ends(*second)
    return p - q - sqrt((p - p_low) ** 2 + (q_high - q) ** 2), p - q + sqrt(
        (p_high - p) ** 2 + (q - q_low) ** 2
    )


def newcombe_ends(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Interval of the difference of two independent shares (successes, total). Newcombe 1998, method 10."""
    p, q = first[0] / first[1], second[0] / second[1]
    (p_low, p_high), (q_low, q_high) = wilson_ends(*first), wilson_ends(*second)
    low = p - q - sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return max(-1.0, low), min(1.0, high)


def mcnemar_exact(only_one: int, only_other: int) -> float:
    """Two-sided binomial test that discordant items fall either way with a chance of one half."""
    total = only_one + only_other
    if total == 0:
        return 1.0
    fewer = min(only_one, only_other)
    if total <= 1000:
        return min(1.0, float(2 * sum(comb(total, k) for k in range(fewer + 1)) / 2**total))
    tail = sum(
        exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) - total * log(2))
        for k in range(fewer + 1)
    )
    return min(1.0, 2 * tail)


def holm_corrected(p_values: list[float]) -> list[float]:
    """Holm 1979: the i-th smallest times (m - i), never below a smaller one, never above one."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected = [0.0] * len(p_values)
    reached = 0.0
    for place, at in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - place) * p_values[at]))
        corrected[at] = reached
    return corrected


def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Two-sided exact test of the table [[a, b], [c, d]]: all tables at most as likely as this one."""
    row, column, total = a + b, a + c, a + b + c + d
    if min(row, column, total - row, total - column) == 0:
        return 1.0
    whole = comb(total, column)

    def chance(k: int) -> int:
        return comb(row, k) * comb(total - row, column - k)

    seen = chance(a)
    ways = range(max(0, column - (total - row)), min(row, column) + 1)
    # Tables that are as likely but for rounding count: the reference implementations allow 1e-7.
    return min(1.0, sum(found for found in map(chance, ways) if found <= seen * (1 + 1e-7)) / whole)


def normal_cdf(x: float) -> float:
    """The share of a normal distribution below x."""
    return 0.5 * (1 + erf(x / sqrt(2)))
