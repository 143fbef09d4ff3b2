"""Fisher's exact test, against counts that can be added up by hand."""

from __future__ import annotations

from math import comb

import pytest

from leadline.stats.fisher import fisher_p, smallest_fisher_p


def test_the_lady_who_tasted_tea() -> None:
    """Three of four cups told right, of each kind: 34 of 70 orders are as good or as bad."""
    assert fisher_p(3, 4, 1, 4) == pytest.approx((16 + 1 + 16 + 1) / 70)
    assert fisher_p(4, 4, 0, 4) == pytest.approx(2 / 70)


def test_it_does_not_matter_which_group_comes_first_or_what_is_called_a_success() -> None:
    for counts in ((7, 12, 3, 30), (0, 5, 9, 9), (2, 2, 1, 40)):
        a, m, b, n = counts
        p = fisher_p(a, m, b, n)
        assert p == pytest.approx(fisher_p(b, n, a, m)) == pytest.approx(fisher_p(m - a, m, n - b, n))
        assert smallest_fisher_p(m, n) <= p <= 1


def test_an_empty_group_shows_nothing() -> None:
    assert fisher_p(0, 0, 3, 9) == fisher_p(3, 9, 0, 0) == 1.0
    assert smallest_fisher_p(0, 9) == 1.0


def test_the_smallest_p_is_one_way_to_deal_out_the_successes_among_all() -> None:
    assert smallest_fisher_p(3, 20) == pytest.approx(1 / comb(23, 3))


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="5 of 4"):
        fisher_p(5, 4, 0, 4)
