"""The bootstrap over members of pairs against drawing labels and looking pairs up, one draw after another."""

import numpy as np
import pytest

from leadline.stats.pair_bootstrap import bootstrap_pair_median, bootstrap_pair_ratio, pair_weights


def looked_up(values, pairs, statistic, draws=8000):
    """Draw members; every ordered pair of draw positions with different members contributes its value."""
    rng, members, found = np.random.default_rng(9), len(values), []
    for _ in range(draws):
        drawn = rng.integers(0, members, members)
        listed = [values[a, b] for a in drawn for b in drawn if a != b and pairs[a, b]]
        if listed:
            found.append(statistic(listed))
    return np.quantile(found, [0.025, 0.975])


@pytest.fixture(scope="module")
def shares():
    values = np.random.default_rng(4).integers(0, 6, (7, 7)) / 5
    pairs = ~np.eye(7, dtype=bool)
    pairs[:, 6] = pairs[6, :] = False  # one ranks nothing
    return values, pairs


def test_the_interval_of_a_mean_is_that_of_drawn_members(shares):
    values, pairs = shares
    found = bootstrap_pair_ratio(np.where(pairs, values, 0), pairs.astype(float), pair_weights(7, 8000, 0))
    assert found.interval == pytest.approx(looked_up(values, pairs, np.mean), abs=0.012)


def test_the_interval_of_a_median_is_that_of_drawn_members(shares):
    values, pairs = shares
    found = bootstrap_pair_median(values, pairs, pair_weights(7, 8000, 0))
    assert found.interval == pytest.approx(looked_up(values, pairs, np.median), abs=0.051)


def test_each_draws_median_is_that_of_the_repeated_list(shares):
    values, pairs = shares
    for weights in pair_weights(7, 25, 1):
        listed = [
            values[a, b]
            for a, b in zip(*np.nonzero(pairs), strict=True)
            for _ in range(int(weights[a] * weights[b]))
        ]
        found = bootstrap_pair_median(values, pairs, weights[None]).interval
        assert found == (pytest.approx(np.median(listed)),) * 2


def test_pairs_of_two_members_say_nothing_about_members():
    pairs = np.array([[False, True], [True, False]])
    weights = pair_weights(2, 100, 0)
    assert bootstrap_pair_ratio(pairs * 0.5, pairs * 1.0, weights).interval == (None, None)
    assert bootstrap_pair_median(pairs * 0.5, pairs, weights).interval == (None, None)


def test_draws_without_a_pair_are_left_out_and_counted():
    pairs = np.ones((3, 3), dtype=bool) & ~np.eye(3, dtype=bool)
    weights = np.array([[3.0, 0, 0], [1, 1, 1], [2, 1, 0]])
    assert bootstrap_pair_ratio(pairs * 0.5, pairs * 1.0, weights) == ((0.5, 0.5), 1)


def test_how_often_members_are_drawn_adds_up_and_is_fixed_by_the_seed():
    weights = pair_weights(5, 300, 7)
    assert (weights.sum(axis=1) == 5).all() and (weights == pair_weights(5, 300, 7)).all()
