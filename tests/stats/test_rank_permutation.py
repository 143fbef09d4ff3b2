"""The permutation test of a rank correlation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare, spearmanr

from leadline.stats import rank_permutation
from leadline.stats.rank_permutation import spearman_p


def test_all_orders_of_few_things_are_gone_through() -> None:
    first, second = [1, 2, 2, 4, 7, 7], [0.1, 0.0, 0.4, 0.4, 0.9, 0.2]
    observed = abs(spearmanr(first, second).statistic)
    all_of_them = [abs(spearmanr(first, order).statistic) for order in permutations(second)]
    exact = np.mean(np.array(all_of_them) >= observed - 1e-9)
    assert spearman_p(first, second, 100, 1) == pytest.approx(exact)
    assert spearman_p([1, 2, 3], [4, 5, 6], 100, 1) == pytest.approx(1 / 3)


def test_drawn_orders_come_close_to_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = [1, 2, 2, 4, 7, 7], [0.1, 0.0, 0.4, 0.4, 0.9, 0.2]
    exact = spearman_p(first, second, 100, 1)
    monkeypatch.setattr(rank_permutation, "EXACT_THINGS", 5)
    assert spearman_p(first, second, 20_000, 1) == pytest.approx(exact, abs=0.01)


def test_the_order_of_the_things_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 6, 30), rng.normal(size=30)
    order = rng.permutation(30)
    assert spearman_p(first, second, 500, 3) == spearman_p(first[order], second[order], 500, 3)


def test_nothing_agrees_with_what_does_not_vary() -> None:
    assert spearman_p([1, 1, 1], [1, 2, 3], 200, 0) == spearman_p([], [], 200, 0) == 1.0


def test_a_perfect_agreement_is_not_reached_by_chance() -> None:
    assert spearman_p(range(20), range(20), 1999, 0) == 1 / 2000
    assert spearman_p(range(20), range(20, 0, -1), 1999, 0) == 1 / 2000  # two-sided


def test_over_scores_that_have_nothing_to_do_with_each_other_p_is_uniform() -> None:
    rng = np.random.default_rng(11)
    found = [spearman_p(rng.normal(size=15), rng.integers(0, 5, 15), 199, seed) for seed in range(600)]
    counts = np.histogram(found, bins=np.linspace(0, 1, 11))[0]
    assert chisquare(counts).pvalue > 0.001
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.025)
