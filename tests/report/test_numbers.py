"""How figures are printed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.lenses.finding import Figure
from leadline.report.numbers import Kind, kind_of, percent, printed


def share(numerator: int, denominator: int, low: float = 0.0, high: float = 1.0) -> Figure:
    return Figure(
        value=numerator / denominator,
        numerator=numerator,
        denominator=denominator,
        low=low,
        high=high,
        method="wilson",
    )


def test_a_share_is_printed_with_its_counts_and_its_interval() -> None:
    figure = share(5, 40, 0.0546, 0.2611)
    assert str(printed("gain", figure)) == "12.5 % (5/40) [5.5, 26.1]"


@pytest.mark.parametrize(
    ("key", "figure", "text"),
    [
        ("difference", Figure(value=0.04, denominator=4, low=-0.01, high=0.1), "+4.0 pp (n=4) [−1.0, +10.0]"),
        ("net", Figure(value=-3, numerator=-3, denominator=48, low=-6.4, high=0.2), "−3 [−6, 0]"),
        ("mcnemar_p_holm", Figure(value=0.0004, denominator=9), "<0.001"),
        ("sign_p", Figure(value=0.0415, denominator=9), "0.042"),
        ("kendall_sgr", Figure(value=0.8912, method="kendall tau-b"), "0.89"),
        ("median_log2_shift", Figure(value=1.5, denominator=8, low=-2, high=3), "+1.50 (n=8) [−2.00, +3.00]"),
        ("hit", Figure(value=1234, numerator=1234, denominator=5000, method="count"), "1,234 (1,234/5,000)"),
        ("tokens_per_recovered", Figure(value=2239.65, numerator=44793, denominator=20), "2,240 (44,793/20)"),
        ("gain", Figure(value=None, numerator=0, denominator=0, note="no failure"), "– (0/0)"),
        ("rho", Figure(value=-0.4870, denominator=52, low=-0.7, high=-0.2), "−0.487 (n=52) [−0.700, −0.200]"),
        ("ratio", Figure(value=8.9139, numerator=84, denominator=9.4235), "8.91× (84/9.4)"),
        ("conservative_ratio", Figure(value=0.6008, numerator=0.16, denominator=0.27), "0.60×"),
        ("difference_newcombe", Figure(value=0.1673, low=0.1276, high=0.211), "+16.7 pp [+12.8, +21.1]"),
        ("p", Figure(value=1 / 2001, denominator=2000, method="permutation, one-sided"), "<0.0005"),
        ("p", Figure(value=1 / 2001, denominator=9, method="relabelled, 2000 permutations"), "<0.0005"),
        ("p", Figure(value=2 / 2001, denominator=2000, method="permutation, one-sided"), "<0.001"),
        ("p_tasks", Figure(value=1 / 2001, denominator=12, method="2000 permutations"), "<0.0005"),
        ("p", Figure(value=0.0415, denominator=2000, method="permutation, one-sided"), "0.042"),
        ("brand_new_measure", share(1, 3, 0.0615, 0.7923), "33.3 % (1/3) [6.2, 79.2]"),
    ],
)  # fmt: skip
def test_each_kind_of_number_has_its_form(key: str, figure: Figure, text: str) -> None:
    assert str(printed(key, figure)) == text


def test_halves_are_rounded_up_as_by_hand() -> None:
    assert percent(1 / 16) == "6.3 %"  # 6.25: banker's rounding would print 6.2
    assert percent(0.0005) == "0.1 %"
    assert percent(0.125) == "12.5 %"


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert printed("difference", Figure(value=-0.0001)).value == "0.0 pp"


def test_a_column_never_mixes_units() -> None:
    """A difference that is a quotient in one row and negative in the next is no share in either."""
    column = [share(5, 17), Figure(value=-3 / 17, numerator=-3, denominator=17, low=-0.4, high=0.1)]
    assert kind_of("unheard_of", column) is Kind.NUMBER
    assert kind_of("unheard_of", column[:1]) is Kind.SHARE


@given(st.integers(0, 500), st.integers(1, 500))
def test_a_printed_share_is_within_half_a_digit_of_the_truth(numerator: int, denominator: int) -> None:
    numerator = min(numerator, denominator)
    text = printed("acc", share(numerator, denominator))
    shown = float(text.value.removesuffix(" %"))
    assert math.isclose(shown, 100 * numerator / denominator, abs_tol=0.0500001)
    assert text.counted == f"{numerator}/{denominator}"
