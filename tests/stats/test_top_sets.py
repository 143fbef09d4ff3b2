"""What rankings share at the top: by hand, against a slow and plain version, and against published counts."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats.top_sets import best_first, shared, top_sets
from tests.stats.published_tasks import SHARED_AT_5, TASK_WOBBLE

tables = st.integers(1, 9).flatmap(
    lambda units: st.lists(
        st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.5]), min_size=units, max_size=units),
        min_size=2,
        max_size=4,
    )
)


def plain_top(scores, k, order=None):
    """The first k places with a score above zero; `order` breaks ties, places by default."""
    places = sorted(range(len(scores)), key=lambda at: (-scores[at], order[at] if order else at))
    return {at for at in places[:k] if scores[at] > 0}


def test_shares_by_hand():
    # A ranks 0, 1, 2; B ranks 2, 0; the third ranks nothing
    found = top_sets([[0.5, 0.3, 0.1, 0, 0], [0.1, 0, 0.4, 0, 0], [0, 0, 0, 0, 0]], k=1)
    assert found.hits[0, 1] == 1 and found.hits[1, 0] == 0
    assert found.pairs.tolist() == [[False, True, False], [True, False, False], [False] * 3]
    assert found.expected[0, 1] == pytest.approx(1 * 2 / 5)
    assert found.short.tolist()[0][:2] == [False, False]
    wider = top_sets([[0.5, 0.3, 0.1, 0, 0], [0.1, 0, 0.4, 0, 0]], k=2)
    assert wider.share[0, 1] == pytest.approx(1 / 2) and wider.share[1, 0] == 1
    # of 2k = 4 places neither fills all
    assert wider.own.tolist() == [2, 2] and wider.wide.tolist() == [3, 2] and wider.short.all()


@given(tables, st.integers(1, 5))
def test_a_plain_version_with_sets_agrees(table, k):
    found = top_sets(table, k)
    for a, b in product(range(len(table)), repeat=2):
        assert found.hits[a, b] == len(plain_top(table[a], k) & plain_top(table[b], 2 * k))
        assert found.own[a] == len(plain_top(table[a], k))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.5]), min_size=4, max_size=4), min_size=2, max_size=2),
    st.integers(1, 2),
)
def test_untied_is_the_mean_over_all_ways_of_breaking_ties(table, k):
    orders = list(permutations(range(4)))
    ways = [
        len(plain_top(table[0], k, first) & plain_top(table[1], 2 * k, second))
        for first in orders
        for second in orders
    ]
    assert top_sets(table, k).untied[0, 1] == pytest.approx(np.mean(ways))


def test_without_ties_at_the_cut_untied_is_the_plain_count():
    table = np.random.default_rng(0).random((4, 50))
    found = top_sets(table, 6)
    assert np.allclose(found.untied, found.hits)


def test_ties_broken_by_place_share_more_than_blind_sets_and_untied_do_not():
    rng = np.random.default_rng(1)
    scores = np.zeros((2, 300))
    scores[:, :120] = 0.05  # all tied: the place alone decides
    found = [top_sets(rng.permuted(scores, axis=1), 5) for _ in range(400)]
    expected = found[0].expected[0, 1]
    assert np.mean([one.untied[0, 1] for one in found]) == pytest.approx(expected, rel=0.02)
    assert np.mean([one.hits[0, 1] for one in found]) > 5 * expected


def test_what_is_not_ranked_is_in_no_set_however_wide():
    assert top_sets([[0.5, 0.5], [0.5, 0.0]], k=5).hits.tolist() == [[2, 1], [1, 1]]
    assert shared(best_first(np.zeros((2, 3)))[None], (3,)).sum() == 0


@pytest.mark.parametrize(
    ("k", "hits", "expected", "ratio", "truncated"),
    [(3, 39, 3.811765, 10.23, 0), (4, 58, 6.437647, 9.01, 18), (5, 84, 9.423529, 8.91, 36)],
)
def test_published_expectations_follow_from_how_much_each_ranks(k, hits, expected, ratio, truncated):
    # Probity, table 3: ten configurations, 425 items; four have 9, 8, 6 and 6 unstable items, six at least 10
    ranked = [9, 8, 6, 6, 10, 12, 15, 20, 25, 30]
    table = np.array([[1.0] * number + [0.0] * (425 - number) for number in ranked])
    found = top_sets(table, k)
    assert found.pairs.sum() == 90
    assert found.expected[found.pairs].sum() == pytest.approx(expected, abs=1e-6)
    assert hits / found.expected[found.pairs].sum() == pytest.approx(ratio, abs=0.005)
    assert (found.short & found.pairs).sum() == truncated


def test_published_hits_of_all_ninety_pairs_of_real_rankings_with_many_ties():
    found = top_sets(np.array([TASK_WOBBLE[task] for task in sorted(TASK_WOBBLE)]).T, k=5)
    assert found.hits[found.pairs].tolist() == np.array(SHARED_AT_5)[found.pairs].tolist()
    assert found.hits[found.pairs].sum() == 250
    # ties at the cut are decided by name; broken at random they give
    assert found.untied[found.pairs].sum() == pytest.approx(248.1667, abs=1e-4)
