"""The bootstrap against a plain loop, and against what it must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats.bootstrap import bootstrap_difference, bootstrap_mean, bootstrap_median, bootstrap_ratio
from leadline.stats.intervals import NO_INTERVAL


def resampled(values, statistic, draws=20_000):
    """The plain bootstrap, by drawing indices: slow and obvious."""
    values = np.asarray(values)
    picks = np.random.default_rng(5).integers(0, len(values), size=(draws, len(values)))
    return np.quantile(statistic(values[picks]), [0.025, 0.975])


def test_the_interval_of_a_mean_is_that_of_resampled_items():
    values = np.repeat([-1.0, 0.0, 1.0], [7, 30, 13])
    expected = resampled(values, lambda drawn: drawn.mean(axis=1))
    assert bootstrap_mean(values, draws=20_000) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("items", [40, 41])
def test_the_interval_of_a_median_is_that_of_resampled_items(items):
    values = np.random.default_rng(1).normal(size=items) ** 3
    expected = resampled(values, lambda drawn: np.median(drawn, axis=1))
    assert bootstrap_median(values, draws=20_000) == pytest.approx(expected, abs=0.05)


def test_the_interval_of_a_ratio_is_that_of_items_drawn_with_both_numbers():
    rng = np.random.default_rng(2)
    tokens, recovered = rng.integers(50, 400, 60), np.repeat([0, 1], [20, 40])
    expected = resampled(
        np.column_stack([tokens, recovered]), lambda drawn: drawn[..., 0].sum(1) / drawn[..., 1].sum(1)
    )
    assert bootstrap_ratio(tokens, recovered, draws=20_000) == pytest.approx(expected, rel=0.02)


def test_a_ratio_that_may_have_nothing_below_it_has_no_upper_end():
    low, high = bootstrap_ratio([10, 10, 10], [1, 0, 0])
    assert low is not None
    assert high is None


def test_no_items_have_no_interval():
    assert bootstrap_mean([]) == bootstrap_median([]) == bootstrap_ratio([], []) == NO_INTERVAL


def test_items_that_agree_have_an_interval_of_no_width():
    assert bootstrap_mean([0.25] * 9) == (0.25, 0.25)
    assert bootstrap_median([0.25] * 8) == (0.25, 0.25)


def test_another_seed_gives_other_draws():
    values = np.random.default_rng(3).normal(size=200)
    assert bootstrap_mean(values, seed=0) != bootstrap_mean(values, seed=1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    for statistic in (bootstrap_mean, bootstrap_median):
        low, high = statistic(values, draws=200)
        assert (low, high) == statistic(shuffled, draws=200)
        assert min(values) <= low <= high <= max(values)


def test_blocks_of_draws_do_not_change_the_draws(monkeypatch):
    values = np.random.default_rng(4).normal(size=50)
    whole = bootstrap_mean(values, draws=300)
    monkeypatch.setattr("leadline.stats.bootstrap._BLOCK", 700)
    assert bootstrap_mean(values, draws=300) == whole


def test_two_groups_are_resampled_each_by_itself():
    first, second = np.repeat([0.0, 1.0], [30, 20]), np.repeat([0.0, 1.0, 2.0], [10, 20, 30])
    rng = np.random.default_rng(4)
    drawn = [
        values[rng.integers(0, len(values), (20_000, len(values)))].mean(1) for values in (first, second)
    ]
    expected = np.quantile(drawn[0] - drawn[1], [0.025, 0.975])
    ones = [np.ones_like(values) for values in (first, second)]
    found = bootstrap_difference((first, ones[0]), (second, ones[1]), draws=20_000)
    assert found == pytest.approx(expected, abs=0.02)
    assert bootstrap_difference((first, ones[0]), ([], [])) == NO_INTERVAL
