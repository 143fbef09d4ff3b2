"""The permutation null of shared top sets: what it keeps, what a slow version says, and that p is valid."""

from itertools import permutations as orders

import numpy as np
import pytest
from scipy.stats import kstest

from leadline.stats.permutation import p_of, shared_by_chance
from leadline.stats.top_sets import top_sets


def mean_share(table, k):
    found = top_sets(table, k)
    return found.share[found.pairs].mean()


def test_a_null_of_few_units_has_the_distribution_of_all_arrangements():
    table = np.array([[0.4, 0.2, 0.2, 0.0], [0.3, 0.3, 0.0, 0.0]])
    every = [
        mean_share(np.array([np.array(table[0])[list(first)], np.array(table[1])[list(second)]]), 1)
        for first in orders(range(4))
        for second in orders(range(4))
    ]
    drawn = shared_by_chance(table, (1,), permutations=20_000, seed=3)[1]
    for value in np.unique(every):
        assert np.mean(drawn.mean == value) == pytest.approx(np.mean(np.array(every) == value), abs=0.012)


@pytest.mark.parametrize("seed", range(3))
def test_a_plain_version_that_shuffles_and_counts_agrees(seed):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((4, 40)) < 0.4, rng.integers(1, 4, (4, 40)) / 4, 0.0)
    table[3, :] = 0.0
    table[2, 3:] = 0.0
    found = shared_by_chance(table, (2, 5), permutations=3000, seed=seed)
    slow = [rng.permuted(table, axis=1) for _ in range(1500)]
    for k in (2, 5):
        sets = [top_sets(one, k) for one in slow]
        means = [one.share[one.pairs].mean() for one in sets]
        hits = [one.hits[one.pairs].sum() for one in sets]
        for fast, plain in ((found[k].mean, means), (found[k].hits, hits)):
            error = np.hypot(np.std(plain) / np.sqrt(len(plain)), fast.std() / np.sqrt(len(fast)))
            assert abs(fast.mean() - np.mean(plain)) < 3.5 * error
            assert fast.std() == pytest.approx(np.std(plain), rel=0.1)


def test_p_is_uniform_when_nothing_is_shared():
    # many configurations and a wide top, so that the mean takes enough values for p to be almost continuous
    rng = np.random.default_rng(11)
    found = []
    for trial in range(250):
        table = np.where(rng.random((6, 200)) < 0.5, rng.integers(1, 20, (6, 200)) / 20, 0.0)
        null = shared_by_chance(table, (20,), permutations=99, seed=trial)[20]
        found.append(p_of(null.mean, mean_share(table, 20)))
    assert kstest(found, "uniform").pvalue > 0.01
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.085


def test_p_finds_what_is_shared_and_is_never_zero():
    scores = np.linspace(0.9, 0.0, 60)
    null = shared_by_chance(np.array([scores, scores, scores]), (5,), permutations=400)[5]
    assert p_of(null.mean, 1.0) == 1 / 401


def test_strata_keep_what_they_explain_in_the_null():
    # all unsteady units lie in one stratum of ten, in no common order there
    rng = np.random.default_rng(5)
    table = np.zeros((5, 200))
    table[:, :10] = rng.permuted(np.tile(np.arange(1, 11) / 10, (5, 1)), axis=1)
    strata = np.repeat([0, 1], [10, 190])
    free = shared_by_chance(table, (3,), permutations=500)[3]
    fixed = shared_by_chance(table, (3,), permutations=500, strata=strata)[3]
    assert fixed.mean.mean() == pytest.approx(6 / 10, abs=0.03)
    assert free.mean.mean() == pytest.approx(6 / 200, abs=0.01)
    assert p_of(fixed.mean, mean_share(table, 3)) > 0.05 > p_of(free.mean, mean_share(table, 3))


def test_the_number_of_permutations_decides_nothing_about_the_first_ones():
    table = np.random.default_rng(2).random((3, 30))
    few, many = (shared_by_chance(table, (4,), permutations=number)[4].hits for number in (50, 200))
    assert few.tolist() == many[:50].tolist()


def test_rankings_that_are_empty_share_nothing_and_say_so():
    found = shared_by_chance(np.zeros((3, 10)), (2,), permutations=10)[2]
    assert np.isnan(found.mean).all() and found.hits.tolist() == [0] * 10
