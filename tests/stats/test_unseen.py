"""The unseen mass: by hand, by simulation, and where it cannot be known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats.unseen import expected_new, expected_new_interval, unseen_reachable


def test_the_estimate_by_hand():
    # 4 items hit once, 1 hit twice, 1 hit five times, 10 never, 20 samples: 19/20 * 4*3 / (2*2) = 2.85
    unseen = unseen_reachable([1, 1, 1, 1, 2, 5, *[0] * 10], samples=20)
    assert (unseen.once, unseen.twice, unseen.never) == (4, 1, 10)
    assert unseen.estimate == pytest.approx(2.85)
    # variance by hand: 2.85 + 0.9025*4*49/16 + 0.9025*16*1*9/64; the log-normal interval follows from it
    variance = 2.85 + 0.9025 * 4 * 49 / 16 + 0.9025 * 16 * 9 / 64
    spread = math.exp(1.959964 * math.sqrt(math.log(1 + variance / 2.85**2)))
    assert unseen.interval.low == pytest.approx(2.85 / spread, rel=1e-6)
    assert unseen.interval.high == pytest.approx(min(10, 2.85 * spread), rel=1e-6)


def test_no_more_can_be_reached_than_was_never_hit():
    unseen = unseen_reachable([1] * 30 + [0] * 4, samples=20)
    assert unseen.estimate == 4
    assert unseen.interval.high == 4


def test_items_hit_often_leave_nothing_unseen():
    unseen = unseen_reachable([15, 18, 20, 12, 0, 0, 0], samples=20)
    assert unseen.estimate == 0
    assert unseen.interval.low == 0
    assert unseen.interval.high < 0.01


def test_without_a_single_hit_nothing_can_be_said():
    assert unseen_reachable([0, 0, 0], samples=20) is None
    assert unseen_reachable([], samples=20) is None


def test_further_samples_find_what_the_estimate_expects():
    """Items of one reachability class and unreachable ones: the case in which the bound is tight."""
    rng = np.random.default_rng(0)
    chances = np.concatenate([np.full(600, 0.06), np.zeros(400)])
    first, second = rng.binomial(20, chances), rng.binomial(20, chances)
    new = int(((first == 0) & (second > 0)).sum())
    reachable = int(((first == 0) & (chances > 0)).sum())
    low, high = unseen_reachable(first, samples=20).interval
    assert low <= reachable <= high
    low, high = expected_new_interval(first, samples=20, more=20, draws=2000, seed=0)
    assert low <= expected_new(first, samples=20, more=20) <= high
    assert low <= new <= high


def test_one_more_sample_is_expected_to_find_about_once_over_samples():
    hits = [1] * 40 + [2] * 10 + [6] * 20 + [0] * 200
    assert expected_new(hits, samples=20, more=1) == pytest.approx(40 / 20, rel=0.05)


@settings(deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_expectations_grow_with_samples_and_stay_within_the_estimate(hits):
    unseen = unseen_reachable(hits, samples=20)
    finds = [expected_new(hits, samples=20, more=more) for more in (0, 1, 10, 1000)]
    assert finds == sorted(finds)
    assert finds[0] == 0
    if unseen is not None:
        assert finds[-1] <= unseen.estimate + 1e-9
        assert 0 <= unseen.interval.low <= unseen.interval.high <= unseen.never
