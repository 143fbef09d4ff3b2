"""Steadiness: a published example, unequal numbers of readings, and what no figure may do."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method, Stability
from leadline.lenses.registry import run_lenses
from leadline.lenses.wobble import LENS, POOLED
from leadline.stats.intervals import wilson
from leadline.stats.mcnemar import mcnemar_exact
from tests.lenses.frames import STUDY_PROTOCOL, study_frame
from tests.lenses.small import (
    GREEDY_AND_M,
    answers,
    figures,
    samples,
    shuffled,
    table,
    whole,
    with_partition,
)

PROTOCOL = replace(GREEDY_AND_M, methods=(Method("m", vote=20),), stability=Stability(rarefy=2))


def found(rows, protocol=PROTOCOL):
    return LENS.whole(whole(rows, protocol))


def steadiness(*items, protocol=PROTOCOL):
    rows = [row for at, values in enumerate(items) for row in samples("m", f"i{at}", *values)]
    return figures(table(found(rows, protocol), "overall"), configuration="m")


def counts(figure):
    return figure.numerator, figure.denominator


def test_nineteen_of_twenty_alike_is_unstable_and_yet_right_by_majority():
    # "$1,250,000" and "1250000" are one value once read
    seen = steadiness(["gold"] * 19 + ["1500000"])
    assert counts(seen["wobble"]) == (1, 1)
    assert seen["dispersion"].value == pytest.approx(0.05)
    assert seen["acc"].value == 1
    assert seen["pairwise"].value == pytest.approx(1 - 19 * 18 / (20 * 19))


def test_only_readable_answers_are_compared():
    seen = steadiness(["gold", None, "gold"], ["x", "y", None], [None, None, None])
    assert counts(seen["wobble"]) == (1, 2)
    assert counts(seen["response_rate"]) == (4, 9)
    assert counts(seen["acc"]) == (1, 2)


def test_items_without_a_readable_answer_are_counted_in_a_note():
    rows = [*samples("m", "a", "x", "x"), *samples("m", "b", None, None)]
    assert "Items without any readable answer are left out: m 1 of 2." in table(found(rows), "overall").notes


def test_rarefaction_by_hand():
    # of two readings of x, x, x, y half the pairs differ; two readings that differ always do
    seen = steadiness(["x", "x", "x", "y"], ["x", "y"])
    assert seen["rarefied"].value == pytest.approx((1 / 2 + 1) / 2)
    assert seen["rarefied"].note == "m = 2"


def test_items_of_fewer_readings_than_m_are_left_out_of_the_rarefied_figure_alone():
    protocol = replace(PROTOCOL, stability=Stability(rarefy=10))
    seen = steadiness(*[["x"] * 10] * 39, ["x", "y"], protocol=protocol)
    assert seen["rarefied"].note == "m = 10, items with fewer readings left out: 1"
    assert counts(seen["rarefied"]) == (0, 39)
    assert seen["wobble"].numerator == 1
    none = steadiness(["x", "y"], protocol=protocol)["rarefied"]
    assert (none.value, none.note) == (None, "no item has m = 10 readings")


def test_unequal_numbers_of_readings_are_pointed_out():
    rows = [*samples("m", "a", "x", "x", "x"), *samples("m", "b", "x", "x")]
    assert any("m 2 to 3" in note for note in table(found(rows), "overall").notes)


def test_equally_frequent_values_are_counted_and_the_first_one_decides():
    overall = table(found([*samples("m", "a", "x", "gold"), *samples("m", "b", "gold", "x")]), "overall")
    assert counts(figures(overall, configuration="m")["acc"]) == (1, 2)
    assert any(note.startswith("In 2 of 2 cells several values") for note in overall.notes)


def test_nothing_asked_twice_has_no_wobble():
    assert found([*answers("greedy", "01"), *answers("m", "11")]) == []


def test_samples_that_split_the_failures_and_members_asked_once_are_left_out():
    rows = [*samples("t", "a", "x", "y"), *samples("p", "a", "x", "y"), *samples("greedy", "a", "x")]
    protocol = with_partition()
    members = replace(protocol, members=tuple(one for one in whole(rows, protocol).members))
    overall = table(found(rows, members), "overall")
    assert [row.keys for row in overall.rows] == [{"configuration": "t"}]


# --- numbers are compared under three rules ---


def numbers(item, exact, declared, rounding):
    own = declared or rounding
    rows = samples("m", item, *own, answer_type="number")
    for at, row in enumerate(rows):
        row.update(value_exact=exact[at], value_rounding=rounding[at])
        row.update(value_declared=declared[at] if declared else None)
    return rows


def test_three_rules_stand_beside_the_study_s_own_and_other_types_count_alike_under_each():
    rows = [
        *numbers("longer", ["0.909", "0.9091"], None, ["0.909", "0.909"]),
        *numbers("coarse", ["2.41", "2.43"], ["2.4", "2.4"], ["2.41", "2.43"]),
        *samples("m", "word", "x", "y"),
    ]
    seen = figures(table(found(rows), "overall"), configuration="m")
    unstable = {key: seen[key].numerator for key in seen if key.startswith("wobble")}
    assert unstable == {"wobble": 1, "wobble_exact": 3, "wobble_declared": 1, "wobble_rounding": 2}
    exact = run_lenses(readings_frame(rows), replace(PROTOCOL, stability=Stability("exact", rarefy=2)))
    (overall,) = [one for one in exact if (one.lens, one.table) == ("wobble", "overall")]
    by_rule = figures(overall, configuration="m")
    assert by_rule["wobble"].numerator == by_rule["wobble_exact"].numerator == 3
    assert by_rule["wobble_rounding"].numerator == 2


def test_without_a_declared_precision_there_is_nothing_to_compare_by():
    seen = steadiness(["x", "y"])["wobble_declared"]
    assert (seen.value, seen.note) == (None, "no item declares a precision")


# --- several configurations ---


def two(here, there):
    """Two configurations of two samples: "x" a stable item, "!" an unstable one, "-" none at all."""
    rows = []
    for name, items in (("a", here), ("b", there)):
        for at, kind in enumerate(items):
            if kind != "-":
                rows += samples(name, f"i{at:02d}", "x", "x" if kind == "x" else "y")
    return rows


def test_all_configurations_together_are_resampled_item_by_item():
    # Two configurations that agree on every item tell no more than one: Wilson over cells thinks they do.
    seen = table(found(two("!" * 20 + "x" * 80, "!" * 20 + "x" * 80)), "overall")
    alone, pooled = (figures(seen, configuration=name) for name in ("a", POOLED))
    assert counts(pooled["wobble"]) == counts(pooled["wobble_wilson"]) == (40, 200)
    assert (pooled["wobble_wilson"].low, pooled["wobble_wilson"].high) == wilson(40, 200)
    width = {key: pooled[key].high - pooled[key].low for key in ("wobble", "wobble_wilson")}
    assert width["wobble"] > 1.3 * width["wobble_wilson"]
    assert pooled["rarefied"].value == pytest.approx(alone["rarefied"].value)


@pytest.mark.parametrize(("kind", "counted"), [("!", 8), ("x", 0)])
def test_of_all_configurations_that_agree_on_every_item_no_more_is_known_than_of_one(kind, counted):
    seen = table(found(two(kind * 8, kind * 8)), "overall")
    alone, pooled = (figures(seen, configuration=name)["wobble"] for name in ("a", POOLED))
    assert counts(pooled) == (2 * counted, 16)
    assert (pooled.low, pooled.high) == (alone.low, alone.high) == wilson(counted, 8)
    assert pooled.method == "wilson over items"


def test_few_unstable_items_are_said_to_be_too_few_for_the_bootstrap():
    few, enough = (table(found(two("!" * n + "x" * 50, "x" * (n + 50))), "overall") for n in (9, 10))
    assert any("Only 9 items are unstable" in note for note in few.notes)
    assert not any("Only" in note for note in enough.notes)


def test_one_configuration_alone_is_not_pooled():
    assert [
        row.keys["configuration"] for row in table(found(samples("m", "a", "x", "y")), "overall").rows
    ] == ["m"]


def test_the_steadiest_configuration_is_compared_with_each_other_one():
    clear = table(found(two("x" * 40, "!" * 12 + "x" * 28)), "steadiest")
    seen = figures(clear, configuration="a", against="b")
    assert counts(seen["only_there"]) == (12, 40)
    assert seen["only_here"].numerator == 0
    assert seen["mcnemar_p"].value == mcnemar_exact(0, 12)
    assert seen["difference"].value == pytest.approx(-12 / 40)
    assert clear.claims[0].status is ClaimStatus.SUPPORTED
    close = table(found(two("!" * 5 + "x" * 35, "x" * 5 + "!" * 6 + "x" * 29)), "steadiest")
    assert close.claims[0].status is ClaimStatus.NOT_SUPPORTED
    assert "exact McNemar p = 1" in close.claims[0].conservative


def test_too_few_items_can_make_nobody_the_steadiest():
    (claim,) = table(found(two("xxx", "!!!")), "steadiest").claims
    assert claim.status is ClaimStatus.UNREACHABLE
    (claim,) = table(found(two("xx--", "--!!")), "steadiest").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


# --- what may be said ---


def test_answers_that_change_only_in_how_they_are_written_support_no_claim():
    rows = numbers("a", ["0.909", "0.9091"], None, ["0.909", "0.909"])
    (claim,) = table(found(rows), "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    assert claim.conservative.startswith("none of 1 items under rounding sameness; at most 79.3 %")
    (claim,) = table(found(samples("m", "a", "x", "y")), "overall").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "100.0 % (1/1)"


# --- by category, task and answer type ---


def category(name, tasks, per_task, unstable, configuration="m"):
    return [
        row
        for at in range(tasks * per_task)
        for row in samples(
            configuration,
            f"{name}{at}",
            *(["x", "y"] if at < unstable else ["x", "x"]),
            category=name,
            task=f"{name}{at % tasks}",
        )
    ]


def test_a_category_of_two_tasks_has_no_rate_but_keeps_its_counts_and_tells_the_rate_in_a_note():
    by_category = table(found(category("law", 2, 3, 1)), "by category")
    seen = figures(by_category, category="law", configuration="m")
    assert (seen["wobble"].value, *counts(seen["wobble"])) == (None, 1, 6)
    assert seen["wobble"].note == "2 tasks, at least 3 are needed; for completeness 0.167 [0.030, 0.564]"
    assert seen["tasks"].value == 2
    three = figures(table(found(category("law", 3, 2, 1)), "by category"), category="law", configuration="m")
    assert three["wobble"].value == 1 / 6


def test_tasks_of_which_nothing_was_read_do_not_count():
    rows = [*category("law", 3, 1, 1), *samples("m", "mute", None, None, category="law", task="other")]
    seen = figures(table(found(rows), "by category"), category="law", configuration="m")
    assert seen["tasks"].value == 3


def test_a_benchmark_without_tasks_keeps_its_category_rates_and_says_so():
    by_category = table(found(samples("m", "a", "x", "y", category="law")), "by category")
    assert figures(by_category, category="law", configuration="m")["wobble"].value == 1
    assert "The benchmark declares no tasks, so none could be counted." in by_category.notes


def test_a_task_s_figures_are_those_of_its_items_alone():
    rows = [*category("law", 3, 40, 7), *category("art", 3, 2, 3)]
    by_task = table(found(rows), "by task")
    for task in ("law0", "law2", "art1"):
        alone = [row for row in rows if row["task"] == task]
        expected = figures(table(found(alone), "overall"), configuration="m")
        seen = figures(by_task, task=task, configuration="m")
        assert seen["wobble"] == expected["wobble"]
        assert seen["rarefied"].value == pytest.approx(expected["rarefied"].value)
        assert seen["rarefied"].low == pytest.approx(expected["rarefied"].low, abs=0.05)


def test_answer_types_are_told_apart():
    rows = [
        *samples("m", "a", "x", "y", answer_type="date"),
        *samples("m", "b", "x", "x", answer_type="enum"),
    ]
    by_type = table(found(rows), "by answer type")
    rates = {row.keys["answer_type"]: row.figures["wobble"].value for row in by_type.rows}
    assert rates == {"date": 1, "enum": 0}


# --- what must hold whatever was answered ---

values = st.lists(st.sampled_from(["gold", "x", "y", None]), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None)
@given(st.lists(values, min_size=1, max_size=8))
def test_every_figure_is_a_share(items):
    seen = steadiness(["x", "x"], *items)  # the first item makes sure that something was asked twice
    for figure in seen.values():
        assert figure.value is None or 0 <= figure.low <= figure.value <= figure.high <= 1
    # what the most frequent value leaves over is less than what pairs of readings can disagree on
    assert seen["dispersion"].value <= seen["wobble"].value


@settings(max_examples=20, deadline=None)
@given(st.lists(values, min_size=2, max_size=8), st.integers(0, 1000))
def test_neither_the_order_of_rows_nor_a_second_export_changes_anything(items, seed):
    rows = [row for at, said in enumerate(items) for row in samples("m", f"i{at}", *said, task=f"t{at % 2}")]
    frame = readings_frame(rows)
    twice = pl.concat([frame, shuffled(frame, seed)])
    assert found(shuffled(frame, seed)) == found(frame) == found(twice)


@settings(max_examples=20, deadline=None)
@given(st.lists(values, min_size=2, max_size=8), st.lists(values, min_size=1, max_size=12))
def test_a_further_configuration_changes_nothing_of_the_first(items, others):
    rows = [row for at, said in enumerate(items) for row in samples("a", f"i{at}", *said, task=f"t{at % 2}")]
    more = [
        row
        for at, said in enumerate(others)
        for row in samples("b", f"i{at}", *said, "x", "z", task=f"t{at % 2}")
    ]

    def of_the_first(findings):
        return [
            (finding.table, row)
            for finding in findings
            if finding.table != "steadiest"
            for row in finding.rows
            if row.keys["configuration"] == "a"
        ]

    assert of_the_first(found([*rows, *more])) == of_the_first(found(rows))


def test_a_study_of_two_models_has_each_configuration_of_each():
    (overall,) = [
        one
        for one in run_lenses(study_frame(), STUDY_PROTOCOL)
        if (one.lens, one.table) == ("wobble", "overall")
    ]
    names = [row.keys["configuration"] for row in overall.rows]
    assert len(names) == len(set(names)) == 2 * 3 + 1 and names[-1] == POOLED
    cells = sum(row.figures["wobble"].denominator for row in overall.rows[:-1])
    assert overall.rows[-1].figures["wobble"].denominator == cells


def test_rarefied_wobble_of_all_readings_is_wobble_itself():
    rng = np.random.default_rng(3)
    items = [[*rng.choice(["x", "y"], 6, p=[0.8, 0.2])] for _ in range(40)]
    seen = steadiness(*items, protocol=replace(PROTOCOL, stability=Stability(rarefy=6)))
    assert seen["rarefied"].value == pytest.approx(seen["wobble"].value)
