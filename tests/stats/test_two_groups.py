"""Two groups of items: intervals and p-values against plain loops and simulated truth."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats import two_groups
from leadline.stats.bootstrap import bootstrap_difference, bootstrap_ratio
from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.two_groups import Counts, bootstrap_change, bootstrap_groups, relabelled_p


def counts(numerators, denominators):
    return Counts(np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float))


OF = counts([3, 0, 5, 1, 12, 2, 2], [12, 12, 12, 6, 12, 12, 12])
AGAINST = counts([0, 0, 1, 0, 2, 1, 0, 3, 1], [12, 12, 12, 12, 10, 12, 12, 12, 12])


def test_all_three_intervals_are_those_of_resampled_items():
    (found,) = bootstrap_groups([OF], [AGAINST], draws=20_000)
    assert found.of == pytest.approx(bootstrap_ratio(*OF, draws=20_000), abs=0.02)
    assert found.against == pytest.approx(bootstrap_ratio(*AGAINST, draws=20_000), abs=0.01)
    expected = bootstrap_difference(OF, AGAINST, draws=20_000)
    assert found.difference == pytest.approx(expected, abs=0.02)


def test_a_figure_does_not_hang_on_which_others_are_asked_for_with_it():
    halved = [counts(group.numerators / 2, group.denominators) for group in (OF, AGAINST)]
    alone = bootstrap_groups([OF], [AGAINST], draws=100)
    assert bootstrap_groups([halved[0], OF], [halved[1], AGAINST], draws=100)[1:] == alone


def test_an_empty_group_has_no_interval():
    assert bootstrap_groups([OF], [counts([], [])]) == [(NO_INTERVAL,) * 3]
    assert bootstrap_change(counts([], []), counts([], [])) == NO_INTERVAL


def test_the_interval_of_a_change_is_that_of_items_drawn_with_all_their_numbers():
    rng = np.random.default_rng(0)
    cells, flips = np.full(60, 12.0), rng.integers(0, 6, 60).astype(float)
    kept = np.arange(60) < 50
    picks = np.random.default_rng(1).integers(0, 60, (20_000, 60))
    drawn = (flips * kept)[picks].sum(1) / (cells * kept)[picks].sum(1) - flips[picks].sum(1) / 720
    found = bootstrap_change(counts(flips, cells), counts(flips * kept, cells * kept), draws=20_000)
    assert found == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.002)


def test_a_change_that_may_have_nothing_left_has_no_finite_end():
    low, high = bootstrap_change(counts([1, 1], [2, 2]), counts([1, 0], [2, 0]))
    assert low is not None
    assert high is None


def every_choice(of, against):
    """p by plain loops over all ways to choose the first group."""
    table = np.array([*zip(*of, strict=True), *zip(*against, strict=True)])
    numbers = range(len(table))
    choices = list(combinations(numbers, len(of.numerators)))
    reached = 0
    for choice in choices:
        mask = np.isin(numbers, choice)
        first, second = table[mask].sum(axis=0), table[~mask].sum(axis=0)
        apart = abs(first[0] / first[1] - second[0] / second[1])
        reached += apart >= abs(of.ratio - against.ratio) - 1e-12
    return reached / len(choices)


@pytest.mark.parametrize("swapped", [False, True])
def test_few_ways_to_choose_the_first_group_are_all_gone_through(swapped):
    of, against = counts([4, 3], [4, 4]), counts([1, 0, 2, 0], [4, 2, 4, 4])
    if swapped:
        of, against = against, of
    found = relabelled_p(of, against, permutations=100, seed=1)
    assert found == (pytest.approx(every_choice(of, against)), 15)
    assert relabelled_p(of, against, permutations=5000, seed=2) == found


def test_no_p_lies_below_the_share_of_one_way_to_deal_out():
    # drawn 2,000 times, the one way of 35 is seen less often than it should be by every other seed
    of, against = counts([4, 4, 4], [4, 4, 4]), counts([0, 0, 0, 0], [4, 4, 4, 4])
    assert {relabelled_p(of, against, seed=seed).p for seed in range(5)} == {1 / 35}


def test_drawn_deals_tell_what_all_of_them_do(monkeypatch):
    exact = relabelled_p(OF, AGAINST)
    assert exact.ways == 11440
    monkeypatch.setattr(two_groups, "EXACT_WAYS", 11_439)
    drawn = relabelled_p(OF, AGAINST, permutations=20_000)
    assert drawn.ways is None
    assert drawn.p == pytest.approx(exact.p, abs=0.01)


def test_the_p_is_uniform_when_both_groups_are_of_one_kind():
    # Items resemble themselves over configurations, which tests over cells take for differences of groups.
    rng = np.random.default_rng(7)
    p_values = []
    for seed in range(1000):
        flips = rng.binomial(12, rng.beta(0.4, 2.0, 60)).astype(float)
        group = np.full(60, 12.0)
        p_values.append(
            relabelled_p(counts(flips[:15], group[:15]), counts(flips[15:], group[15:]), 400, seed).p
        )
    for level in (0.05, 0.1, 0.25, 0.5, 0.75):
        assert np.mean(np.array(p_values) <= level) == pytest.approx(level, abs=0.05)
    assert np.mean(np.array(p_values) <= 0.05) < 0.07


def test_a_difference_that_is_there_is_found():
    rng = np.random.default_rng(8)
    found = [
        relabelled_p(
            counts(rng.binomial(12, rng.beta(1, 3, 36)), np.full(36, 12)),
            counts(rng.binomial(12, rng.beta(1, 9, 400)), np.full(400, 12)),
            200,
            seed,
        ).p
        for seed in range(100)
    ]
    assert np.mean(np.array(found) <= 0.05) > 0.9


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(4, 6)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 4), st.integers(4, 6)), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_the_order_of_items_does_not_matter_to_p(first, second, random):
    def both(pairs):
        return counts(*zip(*pairs, strict=True))

    of, against = both(first), both(second)
    before = relabelled_p(of, against, 100)
    random.shuffle(first)
    random.shuffle(second)
    of, against = both(first), both(second)
    assert relabelled_p(of, against, 100) == before
