"""Figures that hang on few draws: what may come out is allowed, and what cannot is not."""

from __future__ import annotations

import pytest

from leadline.bundle.verifier.expected import Expected, check_figure
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.lens_reliability import Seldom
from leadline.bundle.verifier.small_changes import smallest_changes

# One answer of the first run and two of the second.
_POOLS = [(list(said), 1) for said in ("aab", "abb", "aaa", "aaa", "abb", "abb")]


def test_a_change_on_the_edge_may_come_out_on_either_side_and_none_farther_off() -> None:
    assert smallest_changes(_POOLS) == [5, 6]


def test_where_answers_waver_in_everything_no_change_is_found() -> None:
    assert smallest_changes([(["a", "b"], 1)] * 6) == [None]


@pytest.mark.parametrize(("low", "faults"), [(-2.75, 0), (-1.0, 0), (-4.0, 1)])
def test_an_end_over_few_splits_is_one_that_splits_gave(low: float, faults: int) -> None:
    # One split in ten has a value at all.
    spread = [-2.75] * 20 + [-1.0] * 180 + [None] * 1800
    book = Book()
    figure = {"value": -1.0, "denominator": 4, "low": low, "high": -1.0}
    check_figure(
        "place", "reliability", figure, Expected(Seldom(spread, 0.5), None, 4, Seldom(spread)), 9, book
    )
    assert len(book.faults) == faults


@pytest.mark.parametrize(("defined", "faults"), [(1, 0), (200, 1)])
def test_no_value_may_come_out_only_where_hardly_any_split_has_one(defined: int, faults: int) -> None:
    spread = [0.5] * defined + [None] * (1000 - defined)
    book = Book()
    figure = {"value": None, "denominator": 4, "low": None, "high": None}
    check_figure(
        "place", "reliability", figure, Expected(Seldom(spread, 0.5), None, 4, Seldom(spread)), 9, book
    )
    assert bool(book.faults) == faults
