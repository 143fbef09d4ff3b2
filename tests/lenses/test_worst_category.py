"""The worst category against the mean: which categories compete, and what the conservative rule takes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Stability
from leadline.lenses.worst_category import LENS
from leadline.stats.intervals import wilson
from tests.lenses.small import GREEDY_AND_M, figures, samples, shuffled, table, whole


def category(name, tasks, items, unstable, configuration="m"):
    """So many items over so many tasks, the first of them unstable."""
    return [
        row
        for at in range(items)
        for row in samples(
            configuration,
            f"{name}{at:03d}",
            *(["x", "y"] if at < unstable else ["x", "x"]),
            category=name,
            task=f"{name}{at % tasks}" if tasks else "",
        )
    ]


def found(rows, protocol=GREEDY_AND_M):
    return LENS.whole(whole(rows, protocol))


def of(findings, floor="5 tasks", configuration="m"):
    (row,) = [
        row
        for row in table(findings, "by configuration").rows
        if (row.keys["floor"], row.keys["configuration"]) == (floor, configuration)
    ]
    return row


LAW = category("law", 5, 50, 20)
ART = category("art", 5, 50, 5)


def test_the_ratio_is_that_of_the_highest_rate_to_the_rate_of_all_items():
    row = of(found([*LAW, *ART, *category("music", 2, 20, 0)]))
    assert row.keys["worst"] == "law"
    # music has too few tasks to be compared, but its items are part of the mean
    assert row.figures["ratio"].value == pytest.approx((20 / 50) / (25 / 120))
    assert row.figures["conservative_ratio"].value == pytest.approx(wilson(20, 50).low / wilson(25, 120).high)
    assert row.figures["ratio"].low is None and "picked" in row.figures["ratio"].note


def test_a_large_category_may_hold_the_largest_lower_bound_where_a_small_one_has_the_highest_rate():
    row = of(found([*category("tiny", 5, 5, 3), *category("big", 5, 200, 100), *category("calm", 5, 200, 0)]))
    assert row.keys["worst"] == "tiny"
    conservative = row.figures["conservative_ratio"]
    assert conservative.note == "the largest lower bound is that of big"
    assert conservative.numerator == wilson(100, 200).low


def test_categories_of_three_tasks_count_at_the_lower_floor_alone():
    findings = found([*LAW, *ART, *category("music", 3, 6, 6)])
    assert of(findings, "3 tasks").keys["worst"] == "music"
    assert of(findings, "5 tasks").keys["worst"] == "law"


def test_items_without_a_category_are_no_category_but_part_of_the_mean():
    row = of(found([*LAW, *ART, *category("", 5, 50, 50)]))
    assert row.keys["worst"] == "law"
    assert row.figures["wobble"].denominator == 150


def test_one_category_alone_has_nothing_to_be_worse_than():
    findings = found([*LAW, *category("art", 4, 8, 8)])
    row = of(findings)
    assert row.keys["worst"] == "n/a"
    assert row.figures["ratio"].value is None
    assert row.figures["ratio"].note == "fewer than two categories span 5 tasks"
    (claim,) = table(findings, "overall").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


def test_without_tasks_nothing_can_be_called_the_worst():
    (claim,) = table(found([*category("law", 0, 9, 9), *category("art", 0, 9, 0)]), "overall").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


def test_without_categories_there_is_nothing_to_say():
    assert found(samples("m", "a", "x", "y")) == []


def test_where_nothing_wobbles_there_is_no_ratio_and_the_conservative_one_is_zero():
    row = of(found([*category("law", 5, 50, 0), *category("art", 5, 50, 0)]))
    assert row.figures["ratio"].value is None
    assert row.figures["conservative_ratio"].value == 0


def test_a_clear_multiple_is_supported_and_a_chance_one_is_not():
    clear = [
        row
        for name in ("a", "b", "c")
        for row in (*category("law", 5, 60, 50, name), *category("art", 5, 300, 6, name))
    ]
    (claim,) = table(found(clear), "overall").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.point == f"median {(50 / 60) / (56 / 360):.2f}×"
    assert claim.conservative.endswith("3/3 above 1×, 3/3 above 2×")
    (claim,) = table(found([*LAW, *category("art", 5, 50, 14)]), "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED


def several(*rates, times=1):
    """A configuration for each pair of unstable items of a hundred, `times` over: in law, in art."""
    return [
        row
        for number, (law, art) in enumerate(rates)
        for row in (
            *category("law", 5, 100 * times, law * times, f"c{number}"),
            *category("art", 5, 100 * times, art * times, f"c{number}"),
        )
    ]


def test_a_gap_that_stays_as_the_mean_falls_is_a_growing_multiple():
    # the worst lies ten points above the mean, whatever the mean
    line = [(20 + 10 * at + at % 2, 10 * at) for at in range(6)]
    trend = table(found(several(*line, times=5)), "trend")
    seen = figures(trend, subset="all configurations")
    assert seen["slope"].value == pytest.approx(1, abs=0.05)
    assert seen["intercept"].low > 0.05
    assert seen["clear"].value == 1
    assert seen["intercept_p"].value < 0.05
    assert trend.claims[0].status is ClaimStatus.SUPPORTED


def test_a_largest_rate_that_chance_could_have_made_is_no_growing_gap():
    line = [(20 + 10 * at + at % 2, 10 * at) for at in range(6)]
    trend = table(found(several(*line)), "trend")
    seen = figures(trend, subset="all configurations")
    assert seen["intercept"].low > 0.05
    assert seen["clear"].value < 0.5
    assert trend.claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_a_worst_category_in_proportion_to_the_mean_has_no_growing_multiple():
    trend = table(found(several((10, 4), (20, 11), (30, 14), (40, 22), (60, 29))), "trend")
    assert trend.claims[0].status is ClaimStatus.NOT_SUPPORTED
    assert "contains zero" in trend.claims[0].conservative


def test_a_line_needs_five_configurations():
    few = replace(GREEDY_AND_M, stability=Stability(subsets=(("two", ("c0", "c1")),)))
    trend = table(found(several((10, 4), (20, 11), (30, 14), (40, 22)), few), "trend")
    assert [row.keys["subset"] for row in trend.rows] == [
        "all configurations"
    ]  # no line through a set of two
    assert len(trend.claims) == 1
    assert figures(trend, subset="all configurations")["slope"].value is None
    assert trend.claims[0].status is ClaimStatus.NOT_ESTIMABLE
    alike = table(found(several(*[(10, 4)] * 5)), "trend")
    assert figures(alike, subset="all configurations")["slope"].note == "all configurations wobble alike"


def test_a_named_set_of_configurations_has_a_line_of_its_own():
    rows = several((10, 4), (20, 11), (30, 14), (40, 22), (60, 29), (99, 99))
    protocol = replace(
        GREEDY_AND_M, stability=Stability(subsets=(("first", tuple(f"c{at}" for at in range(5))),))
    )
    trend = table(found(rows, protocol), "trend")
    assert figures(trend, subset="first")["configurations"].value == 5
    alone = table(found(several((10, 4), (20, 11), (30, 14), (40, 22), (60, 29))), "trend")
    assert figures(trend, subset="first") == figures(alone, subset="all configurations")


def unsteady_by_task(seed, categories=4, tasks=3, per_task=50, configurations=6):
    """Categories are alike, but one task wavers under every configuration, however steady it is."""
    rng = np.random.default_rng(seed)
    broken = rng.integers(categories * tasks)
    return [
        row
        for number in range(configurations)
        for task in range(categories * tasks)
        for at, draw in enumerate(rng.random(per_task))
        for low in [draw < (0.8 if task == broken else 0.2 * number / configurations)]
        for row in samples(
            f"c{number}",
            f"{task:02d}-{at:02d}",
            *(["x", "y"] if low else ["x", "x"]),
            category=f"k{task % categories}",
            task=f"t{task:02d}",
        )
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_task_that_always_wavers_makes_no_category_whose_multiple_grows(seed):
    trend = table(found(unsteady_by_task(seed)), "trend")
    seen = figures(trend, subset="all configurations")
    assert seen["intercept"].low > 0 and seen["clear"].value > 0.5
    assert seen["intercept_p"].value > 0.05
    assert trend.claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_the_selection_of_the_largest_rate_lifts_the_intercept_no_more_than_in_the_null():
    # one rate for all categories: what lies above zero is the largest of eight by chance
    rng = np.random.default_rng(41)
    rows = [
        row
        for number, rate in enumerate([0.02, 0.02, 0.03, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.14, 0.2, 0.28])
        for kind in range(8)
        for at in range(48)
        for row in samples(
            f"c{number:02d}",
            f"{kind}-{at:02d}",
            *(["x", "y"] if rng.random() < rate else ["x", "x"]),
            category=f"k{kind}",
            task=f"{kind}-{at % 3}",
        )
    ]
    trend = table(found(rows), "trend")
    seen = figures(trend, subset="all configurations")
    assert seen["intercept"].low > 0 and seen["intercept_p"].value > 0.05
    assert trend.claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_two_categories_of_three_tasks_cannot_show_it():
    rows = [
        row
        for at in range(6)
        for row in (
            *category("law", 3, 300, 60 + 30 * at + 3 * (at % 2), f"c{at}"),
            *category("art", 3, 300, 30 * at, f"c{at}"),
        )
    ]
    trend = table(found(rows), "trend")
    # two of the twenty ways to deal six tasks to two categories have these three together
    p = figures(trend, subset="all configurations")["intercept_p"].value
    assert p == pytest.approx(0.1, abs=0.03) and p >= 0.1  # whatever was drawn
    assert trend.claims[0].status is ClaimStatus.UNREACHABLE


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=4), st.integers(0, 99)
)
def test_neither_order_nor_further_configurations_change_the_rows_of_one(pairs, seed):
    rows = [
        row
        for number, (law, art) in enumerate(pairs)
        for row in (*category("law", 5, 20, law, f"c{number}"), *category("art", 5, 20, art, f"c{number}"))
    ]
    frame = readings_frame(rows)
    findings = found(frame)
    assert found(shuffled(frame, seed)) == findings
    alone = found([row for row in rows if row["configuration"] == "c0"])
    for floor in ("3 tasks", "5 tasks"):
        assert of(findings, floor, "c0") == of(alone, floor, "c0")
