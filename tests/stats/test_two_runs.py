"""Two runs: counts by hand, deals against enumeration, what holds when nothing changed or something did."""

from itertools import combinations

import numpy as np
import pytest

from leadline.stats.detectable_change import detectable_items
from leadline.stats.resampled_modes import at_least, modes_lost
from leadline.stats.two_runs import deal, modes_differ, tallies, variation

ITEMS, ANSWERS = 60, 20


def runs(rng, items=ITEMS, answers=ANSWERS, changed=0):
    """Two runs of one thing: on most items steady; `changed` items are answered otherwise by the second."""
    p = rng.choice([1.0, 1.0, 1.0, 0.95, 0.9, 0.75, 0.6], items)
    first, second = (1 - (rng.random((items, answers)) < p[:, None]).astype(int) for _ in range(2))
    second[rng.permutation(items)[:changed]] = 7
    return first, second


def apart(groups):
    return sum(variation(group).sum() for group in groups)


def modes(run):
    """The most frequent code of each row, the first seen of equally frequent ones."""
    return np.array([max(dict.fromkeys(row), key=list(row).count) for row in run.tolist()])


def test_answers_are_counted_by_item_and_run():
    first = [[5, 5, 3], [2, 2, 2], [-1, -1, -1], [1, 0, -1]]
    second = [[3, 3, 3], [2, 2, -1], [4, 4, 4], [0, 0, 0]]
    one, two = tallies(first, second)
    assert one.items.tolist() == [1]
    assert (one.a.tolist(), one.b.tolist()) == ([[3]], [[2]])
    assert two.items.tolist() == [0, 3]
    assert two.codes.tolist() == [[3, 0], [5, 1]]
    assert (two.a.tolist(), two.b.tolist()) == ([[1, 1], [2, 1]], [[3, 3], [0, 0]])


def test_runs_without_a_common_item_have_no_counts():
    assert tallies([[0, 0], [-1, -1]], [[-1, -1], [1, 1]]) == ()
    assert tallies(np.zeros((0, 3), int), np.zeros((0, 3), int)) == ()


def test_distance_by_hand():
    # 2/3 against 0 of the one answer, 1/3 against 1 of the other
    (found,) = tallies([[5, 5, 3]], [[3, 3, 3]])
    assert variation(found).tolist() == pytest.approx([2 / 3])


def test_tied_answers_agree_by_chance():
    # x and y tie in the first run; the second says y: half the ways to decide agree
    assert modes_differ(np.array([[2], [2]]), np.array([[0], [3]])) == pytest.approx([0.5])


def test_deals_are_those_of_all_ways_to_deal():
    first, second = [[0, 0, 0, 1]], [[1, 1, 2]]
    pooled = np.array([0, 0, 0, 1, 1, 1, 2])
    distances, differing = [], []
    for hand in combinations(range(7), 4):
        mask = np.isin(np.arange(7), hand)
        a, b = (np.bincount(pooled[part], minlength=3)[:, None] for part in (mask, ~mask))
        distances.append(0.5 * np.abs(a / 4 - b / 3).sum())
        differing.append(modes_differ(a, b)[0])
    found = deal(tallies(first, second), 20_000)
    assert found.variation.mean() == pytest.approx(np.mean(distances), abs=0.005)
    assert found.differing.mean() == pytest.approx(np.mean(differing), abs=0.01)
    values, share = np.unique(np.round(distances, 9), return_counts=True)
    for value, expected in zip(values, share / 35, strict=True):
        assert np.isclose(found.variation, value).mean() == pytest.approx(expected, abs=0.015)


def test_runs_that_say_one_thing_alone_are_never_told_apart():
    found = deal(tallies(np.zeros((9, 5), int), np.zeros((9, 5), int)), 100)
    assert found.p_differing(0) == found.p_variation(0) == 1


def uniformly(null, observed, rng):
    """A p-value whose ties are broken at random: uniform to the last digit if the null is right."""
    above, same = (null > observed + 1e-9).sum(), (abs(null - observed) <= 1e-9).sum()
    return (above + rng.random() * (same + 1)) / (len(null) + 1)


def test_both_p_values_are_uniform_for_two_runs_of_one_thing():
    rng = np.random.default_rng(11)
    distance, mode = [], []
    for seed in range(600):
        first, second = runs(rng)
        groups = tallies(first, second)
        null = deal(groups, 200, seed)
        distance.append(uniformly(null.variation, apart(groups), rng))
        mode.append(uniformly(null.differing, (modes(first) != modes(second)).sum(), rng))
    for p_values in (distance, mode):
        # Kolmogorov and Smirnov's 0.1 % bound for 600 values is 0.08
        ordered = np.sort(p_values)
        assert np.abs(ordered - (np.arange(600) + 0.5) / 600).max() < 0.08


def test_the_distance_finds_what_most_frequent_answers_do_not_show():
    rng = np.random.default_rng(12)
    found = []
    for seed in range(60):
        first, second = runs(rng, changed=4)
        groups = tallies(first, second)
        null = deal(groups, 300, seed)
        found.append(
            (null.p_variation(apart(groups)), null.p_differing((modes(first) != modes(second)).sum()))
        )
    by_distance, by_mode = (np.array(found) <= 0.05).mean(axis=0)
    assert by_distance == 1
    assert by_mode < 0.5


def test_what_is_said_to_be_detectable_is_detected_that_often():
    rng = np.random.default_rng(13)
    smallest = detectable_items(tallies(*runs(rng, answers=4)))
    assert smallest == pytest.approx(6, abs=2)
    rates = {}
    for changed in (smallest // 2, smallest, smallest + 2):
        hits = []
        for seed in range(200):
            groups = tallies(*runs(rng, answers=4, changed=changed))
            hits.append(deal(groups, 200, seed).p_variation(apart(groups)) <= 0.05)
        rates[changed] = np.mean(hits)
    assert rates[smallest // 2] < 0.75
    assert rates[smallest] > 0.65
    assert rates[smallest + 2] > 0.8


def test_two_answers_each_need_three_items_of_three():
    # One item turned over has both answers of either run alike in one deal of three: 1/3, 1/9, then 1/27.
    same = np.zeros((3, 2), int)
    assert detectable_items(tallies(same, same)) == 3
    assert detectable_items(tallies(same[:2], same[:2])) is None


def test_a_resample_keeps_the_stored_answer_as_often_as_enumeration_says():
    # three draws from x, x, y: y is in front when at least two of them are y
    lost = modes_lost(tallies([[4, 4, 9]], [[4, 4, 4]]), [4], draws=40_000)
    assert lost == pytest.approx([3 * (1 / 3) ** 2 * (2 / 3) + (1 / 3) ** 3], abs=0.01)


def test_a_tied_stored_answer_is_lost_half_the_time():
    lost = modes_lost(tallies([[4, 9] * 10], [[4] * 20]), [4], draws=40_000)
    assert lost == pytest.approx([0.5], abs=0.01)


def test_the_tail_of_unlike_trials():
    assert at_least(0, [0.2, 0.5]) == 1
    assert at_least(1, [0.2, 0.5]) == pytest.approx(1 - 0.8 * 0.5)
    assert at_least(2, [0.2, 0.5, 0.0]) == pytest.approx(0.1)
    assert at_least(3, [0.2, 0.5]) == 0


def test_the_published_null_finds_differences_where_there_are_none():
    # It takes the stored run's most frequent answer for the truth: nominally 5 % of two-sided |z| > 2.
    rng = np.random.default_rng(14)
    outside, by_deals = [], []
    for seed in range(300):
        first, second = runs(rng)
        groups = tallies(first, second)
        stored, observed = modes(first), (modes(first) != modes(second)).sum()
        lost = modes_lost(groups, stored, 200, seed)
        outside.append((observed - lost.sum()) / np.sqrt((lost * (1 - lost)).sum()))
        by_deals.append(deal(groups, 200, seed).p_differing(observed))
    assert np.mean(outside) > 0.3
    assert np.mean(np.array(outside) > 2) > 0.06
    assert np.mean(np.array(by_deals) <= 0.05) < 0.06


def test_the_same_seed_gives_the_same_deals():
    groups = tallies(*runs(np.random.default_rng(15)))
    assert (deal(groups, 50, 1).variation == deal(groups, 50, 1).variation).all()
    assert (deal(groups, 50, 1).variation != deal(groups, 50, 2).variation).any()
