"""Rank-biased overlap of rankings of unequal length: published values and a loop over prefixes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats.rank_biased_overlap import ceiling, rank_biased_overlap

rankings = st.lists(st.integers(0, 15), min_size=1, max_size=12, unique=True)


@given(rankings, rankings)
def test_a_loop_over_prefixes_agrees(first, second):
    depth = max(len(first), len(second))
    expected = 0.1 * sum(
        0.9 ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)
    )
    assert rank_biased_overlap(first, second) == pytest.approx(expected)
    assert rank_biased_overlap(second, first) == pytest.approx(expected)
    assert rank_biased_overlap(first, second) <= ceiling(len(first), len(second)) + 1e-12


@pytest.mark.parametrize(
    ("lengths", "most"), [((9, 6), 0.578681), ((20, 20), 0.878423), ((23, 29), 0.947985)]
)
def test_published_ceilings(lengths, most):
    assert ceiling(*lengths) == pytest.approx(most, abs=1e-6)
    longer, shorter = range(max(lengths)), range(min(lengths))
    assert rank_biased_overlap(longer, shorter) == pytest.approx(most, abs=1e-6)


def test_an_empty_ranking_has_none():
    assert rank_biased_overlap([], [1]) is None and ceiling(0, 3) is None
