"""Kappa and alpha give the published worked examples, and say where they cannot be told."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats.agreement import Level, _alpha_of_two, alpha, kappa, resampled_kappa

NONE = math.nan
# Four observers, twelve units, with gaps: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011),
# section D: nominal 0.743, ordinal 0.815, interval 0.849, ratio 0.797.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]
# Two observers, ten units, a dichotomy: the same paper, section A: 0.095.
TWO = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
# Two observers, twelve units, five categories: the same paper, section B: 0.692.
FIVE = [[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]]


def pairs(both: int, first: int, second: int, neither: int) -> tuple[list[str], list[str]]:
    """Labels of two readers whose 2 × 2 table is this."""
    cells = [("yes", "yes")] * both + [("yes", "no")] * first + [("no", "yes")] * second
    cells += [("no", "no")] * neither
    return [one for one, _ in cells], [other for _, other in cells]


def test_kappa_of_worked_examples() -> None:
    # Arithmetic, of no source: 20 5 / 10 15 is observed 0.70, by chance 0.50. Published tables stand below.
    value, interval = kappa(*pairs(20, 5, 10, 15))
    assert value == pytest.approx(0.40)
    assert interval.low == pytest.approx(0.151, abs=1e-3) and interval.high == pytest.approx(0.649, abs=1e-3)
    # Arithmetic too. Equal agreement (0.60), other margins: 0.130 and 0.259.
    assert kappa(*pairs(45, 15, 25, 15))[0] == pytest.approx(0.1304, abs=1e-4)
    assert kappa(*pairs(25, 35, 5, 35))[0] == pytest.approx(0.2593, abs=1e-4)


# 200 diagnoses (personality disorder, neurosis, psychosis) by two judges: J. Cohen, Weighted kappa,
# Psychological Bulletin 70 (1968) 213–220, table 1, as counts: unweighted 0.492.
DIAGNOSES = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
# 100 patients (psychotic, neurotic, organic) by two raters: J. L. Fleiss, B. Levin and M. C. Paik,
# Statistical Methods for Rates and Proportions (3rd ed., 2003), table 18.1: observed 0.89, by chance 0.66.
PATIENTS = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]


def told(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """Labels of two readers whose table is this."""
    cells = [(row, column) for row, its in enumerate(table) for column, n in enumerate(its) for _ in range(n)]
    return [one for one, _ in cells], [other for _, other in cells]


@pytest.mark.parametrize(("table", "expected"), [(DIAGNOSES, 0.492), (PATIENTS, 0.6765)])
def test_kappa_of_published_tables_with_three_categories(table: list[list[int]], expected: float) -> None:
    value, interval = kappa(*told(table))
    assert value == pytest.approx(expected, abs=5e-4)
    resampled = resampled_kappa(*told(table))
    for low, high in (interval, resampled):
        assert low is not None and high is not None and low < expected < high
    # Two ways to one thing: at a hundred rows they say nearly the same.
    assert resampled == pytest.approx(interval, abs=0.03)


def test_an_interval_over_resampled_rows_depends_on_the_data_and_the_seed_alone() -> None:
    first, second = told(PATIENTS)
    assert resampled_kappa(first, second) == resampled_kappa(first, second, seed=0)
    assert resampled_kappa(first, second, seed=1) != resampled_kappa(first, second, seed=2)
    assert resampled_kappa(["a"] * 9, ["a"] * 9) == (None, None)
    low, high = resampled_kappa(["a", "b", "c"] * 10, ["a", "b", "c"] * 10, draws=50)
    assert (low, high) == (1.0, 1.0)
    with pytest.raises(ValueError, match="1 labels beside 2"):
        resampled_kappa(["a"], ["a", "b"])


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_the_published_example_with_gaps(level: Level, expected: float) -> None:
    value, interval = alpha(FOUR, level, draws=200)
    assert value == pytest.approx(expected, abs=5e-4)
    assert interval.low is not None and interval.high is not None
    assert interval.low <= expected <= interval.high


def test_alpha_of_the_published_dichotomy_and_categories() -> None:
    assert alpha(TWO, "nominal", draws=1)[0] == pytest.approx(0.095, abs=5e-4)
    assert alpha(FIVE, "nominal", draws=1)[0] == pytest.approx(0.692, abs=5e-4)


@given(
    st.lists(st.tuples(st.integers(-3, 6), st.integers(-3, 6)), min_size=2, max_size=30),
    st.sampled_from(("nominal", "interval", "ratio")),
)
def test_alpha_of_two_readers_is_the_librarys_where_its_table_would_be_too_large(
    pairs: list[tuple[int, int]], level: Level
) -> None:
    said = np.asarray(pairs, dtype=np.float64).T
    said = np.abs(said) if level == "ratio" else said
    if np.unique(said).size > 1:
        weights = np.ones((1, len(pairs)), dtype=np.int64)
        expected = krippendorff.alpha(reliability_data=said, level_of_measurement=level)
        assert _alpha_of_two(said, level, weights)[0] == pytest.approx(expected, abs=1e-9)


def test_alpha_of_two_readers_and_four_hundred_values_takes_a_moment() -> None:
    first = np.arange(400, dtype=np.float64)
    second = np.where(first % 10 == 0, first + 1, first)
    value, (low, high) = alpha([first, second], "nominal")
    # 40 of 400 differ, and by chance hardly any would agree.
    assert value == pytest.approx(0.9, abs=0.001)
    assert low is not None and high is not None and 0.86 < low < 0.9 < high < 0.94


def test_what_cannot_be_told_is_no_number() -> None:
    assert kappa([], []) == (None, (None, None))
    assert kappa(["yes"] * 5, ["yes"] * 5) == (None, (None, None))
    assert alpha([[1, 1], [1, 1]], "nominal") == (None, (None, None))
    assert alpha([[1, NONE], [NONE, 2]], "nominal") == (None, (None, None))
    with pytest.raises(ValueError, match="3 labels beside 2"):
        kappa(["a", "b", "c"], ["a", "b"])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=40))
def test_kappa_does_not_depend_on_names_order_or_who_is_first(labels: list[tuple[str, str]]) -> None:
    first, second = [one for one, _ in labels], [other for _, other in labels]
    value, interval = kappa(first, second)
    assert kappa(second, first)[0] == pytest.approx(value, nan_ok=True)
    renamed = {"a": 3, "b": 1, "c": 2}
    assert kappa([renamed[one] for one in first], [renamed[one] for one in second])[0] == pytest.approx(
        value, nan_ok=True
    )
    if value is not None:
        assert -1 <= value <= 1
        assert interval.low is None or interval.low <= value + 1e-12
