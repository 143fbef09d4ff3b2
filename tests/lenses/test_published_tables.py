"""Every rate and interval of the published tables that follows from counts, most through the lenses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.wobble import LENS, POOLED
from leadline.lenses.worst_category import LENS as WORST
from leadline.stats.intervals import newcombe, wilson
from tests.lenses.published_items import published_frame
from tests.lenses.published_table import (
    CATEGORIES,
    counts,
    measured,
    printed,
    table_frame,
    table_protocol,
    thousandths,
)
from tests.lenses.small import figures, table, whole

FEW_TASKS = ("cap table", "exit waterfall")


@pytest.fixture(scope="module")
def study():
    return whole(table_frame(), table_protocol())


@pytest.fixture(scope="module")
def wobble(study):
    return LENS.whole(study)


@pytest.fixture(scope="module")
def worst(study):
    return WORST.whole(study)


# --- tables 1 and 5, figure 1 ---


def test_each_printed_cell_has_one_count_and_the_counts_add_up_to_the_other_table():
    for label, (items, unstable, _, cells) in printed().items():
        found = [counts(cell, measured(label, category)) for category, cell in cells.items()]
        assert all(len(its) == 1 for its in found), label
        assert sum(its[0] for its in found) == unstable
        assert sum(measured(label, category) for category in CATEGORIES) == items


@pytest.mark.parametrize("label", printed())
def test_the_lens_gives_every_rate_and_interval_of_the_category_table(wobble, label):
    by_category = table(wobble, "by category")
    for category, cell in printed()[label][3].items():
        figure = figures(by_category, category=category, configuration=label)["wobble"]
        if category in FEW_TASKS:
            rate, low, high = (number / 1000 for number in cell)
            assert figure.value is None and figure.low is None
            assert figure.note.endswith(f"for completeness {rate:.3f} [{low:.3f}, {high:.3f}]")
        else:
            assert thousandths(figure.numerator, figure.denominator, figure.low, figure.high) == cell


def test_one_printed_bound_was_rounded_twice():
    low = wilson(4, 26).low
    assert (f"{low:.3f}", f"{round(low, 4):.3f}") == ("0.062", "0.061")


@pytest.mark.parametrize("label", printed())
def test_the_lens_gives_items_unstable_and_accuracy_of_each_configuration(wobble, label):
    found = figures(table(wobble, "overall"), configuration=label)
    items, unstable, accuracy, _ = printed()[label]
    assert (found["wobble"].numerator, found["wobble"].denominator) == (unstable, items)
    assert (found["wobble"].low, found["wobble"].high) == wilson(unstable, items)
    assert round(1000 * found["acc"].value) == accuracy


def test_the_accuracies_are_whole_counts_of_items():
    for label, (items, _, accuracy, _) in printed().items():
        assert any(round(1000 * right / items) == accuracy for right in range(items + 1)), label


def test_the_frontier_lies_between_zero_and_145_thousandths_and_the_small_ones_begin_at_a_quarter(wobble):
    # what the broken axis of figure 1 is said to span
    rows = [figures(table(wobble, "overall"), configuration=label)["wobble"] for label in printed()]
    assert max(one.high for one in rows[:10]) < 0.145
    assert min(one.low for one in rows[10:]) > 0.25


def test_all_configurations_together(wobble):
    pooled = figures(table(wobble, "overall"), configuration=POOLED)
    assert (pooled["wobble"].numerator, pooled["wobble"].denominator) == (447, 5116)
    ends = (pooled["wobble_wilson"].low, pooled["wobble_wilson"].high)
    assert tuple(round(end, 4) for end in ends) == (0.0799, 0.0954)


def test_the_item_bootstrap_of_the_clean_rate_is_the_published_one():
    # Table 2: 0.087 [.077, .098], from the counts of each item
    frame = published_frame()
    pooled = figures(table(LENS.whole(whole(frame)), "overall"), configuration=POOLED)["wobble"]
    assert (pooled.numerator, pooled.denominator) == (447, 5116)
    assert (pooled.low, pooled.high) == pytest.approx((0.077, 0.098), abs=0.0015)


# --- table 4: the worst category, and whether its gap grows ---

PER_CONFIGURATION = {
    "gemma3-1b": (1.618, 0.996), "deepseek-v4f": (2.142, 0.503), "deepseek-v4p": (1.638, 0.512),
    "gemma4-31b": (3.641, 0.662), "mistral-large": (2.737, 0.463), "minimax-m2.5": (4.531, 1.722),
    "llama3.3-70b": (4.096, 0.583), "gemma3-1b-qat": (1.493, 0.811), "gemini3-flash": (2.559, 0.518),
    "haiku-4.5": (2.724, 0.232), "gpt-oss-120b": (2.458, 0.618), "gpt5-mini": (3.285, 0.869),
}  # fmt: skip


@pytest.mark.parametrize("floor", ["3 tasks", "5 tasks"])
def test_the_worst_category_of_each_configuration_against_its_mean(worst, floor):
    rows = [row for row in table(worst, "by configuration").rows if row.keys["floor"] == floor]
    found = {
        row.keys["configuration"]: tuple(
            round(row.figures[key].value, 3) for key in ("ratio", "conservative_ratio")
        )
        for row in rows
    }
    assert found == PER_CONFIGURATION
    overall = figures(table(worst, "overall"), floor=floor)
    assert overall["median_ratio"].value == pytest.approx(2.641459, abs=5e-7)
    assert overall["median_conservative"].value == pytest.approx(0.600819, abs=5e-7)
    assert (overall["above_1"].numerator, overall["above_2"].numerator) == (1, 0)


def test_the_worst_category_claim_does_not_survive(worst):
    (claim,) = table(worst, "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    assert claim.point == "median 2.64×"
    assert claim.conservative == "median 0.60× at the Wilson bounds; 1/12 above 1×, 0/12 above 2×"


def test_the_gap_does_not_grow_as_models_improve(worst):
    trend = table(worst, "trend")
    found = figures(trend, subset="frontier")
    assert found["slope"].value == pytest.approx(3.428742, abs=5e-7)
    assert found["intercept"].value == pytest.approx(-0.016311, abs=5e-7)
    assert found["r_squared"].value == pytest.approx(0.679773, abs=5e-7)
    # published: 1.96 standard errors; by t with 8 degrees of freedom the interval is 2.306 / 1.96 as wide
    assert any("[−0.082, 0.049] for the intercept" in note for note in trend.notes)
    half = found["intercept"].high - found["intercept"].value
    assert half / (0.049129 + 0.016311) == pytest.approx(2.306 / 1.96, rel=1e-3)
    claim = next(one for one in trend.claims if "frontier" in one.text)
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    assert claim.point == "slope 3.43" and "contains zero (R² 0.680, n = 10)" in claim.conservative
    every = figures(trend, subset="all configurations")
    assert (round(every["slope"].value, 4), round(every["r_squared"].value, 4)) == (1.4497, 0.9147)


# --- table 7 and the figures around it ---

REPAIR = [
    # before and after of cells, then both rates and the change, thousandths
    (0, 2, 24, (0, 0, 138), (83, 23, 258), (-83, -258, 67)),
    (10, 12, 60, (167, 93, 280), (200, 118, 318), (-33, -172, 107)),
    (22, 11, 36, (611, 449, 752), (306, 180, 469), (306, 75, 494)),
    (32, 25, 120, (267, 196, 352), (208, 145, 289), (58, -49, 165)),
]


@pytest.mark.parametrize(("before", "after", "cells", "was", "now", "change"), REPAIR)
def test_the_repair_table(before, after, cells, was, now, change):
    assert thousandths(before, cells, *wilson(before, cells)) == was
    assert thousandths(after, cells, *wilson(after, cells)) == now
    assert thousandths(before - after, cells, *newcombe(before, cells, after, cells)) == change


def test_the_repair_s_tasks_add_up_to_its_total():
    assert [sum(row[at] for row in REPAIR[:3]) for at in range(3)] == list(REPAIR[3][:3])


SHARES = [
    # unstable, cells, then rate and interval as the paper's text prints them, thousandths
    (110, 432, 255, 216, 298), (447, 5116, 87, 80, 95), (69, 204, 338, 277, 406), (38, 204, 186, 139, 245),
    (3, 24, 125, 43, 310), (37, 156, 237, 177, 310), (102, 1198, 85, 71, 102), (117, 444, 264, 225, 306),
    (16, 96, 167, 105, 254), (2, 2, 1000, 342, 1000),
]  # fmt: skip


@pytest.mark.parametrize(("unstable", "cells", "rate", "low", "high"), SHARES)
def test_shares_of_the_text(unstable, cells, rate, low, high):
    assert thousandths(unstable, cells, *wilson(unstable, cells)) == (rate, low, high)


DIFFERENCES = [
    # flagged, clean, then the difference and Newcombe's interval: table 2 and the text of section 3
    ((110, 432), (447, 5116), (167, 128, 211)), ((102, 360), (131, 1408), (190, 143, 241)),
    ((8, 72), (316, 3708), (26, -29, 119)), ((52, 360), (153, 4263), (109, 75, 149)),
    ((49, 300), (50, 1173), (121, 81, 168)), ((3, 60), (103, 3090), (17, -17, 104)),
    ((69, 204), (447, 5116), (251, 189, 319)), ((38, 204), (447, 5116), (99, 51, 158)),
    ((3, 24), (447, 5116), (38, -44, 223)), ((37, 156), (447, 5116), (150, 89, 223)),
]  # fmt: skip


@pytest.mark.parametrize(("flagged", "clean", "change"), DIFFERENCES)
def test_differences_of_two_groups(flagged, clean, change):
    interval = newcombe(*flagged, *clean)
    difference = flagged[0] / flagged[1] - clean[0] / clean[1]
    assert tuple(round(1000 * number) for number in (difference, *interval)) == change


# --- the intervals themselves ---

share_of = st.integers(1, 6000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)
@given(share_of)
def test_wilson_is_that_of_statsmodels_and_of_the_formula(counted):
    successes, trials = counted
    found = wilson(successes, trials)
    assert found == pytest.approx(proportion_confint(successes, trials, method="wilson"), abs=1e-12)
    z, p = 1.959963984540054, successes / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (p * (1 - p) / trials + z * z / (4 * trials**2)) ** 0.5
    assert found == pytest.approx((middle - half, middle + half), abs=1e-12)


@settings(deadline=None)
@given(share_of, share_of)
def test_newcombe_is_that_of_statsmodels_and_of_the_formula(first, second):
    found = newcombe(*first, *second)
    expected = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert found == pytest.approx(expected, abs=1e-12)
    p, q = first[0] / first[1], second[0] / second[1]
    (low_p, high_p), (low_q, high_q) = wilson(*first), wilson(*second)
    low = p - q - ((p - low_p) ** 2 + (high_q - q) ** 2) ** 0.5
    high = p - q + ((high_p - p) ** 2 + (q - low_q) ** 2) ** 0.5
    assert found == pytest.approx((low, high), abs=1e-9)
