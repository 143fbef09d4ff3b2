"""An axis is broken only where nothing lies, and only where much of it is empty."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leadline.report.figures.broken_axis import WORTH, axis_break
from leadline.stats.intervals import wilson

# Unstable items of all items, from the published table of twelve configurations.
PUBLISHED = (
    (6, 426), (6, 425), (8, 426), (9, 426), (12, 427), (20, 427), (20, 426), (20, 426), (23, 427), (29, 427),
    (132, 427), (162, 426),
)  # fmt: skip

ends = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda pair: (min(pair), max(pair)))


def test_the_published_axis_is_broken_between_the_frontier_and_the_two_small_models() -> None:
    intervals = [(one.low, one.high) for unstable, items in PUBLISHED if (one := wilson(unstable, items))]
    broken = axis_break([(low or 0.0, high or 0.0) for low, high in intervals], 0.45)
    assert broken is not None
    assert 0.0958 < broken.below < 0.145 and 0.25 > broken.above > 0.2
    assert axis_break([(low or 0.0, high or 0.0) for low, high in intervals[:10]], 0.1) is None


@given(st.lists(ends, min_size=1, max_size=20))
def test_no_interval_ever_meets_a_break_and_the_rest_of_the_axis_is_worth_less(
    intervals: list[tuple[float, float]],
) -> None:
    top = max(high for _, high in intervals) or 1.0
    broken = axis_break(intervals, top)
    if broken is None:
        return
    assert 0 < broken.below < broken.above < top
    for low, high in intervals:
        assert high < broken.below or low > broken.above
    assert any(high < broken.below for _, high in intervals), "bars begin at zero: the foot is never cut off"
    assert broken.above - broken.below >= 0.7 * WORTH * top


def test_values_that_follow_one_another_are_left_in_one_piece() -> None:
    assert axis_break([(0.1 * step, 0.1 * step + 0.05) for step in range(10)], 1.0) is None
