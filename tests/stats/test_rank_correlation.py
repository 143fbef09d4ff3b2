"""Spearman's rho of many rankings at once is scipy's of each, with ties, gaps and copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.rank_bootstrap import bootstrap_spearman, percentiles, resamples
from leadline.stats.rank_correlation import spearman, spearman_resampled


def by_scipy(first, second):
    there = ~(np.isnan(first) | np.isnan(second))
    one, other = np.asarray(first)[there], np.asarray(second)[there]
    if len(one) < 3 or len(set(one)) < 2 or len(set(other)) < 2:
        return np.nan
    return spearmanr(one, other).statistic


# Few values, so that ties abound; nan is a task that was not measured.
scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]), min_size=7, max_size=7)


@settings(deadline=None)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=5))
def test_every_row_has_the_coefficient_that_scipy_gives_it(rows):
    first, second = (np.array([row[side] for row in rows]) for side in (0, 1))
    expected = [by_scipy(one, other) for one, other in zip(first, second, strict=True)]
    assert spearman(first, second) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None)
@given(scores, scores, st.integers(0, 1000))
def test_a_resample_is_the_ranking_with_its_copies_written_out(first, second, seed):
    first, second = np.array(first), np.array(second)
    (weights,) = resamples(7, 5, seed)
    expected = [by_scipy(np.repeat(first, times), np.repeat(second, times)) for times in weights]
    assert spearman_resampled(first, second, weights) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_same_order_is_exactly_one_and_the_reverse_exactly_minus_one():
    tied = np.array([0.1, 0.1, 0.3, 0.2, 0.7, 0.7, 0.7])
    assert spearman(tied, tied**2) == 1
    assert spearman(tied, -tied) == -1


def test_blocks_of_draws_are_the_draws():
    blocks = list(resamples(3000, 2000, seed=1))
    assert len(blocks) > 1
    assert sum(len(block) for block in blocks) == 2000
    assert all((block.sum(axis=1) == 3000).all() for block in blocks)


def test_the_interval_of_a_strong_correlation_lies_high_and_that_of_noise_spans_zero():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    strong = bootstrap_spearman(x, x + rng.normal(size=60) / 3, 500, seed=0)
    noise = bootstrap_spearman(x, rng.normal(size=60), 500, seed=0)
    assert strong.low > 0.8
    assert noise.low < 0 < noise.high


def test_the_bootstrap_interval_covers_the_correlation_of_many_tasks_nine_times_in_ten_or_more():
    # Normal scores correlated at 0.8: Spearman's coefficient is 6/pi asin(0.8/2)
    truth = 6 / np.pi * np.arcsin(0.4)
    rng = np.random.default_rng(1)
    covered = 0
    for study in range(300):
        x, noise = rng.normal(size=(2, 60))
        ends = bootstrap_spearman(x, 0.8 * x + 0.6 * noise, 300, seed=study)
        covered += ends.low <= truth <= ends.high
    assert 0.9 <= covered / 300 <= 0.98


def test_an_interval_needs_nine_of_ten_draws():
    assert percentiles([0.1] * 8 + [float("nan")] * 2) == NO_INTERVAL
    assert percentiles([0.1] * 19 + [float("nan")]) == (0.1, 0.1)
    assert percentiles([]) == NO_INTERVAL
    assert bootstrap_spearman([], [], 10, seed=0) == NO_INTERVAL
