"""Intervals of shares against published figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats.intervals import NO_INTERVAL, newcombe, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high", "digits"),
    [(110, 432, 0.2158, 0.2977, 4), (447, 5116, 0.0799, 0.0954, 4), (2, 2, 0.342, 1.000, 3)],
)
def test_wilson_gives_the_published_interval(successes, trials, low, high, digits):
    interval = wilson(successes, trials)
    assert (round(interval.low, digits), round(interval.high, digits)) == (low, high)


@pytest.mark.parametrize(
    ("first", "second", "difference", "low", "high", "digits"),
    [
        ((110, 432), (447, 5116), 0.1673, 0.1276, 0.2110, 4),
        ((0, 24), (2, 24), -0.083, -0.258, 0.067, 3),
        ((10, 60), (12, 60), -0.033, -0.172, 0.107, 3),
        ((22, 36), (11, 36), 0.306, 0.075, 0.494, 3),
    ],
)
def test_newcombe_gives_the_published_interval(first, second, difference, low, high, digits):
    interval = newcombe(*first, *second)
    assert round(first[0] / first[1] - second[0] / second[1], digits) == difference
    assert (round(interval.low, digits), round(interval.high, digits)) == (low, high)


def test_no_trials_have_no_interval():
    assert wilson(0, 0) == NO_INTERVAL
    assert newcombe(1, 2, 0, 0) == NO_INTERVAL


def test_more_successes_than_trials_are_refused():
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_within_zero_and_one(counts):
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


@given(st.integers(0, 50), st.integers(0, 50))
def test_newcombe_turns_around_with_its_arguments(first, second):
    there, back = newcombe(first, 50, second, 50), newcombe(second, 50, first, 50)
    assert there.low == pytest.approx(-back.high)
    assert there.high == pytest.approx(-back.low)
