"""Tango's score interval for the difference of two shares of the same items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from leadline.stats.bootstrap import bootstrap_mean
from leadline.stats.paired_shares import score, tango


def likeliest_variance(only_first: int, only_second: int, items: int, difference: float) -> float:
    """Variance of the difference at the most likely shares that have this difference, found by search."""

    def unlikely(first: float) -> float:
        shares = (first, first + difference, 1 - 2 * first - difference)
        counts = (only_first, only_second, items - only_first - only_second)
        return -sum(n * np.log(max(p, 1e-300)) for n, p in zip(counts, shares, strict=True) if n)

    low, high = max(0.0, -difference), (1 - difference) / 2
    first = minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    return items * (2 * first + difference - difference**2)


@pytest.mark.parametrize("counts", [(1, 5, 12), (9, 3, 40), (0, 4, 30), (25, 31, 300), (2, 0, 7)])
def test_its_ends_lie_1_96_standard_errors_off_at_the_likeliest_shares(counts: tuple[int, int, int]) -> None:
    only_first, only_second, items = counts
    for end, side in zip(tango(*counts), (1, -1), strict=True):
        assert end is not None
        above = only_second - only_first - items * end
        assert above / np.sqrt(likeliest_variance(*counts, end)) == pytest.approx(side * 1.96, abs=2e-3)
        assert score(*counts, end) == pytest.approx(side * 1.959964, abs=1e-4)


def test_turning_the_sides_turns_the_interval() -> None:
    low, high = tango(3, 11, 50)
    turned_low, turned_high = tango(11, 3, 50)
    assert low is not None and high is not None
    assert (turned_low, turned_high) == (pytest.approx(-high), pytest.approx(-low))


def test_items_that_tell_nothing_apart_still_leave_a_difference_open() -> None:
    low, high = tango(0, 0, 100)
    assert bootstrap_mean(np.zeros(100)) == (0.0, 0.0)
    # Nothing is seen of a share of z²/(n + z²) with probability of a few per cent.
    assert high == pytest.approx(1.96**2 / (100 + 1.96**2), abs=1e-3) and low == pytest.approx(-(high or 0))


def test_all_items_on_one_side_reach_the_end_of_the_scale() -> None:
    low, high = tango(0, 8, 8)
    assert high == 1.0 and low is not None and 0.2 < low < 1
    assert tango(8, 0, 8) == (-1.0, pytest.approx(-low))


def test_no_items_have_no_interval_and_counts_that_cannot_be_are_refused() -> None:
    assert tango(0, 0, 0) == (None, None)
    with pytest.raises(ValueError, match="of 3 items"):
        tango(2, 2, 3)


def test_it_holds_its_level_where_few_items_differ() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(40, [0.03, 0.08, 0.89], size=2000)
    held = [low <= 0.05 <= high for a, b, _ in drawn for low, high in [tango(int(a), int(b), 40)]]  # type: ignore[operator]
    assert 0.93 <= np.mean(held) <= 0.985
