"""Many small groups at once have the intervals that each would have alone."""

import numpy as np
import pytest

from leadline.stats.bootstrap import bootstrap_mean
from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.small_groups import SMALL, bootstrap_means


def test_each_interval_is_that_of_its_group_alone_but_for_the_draws():
    rng = np.random.default_rng(1)
    groups = [rng.random(size) for size in (8, 20, SMALL, SMALL + 1, 8)]
    found = bootstrap_means(groups, draws=20_000)
    for group, interval in zip(groups, found, strict=True):
        assert interval == pytest.approx(bootstrap_mean(group, draws=20_000, seed=3), abs=0.02)


def test_other_groups_and_the_order_of_values_change_nothing():
    rng = np.random.default_rng(2)
    group, others = rng.random(9), [rng.random(9), rng.random(4)]
    alone = bootstrap_means([group])
    assert bootstrap_means([*others, group[::-1]])[2:] == alone
    assert bootstrap_means([group, group], seed=1)[0] != alone[0]


def test_empty_and_uniform_groups():
    found = bootstrap_means([np.array([]), np.full(5, 0.25), np.full(3 * SMALL, 1.0)])
    assert found == [NO_INTERVAL, (0.25, 0.25), (1.0, 1.0)]
