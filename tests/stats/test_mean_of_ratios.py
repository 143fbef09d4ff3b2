"""The bootstrap of a mean over configurations of shares over items."""

import numpy as np
import pytest

from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.mean_of_ratios import bootstrap_mean_of_ratios


def test_it_is_the_bootstrap_that_draws_items_one_by_one():
    rng = np.random.default_rng(0)
    measured = rng.random((4, 30)) < 0.9
    unstable = measured & (rng.random((4, 30)) < 0.3)
    slow = []
    for _ in range(4000):
        drawn = rng.integers(0, 30, 30)
        slow.append(np.mean(unstable[:, drawn].sum(axis=1) / measured[:, drawn].sum(axis=1)))
    found = bootstrap_mean_of_ratios(unstable, measured, 4000, seed=1)
    assert found == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.012)


def test_the_order_of_the_items_changes_nothing():
    rng = np.random.default_rng(0)
    unstable, order = rng.random((3, 20)) < 0.4, rng.permutation(20)
    whole = np.ones((3, 20))
    assert bootstrap_mean_of_ratios(unstable, whole, 200, 0) == bootstrap_mean_of_ratios(
        unstable[:, order], whole, 200, 0
    )


def test_configurations_that_measured_nothing_in_a_draw_are_left_out_of_its_mean():
    # The second configuration measured one item of many: where that is not drawn, the first stands alone.
    unstable = np.array([[1] * 10, [0] * 10])
    measured = np.array([[1] * 10, [1] + [0] * 9])
    found = bootstrap_mean_of_ratios(unstable, measured, 400, seed=0)
    assert found == (0.5, 1.0)


def test_no_items_no_interval():
    assert bootstrap_mean_of_ratios(np.zeros((2, 0)), np.zeros((2, 0)), 100, 0) == NO_INTERVAL
    assert bootstrap_mean_of_ratios([[0.0]], [[0.0]], 100, 0) == NO_INTERVAL
