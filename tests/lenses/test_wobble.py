"""Steadiness: a published example, unequal numbers of readings, and what no figure may do."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method
from leadline.lenses.wobble import LENS, count_values, rarefied
from tests.lenses.small import GREEDY_AND_M, answers, figures, samples, table, view, with_partition

PROTOCOL = replace(GREEDY_AND_M, methods=(Method("m", vote=20),))


def steadiness(*items, protocol=PROTOCOL):
    rows = [row for at, values in enumerate(items) for row in samples("m", f"i{at}", *values)]
    return figures(table(LENS.look(view(rows, protocol)), "overall"), configuration="m")


def test_nineteen_of_twenty_alike_is_unstable_and_yet_right_by_majority():
    # "$1,250,000" and "1250000" are one value once read
    found = steadiness(["gold"] * 19 + ["1500000"])
    assert (found["wobble"].numerator, found["wobble"].denominator) == (1, 1)
    assert found["dispersion"].value == pytest.approx(0.05)
    assert found["acc"].value == 1
    assert found["pairwise"].value == pytest.approx(1 - 19 * 18 / (20 * 19))


def test_only_readable_answers_are_compared():
    found = steadiness(["gold", None, "gold"], ["x", "y", None], [None, None, None])
    assert (found["wobble"].numerator, found["wobble"].denominator) == (1, 2)
    assert (found["response_rate"].numerator, found["response_rate"].denominator) == (4, 9)
    assert (found["acc"].numerator, found["acc"].denominator) == (1, 2)


def test_rarefaction_by_hand():
    # m = 2: of two readings of x, x, x, y half the pairs differ; two readings that differ always do
    found = steadiness(["x", "x", "x", "y"], ["x", "y"])
    assert found["rarefied"].value == pytest.approx((1 / 2 + 1) / 2)
    assert found["rarefied"].note == "m = 2"


def test_a_few_items_with_few_readings_do_not_force_the_common_number_down():
    found = steadiness(*[["x"] * 10] * 39, ["x", "y"])
    assert found["rarefied"].note == "m = 10, items with fewer readings left out: 1"
    assert (found["rarefied"].value, found["rarefied"].denominator) == (0, 39)
    assert found["wobble"].numerator == 1


def test_unequal_numbers_of_readings_are_pointed_out():
    rows = [*samples("m", "a", "x", "x", "x"), *samples("m", "b", "x", "x")]
    assert any(
        "2 to 3 readable answers" in note for note in table(LENS.look(view(rows, PROTOCOL)), "overall").notes
    )


def test_nothing_asked_twice_has_no_wobble():
    assert LENS.look(view([*answers("greedy", "01"), *answers("m", "11")])) == []


def test_samples_that_split_the_failures_are_left_out():
    rows = [*samples("t", "a", "x", "y"), *samples("p", "a", "x", "y")]
    overall = table(LENS.look(view(rows, with_partition())), "overall")
    assert [row.keys for row in overall.rows] == [{"configuration": "t"}]


def category(name, tasks, per_task, unstable):
    return [
        row
        for at in range(tasks * per_task)
        for row in samples(
            "m",
            f"{name}{at}",
            *(["x", "y"] if at < unstable else ["x", "x"]),
            category=name,
            task=f"t{at % tasks}",
        )
    ]


def test_a_category_of_two_tasks_has_no_rate_but_keeps_its_counts():
    by_category = table(LENS.look(view(category("law", 2, 3, 1), PROTOCOL)), "by category")
    found = figures(by_category, category="law", configuration="m")
    assert (found["wobble"].value, found["wobble"].numerator, found["wobble"].denominator) == (None, 1, 6)
    assert found["tasks"].value == 2
    assert by_category.claims[0].status is ClaimStatus.NOT_ESTIMABLE


def test_the_worst_category_needs_five_tasks_and_a_clear_difference():
    clear = [*category("law", 5, 5, 24), *category("music", 5, 5, 2), *category("art", 2, 2, 4)]
    (claim,) = table(LENS.look(view(clear, PROTOCOL)), "by category").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert "law" in claim.text
    close = [*category("law", 5, 1, 2), *category("music", 5, 1, 1)]
    (claim,) = table(LENS.look(view(close, PROTOCOL)), "by category").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED


def test_a_benchmark_without_tasks_keeps_its_category_rates_and_says_so():
    rows = samples("m", "a", "x", "y", category="law")
    by_category = table(LENS.look(view(rows, PROTOCOL)), "by category")
    assert figures(by_category, category="law", configuration="m")["wobble"].value == 1
    assert by_category.notes == ("The benchmark declares no tasks, so none could be counted.",)


values = st.lists(st.sampled_from(["gold", "x", "y", None]), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None)
@given(st.lists(values, min_size=1, max_size=8))
def test_every_figure_is_a_share(items):
    found = steadiness(["x", "x"], *items)  # the first item makes sure that something was asked twice
    for figure in found.values():
        assert figure.value is None or 0 <= figure.low <= figure.value <= figure.high <= 1
    # what the most frequent value leaves over is less than what pairs of readings can disagree on
    assert found["dispersion"].value <= found["wobble"].value


@given(st.lists(st.sampled_from("xyz"), min_size=2, max_size=7), st.integers(2, 7))
def test_rarefied_wobble_is_the_share_of_subsets_that_disagree(readings, m):
    m = min(m, len(readings))
    subsets = [len(set(subset)) > 1 for subset in combinations(readings, m)]
    found = rarefied(count_values(readings_frame(samples("m", "a", *readings))), m)
    assert found["flips"].to_list() == [pytest.approx(np.mean(subsets))]
