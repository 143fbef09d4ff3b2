"""What K samples find of the sweep, and whether the order of methods survives another K."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.lenses.protocol import Method
from leadline.lenses.sampling_sweep import LENS, across, expected_found
from tests.lenses.small import answers, figures, table, view, with_partition
from tests.lenses.test_beyond_sampling import drawn

PROTOCOL = replace(with_partition(k=3, sweep=4), methods=(Method("m"), Method("o")))


def swept():
    """Four failures: first hit at sample 0, at sample 2, at sample 3, never; m gets i0 and i3, o gets i1."""
    rows = [*answers("greedy", "0000"), *answers("m", "1001"), *answers("o", "0100")]
    return view([*rows, *drawn(["1111", "0010", "0001", "0000"])], PROTOCOL)


def found(k):
    return figures(table(LENS.look(swept()), "sweep"), temperature="0.7", k=str(k))


def test_the_first_k_samples_find_what_they_find():
    assert [found(k)["found_share"].numerator for k in (1, 2, 3, 4)] == [1, 1, 2, 3]
    assert found(3)["found_share"].denominator == 3


def test_the_expected_share_does_not_hang_on_the_order_of_samples():
    # hits 4, 1, 1 of 4: one sample finds them with chance 1, 1/4, 1/4
    assert found(1)["found_share_expected"].value == pytest.approx((1 + 1 / 4 + 1 / 4) / 3)
    assert found(4)["found_share_expected"].value == 1


def test_the_order_of_methods_is_compared_with_that_at_the_studys_own_k():
    assert found(3)["kendall_dgr"].value == pytest.approx(1)
    # K = 1: shallow is i0 alone, m 1 and o 0; at K = 3 shallow is i0 and i1, m and o tie, so no order
    assert found(1)["kendall_sgr"].value is None
    assert found(1)["kendall_sgr"].note == "all methods are tied, or there is only one"


def test_the_note_says_what_k_finds():
    (note,) = table(LENS.look(swept()), "sweep").notes
    assert note.startswith("τ = 0.7: 3 samples find 66.7 % of what 4 find")


def test_over_models_the_mean_of_what_can_be_estimated():
    one = table(LENS.look(swept()), "sweep")
    (pooled,) = across([one, one.model_copy(update={"model": "other"})])
    row = figures(pooled, temperature="0.7", k="3")
    assert pooled.model == "all models"
    assert (row["found_share"].value, row["found_share"].denominator) == (pytest.approx(2 / 3), 2)
    assert row["kendall_sgr"].value is None
    assert across([one]) == []


def test_a_sweep_that_reaches_nothing_has_no_shares():
    rows = [*answers("greedy", "0"), *answers("m", "1"), *drawn(["0000"])]
    row = figures(table(LENS.look(view(rows, PROTOCOL)), "sweep"), temperature="0.7", k="2")
    assert row["found_share"].value is None
    assert row["found_share_expected"].note == "the sweep reaches no failure"


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_the_expectation_is_the_mean_over_all_choices_of_samples(right, k):
    k = min(k, len(right))
    choices = [any(choice) for choice in combinations(right, k)]
    expected = expected_found(np.array([sum(right)]), np.array([len(right)]), k)
    assert expected[0] == pytest.approx(np.mean(choices))
