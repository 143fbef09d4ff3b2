"""Intervals of units that are all alike: what so many of them leave open, against figures on paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.bundle.verifier.alike import alike_difference, alike_groups, alike_share, are_alike
from leadline.stats.alike import alike, difference_of_alike, difference_of_groups, share_of_alike
from leadline.stats.bootstrap import bootstrap_ratio

Z2 = 1.959963984540054**2


def test_none_of_four_items_leaves_every_second_one_open() -> None:
    assert share_of_alike(0.0, 4) == pytest.approx((0, Z2 / (4 + Z2)))
    assert share_of_alike(1.0, 8) == pytest.approx((8 / (8 + Z2), 1))


def test_no_difference_on_sixteen_items_leaves_as_much_open_on_either_side() -> None:
    assert difference_of_alike(0.0, 16) == pytest.approx((-Z2 / (16 + Z2), Z2 / (16 + Z2)))
    assert difference_of_alike(1.0, 16) == pytest.approx(((16 - Z2) / (16 + Z2), 1))
    assert difference_of_alike(-1.0, 16) == pytest.approx((-1, (Z2 - 16) / (16 + Z2)))


def test_the_value_lies_within_and_more_units_leave_less_open() -> None:
    for value in (0.0, 1 / 3, 0.6, 1.0):
        few, many = (share_of_alike(value, units) for units in (5, 50))
        assert few.low is not None and few.high is not None and many.low is not None and many.high is not None
        assert few.low <= many.low <= value <= many.high <= few.high
        assert few.high - few.low > 2 * (many.high - many.low)


def test_sums_of_fractions_are_alike_whatever_their_last_digits() -> None:
    assert 0.1 + 0.1 + 0.1 != 0.3
    assert alike([0.1 + 0.1 + 0.1, 0.1], [3, 1])
    assert alike([0, 0, 0], [5, 0, 1])  # a unit without a part says nothing
    assert not alike([0, 0, 1], [5, 0, 1])
    assert not alike([12, 9], [1, 0])  # what an item without a part costs is a cost


def test_a_mean_off_the_scale_is_a_mistake() -> None:
    assert share_of_alike(1 + 1e-12, 3).high == 1
    with pytest.raises(ValueError, match=r"1\.5 does not lie between 0 and 1"):
        share_of_alike(1.5, 3)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=12),
)
def test_units_are_alike_where_resampling_them_shows_no_width(units: list[tuple[int, int]]) -> None:
    above, below = (np.array([unit[part] for unit in units], dtype=float) for part in (0, 1))
    low, high = bootstrap_ratio(above, below, draws=300)
    assert low is not None and high is not None
    if alike(above, below):
        assert high - low < 1e-9
    elif len(units) < 4:
        assert high > low


@given(st.floats(-1, 1), st.floats(0, 1), st.integers(1, 400), st.integers(1, 400))
def test_the_second_computation_has_the_same_ends(
    difference: float, share: float, units: int, others: int
) -> None:
    assert alike_difference(difference, units) == pytest.approx(
        difference_of_alike(difference, units), abs=1e-9
    )
    assert alike_share(share, units) == pytest.approx(share_of_alike(share, units), abs=1e-12)
    assert alike_groups(share, units, 1 - share, others) == pytest.approx(
        difference_of_groups(share, units, 1 - share, others), abs=1e-9
    )
    assert are_alike([share] * 3, [1] * 3) and alike([share] * 3, [1] * 3)
