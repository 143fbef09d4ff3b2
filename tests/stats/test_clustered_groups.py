"""Clusters as what is drawn: as items where each is one item, wider where their items resemble each other."""

import numpy as np
import pytest

from leadline.stats.clustered_groups import bootstrap_clusters, in_clusters, share_clusters, smallest_p
from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.two_groups import Counts, bootstrap_groups


def counts(numerators, each=1.0):
    return Counts(np.asarray(numerators, dtype=float), np.full(len(numerators), each))


def padded(group, before, after):
    return Counts(*(np.concatenate([np.zeros(before), part, np.zeros(after)]) for part in group))


def test_clusters_of_one_item_each_give_the_interval_over_items():
    one, other = counts([1, 0, 0, 1, 0, 1, 0]), counts([0, 0, 1, 0, 0])
    (clusters,) = bootstrap_clusters([padded(one, 0, 5)], [padded(other, 7, 0)], 500)
    assert clusters == bootstrap_groups([one], [other], 500)[0].difference


def test_items_of_one_task_that_are_alike_widen_the_interval():
    numerators = np.repeat([1, 0, 0, 0, 1, 0], 10)
    group, tasks = counts(numerators), np.repeat(np.arange(6), 10)
    other = counts(np.zeros(60))
    (clusters,) = bootstrap_clusters(
        [in_clusters(group, tasks, 12)], [in_clusters(other, tasks + 6, 12)], 1000
    )
    items = bootstrap_groups([group], [other], 1000)[0].difference
    assert clusters.high - clusters.low > 2 * (items.high - items.low)


def test_shared_clusters_carry_both_groups_so_that_a_common_rate_cancels():
    rates = np.array([0.0, 0.1, 0.5, 0.9, 1.0, 0.3])
    one, other = Counts(10 * rates + 1, np.full(6, 10.0)), Counts(10 * rates, np.full(6, 10.0))
    assert share_clusters(one, other)
    (ends,) = bootstrap_clusters([one], [other], 500)
    assert (ends.low, ends.high) == pytest.approx((0.1, 0.1))


def test_too_many_empty_resamples_leave_no_interval():
    # one of twenty clusters holds the group: it is missing from a third of the resamples
    one = Counts(np.r_[1.0, np.zeros(19)], np.r_[2.0, np.zeros(19)])
    assert bootstrap_clusters([one], [counts(np.ones(20), 2.0)], 1000) == [NO_INTERVAL]


def test_the_smallest_p_counts_the_deal_the_other_way_round_where_groups_are_equally_large():
    assert smallest_p(4, 4) == 2 / 70
    assert smallest_p(3, 5) == 1 / 56
