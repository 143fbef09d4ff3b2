"""Exact McNemar, Holm and Kendall's tau on numbers worked out by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm
from leadline.stats.rank_correlation import kendall_tau_b


def test_mcnemar_counts_the_tail_of_a_fair_coin():
    # 8 disputed items, 7 to 1: 2 * (1 + 8) / 2^8
    assert mcnemar_exact(7, 1) == pytest.approx(float(Fraction(2 * 9, 256)))


def test_mcnemar_without_disputed_items_finds_nothing():
    assert mcnemar_exact(0, 0) == 1.0


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_does_not_care_which_side_is_which(first, second):
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first)
    assert 0 < mcnemar_exact(first, second) <= 1


def test_five_disputed_items_can_never_reach_five_per_cent_but_six_can():
    assert smallest_p(5) > 0.05 > smallest_p(6)


def test_holm_steps_down_from_the_smallest():
    # 3 * 0.01, then 2 * 0.02, then max(0.04, 0.03)
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([]) == []


def test_tau_b_allows_for_ties():
    # pairs: one tied in the first scoring, two concordant: 2 / sqrt(2 * 3)
    assert kendall_tau_b([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / (2 * 3) ** 0.5)


def test_tau_b_of_reversed_rankings_is_minus_one():
    assert kendall_tau_b([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3])])
def test_tau_b_is_not_defined_without_an_order_to_agree_on(first, second):
    assert kendall_tau_b(first, second) is None


def test_rankings_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="2 and 3 things"):
        kendall_tau_b([1, 2], [1, 2, 3])
