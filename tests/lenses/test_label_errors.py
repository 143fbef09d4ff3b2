"""Candidates for label errors: who agrees against the gold, how firmly, and what is never claimed of it."""

from dataclasses import replace

import polars as pl
import pytest

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.label_errors import LENS
from leadline.lenses.protocol import Member
from tests.lenses.panels import QUICK, unchanged_by_order_and_copies, whole_of
from tests.lenses.release_sample import needs_release, release_frame
from tests.lenses.small import samples, shuffled, table

look = LENS.whole


def study(*rows, protocol=QUICK):
    return whole_of(readings_frame([row for part in rows for row in part]), protocol)


def says(model, item, *values, **more):
    return samples("tau-0.7", item, *values, model=model, task="t", **more)


def found(study):
    (finding,) = look(study)
    return finding, {row.keys["item"]: row for row in finding.rows}


def five(item, *answers, **more):
    """Five configurations, each with its readings."""
    return [row for at, values in enumerate(answers) for row in says(f"m{at}", item, *values, **more)]


def test_all_against_the_gold_is_a_candidate_with_its_support_and_its_weakest_leg():
    rows = five("a", "xxxx", "xxxy", "xxyy", "xxxx", ["x", "x", None, None])
    _, by_item = found(study(rows, five("b", *[["gold", "gold"]] * 5)))
    assert list(by_item) == ["a"]
    row = by_item["a"]
    assert row.keys["value"] == "x"
    assert (row.figures["support"].numerator, row.figures["support"].denominator) == (15, 18)
    # two readings of two are as few as two of four; the smaller share is the weaker leg
    assert row.keys["weakest"] == "m2"
    assert (row.figures["floor"].numerator, row.figures["floor"].denominator) == (2, 4)
    assert (row.figures["agree"].value, row.figures["agree"].denominator) == (5, 5)


def test_a_text_is_shown_as_it_was_answered_and_not_in_its_normal_form():
    rows = five("a", *[["acmecorp"] * 3] * 3, answer_type="text", text="Acme  Corp")
    rows[0]["text"] = "acme corp"
    _, by_item = found(study(rows))
    assert by_item["a"].keys["value"] == "Acme Corp"
    for text in ("An answer that goes on and on until it is longer than a table's cell", "\x1b[31mAcme", ""):
        _, by_item = found(study([row | {"text": text} for row in rows]))
        assert by_item["a"].keys["value"] == "acmecorp"
    _, by_item = found(study([row | {"answer_type": "number"} for row in rows]))
    assert by_item["a"].keys["value"] == "acmecorp"


def test_one_dissenter_is_named_and_its_stray_readings_do_not_count_as_support():
    gold = ["gold", "gold", "gold", "x"]
    _, by_item = found(study(five("a", "xxxx", "xxxx", gold, "xxxx", "xxxx")))
    row = by_item["a"]
    assert row.keys["dissenter"] == "m2"
    assert (row.figures["support"].numerator, row.figures["support"].denominator) == (16, 20)
    assert row.keys["weakest"] == "m2"
    assert row.figures["floor"].numerator == 3  # for its own answer


def test_a_tie_with_the_label_is_no_opinion_against_it():
    """One configuration is always right; of the two others one wavers between the label and the value."""
    rows = [
        *says("m0", "a", "130", "130", "7"),
        *says("m1", "a", "130", "gold"),
        *says("m2", "a", *["gold"] * 4),
    ]
    finding, by_item = found(study(rows))
    assert not by_item
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED
    _, by_item = found(study(five("a", "xxxx", "xxxx", ["x", "x", "gold", "gold"], "xxxx", "xxxx")))
    assert not by_item


def test_more_readings_for_the_label_than_against_it_make_no_candidate():
    rows = [*says("m0", "a", "x", "x", "y"), *says("m1", "a", "x", "x", "z"), *says("m2", "a", *["gold"] * 4)]
    assert not found(study(rows))[1]
    rows = [*says("m0", "a", "x", "x", "x"), *says("m1", "a", "x", "x", "z"), *says("m2", "a", *["gold"] * 4)]
    row = found(study(rows))[1]["a"]
    assert (row.figures["support"].numerator, row.figures["for_label"].numerator) == (5, 4)


def test_a_candidate_that_a_configuration_holds_the_label_against_supports_nothing():
    rows = five("a", "xxxx", "xxxx", ["gold"] * 4, "xxxx", "xxxx")
    finding, by_item = found(study(rows))
    assert (by_item["a"].keys["dissenter"], by_item["a"].keys["dissent"]) == ("m2", "the label")
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED
    assert "; none by most readings of all" in finding.claims[0].text
    rows = five("a", "xxxx", "xxxx", "zzzz", "xxxx", "xxxx")
    finding, by_item = found(study(rows))
    assert by_item["a"].keys["dissent"] == "something else"
    assert finding.claims[0].status is ClaimStatus.SUPPORTED


def test_a_configuration_asked_once_is_not_compared_but_heard():
    again = five("a", *["xxxx"] * 5), five("b", *["xxxx"] * 5), five("c", *[["gold"] * 2] * 5)
    said = says("greedy", "a", "gold"), says("greedy", "b", "x"), says("greedy", "c", "gold")
    finding, by_item = found(study(*again, *said))
    assert list(by_item) == ["a", "b"]
    told = {item: row.figures["once_for_label"] for item, row in by_item.items()}
    assert {item: (one.value, one.denominator) for item, one in told.items()} == {"a": (1, 1), "b": (0, 1)}
    (claim,) = finding.claims
    assert "2 unanimously of 5 configurations that were asked repeatedly; 1 by most readings" in claim.text
    assert "; on 1 a configuration that was asked once says the label." in claim.text
    assert claim.conservative.startswith("1 with all configurations that were asked repeatedly at 90%")
    assert any(
        note.startswith("Asked once, and so not among the 5 configurations that are compared: greedy. On 1 ")
        for note in finding.notes
    )


def test_what_one_asked_once_says_for_the_label_is_not_outvoted():
    both = five("a", *["xxxx"] * 5), says("greedy", "a", "gold")
    finding, _ = found(study(*both))
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED
    assert "; none by most readings of all" in finding.claims[0].text
    finding, by_item = found(study(both[0], says("greedy", "a", "x")))
    assert finding.claims[0].status is ClaimStatus.SUPPORTED
    assert "on none a configuration that was asked once says the label" in finding.claims[0].text
    finding, by_item = found(study(both[0], says("greedy", "a", None)))
    assert (by_item["a"].figures["once_for_label"].denominator) == 0
    finding, by_item = found(study(both[0]))
    assert "once" not in finding.claims[0].text and "once_for_label" not in by_item["a"].figures


def test_items_that_a_person_decided_on_are_counted_whether_or_not_they_were_doubted():
    doubted = five("a", *["xx"] * 5, adjudication="rejected")
    sure = five("b", *[["gold"] * 2] * 5, adjudication="rejected")
    finding, by_item = found(study(doubted, sure, five("c", *["xx"] * 5)))
    assert list(by_item) == ["c"]
    assert "Not looked at, since a person decided on them: 2 items." in finding.notes


@pytest.mark.parametrize(
    "weakest, others",
    [("xxyz", "xxxx"), ("xxxy", "xyzw")],
    ids=["half of the weakest configuration's readings", "fewer than half of all readings"],
)
def test_without_most_readings_nothing_is_supported(weakest, others):
    finding, by_item = found(study(five("a", weakest, *[others] * 4)))
    assert list(by_item) == ["a"]
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED
    finding, _ = found(study(five("a", "xxxy", *["xxxx"] * 4)))
    assert finding.claims[0].status is ClaimStatus.SUPPORTED


def test_two_dissenters_are_too_many():
    gold = ["gold"] * 4
    finding, by_item = found(study(five("a", "xxxx", "xxxx", gold, gold, "xxxx")))
    assert not by_item
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_agreement_with_the_gold_is_no_candidate_even_where_few_say_so():
    _, by_item = found(study(five("a", *[["gold", "gold", "x", "y"]] * 5)))
    assert not by_item


def test_of_two_configurations_both_must_agree():
    both = study(says("m0", "a", "x", "x"), says("m1", "a", "x", "x"))
    assert list(found(both)[1]) == ["a"]
    one = study(says("m0", "a", "x", "x"), says("m1", "a", "y", "y"))
    assert not found(one)[1]


def test_unanimous_ones_come_first_then_those_with_most_readings():
    near = five("near", *["xxxx"] * 4, "zzzz")
    weak = five("weak", *["xxyy"] * 5)
    firm = five("firm", *["xxxx"] * 5)
    finding, by_item = found(study(near, weak, firm))
    assert list(by_item) == ["firm", "weak", "near"]
    (claim,) = finding.claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "3 items, 2 unanimously"
    assert claim.conservative.startswith("1 with all configurations at 90% or more")
    assert claim.conservative.endswith("weakest support anywhere 2 of 4 readings")


def test_an_item_that_one_configuration_did_not_read_is_not_decidable():
    rows = five("a", *["xx"] * 4, [None, None]) + five("b", *[["gold"] * 2] * 5)
    finding, by_item = found(study(rows))
    assert not by_item
    assert any("no reading of it: 1 item." in note for note in finding.notes)


def test_answers_of_different_configurations_are_compared_over_all_of_them():
    rows = [
        *says("m0", "a", "0.909", "0.909", value_shared="0.909"),
        *says("m1", "a", "0.9090909", "0.9090909", value_shared="0.909"),
        *says("m2", "a", "0.91", "0.91", value_shared="0.909"),
    ]
    _, by_item = found(study(rows))
    assert by_item["a"].keys["value"] == "0.909"
    assert by_item["a"].figures["agree"].value == 3


def test_items_that_were_left_out_are_looked_at_and_say_why():
    everyone = readings_frame(five("a", *["xx"] * 5, excluded="named") + five("b", *[["gold"] * 2] * 5))
    whole = replace(whole_of(everyone), readings=everyone.filter(pl.col("item") == "b"))
    (row,) = table(look(whole), "candidates").rows
    assert row.keys["excluded"] == "named"


def test_configurations_of_one_model_say_nothing_of_labels():
    rows = [
        row
        for name in ("tau-0.7", "tau-1.2", "recite")
        for row in samples(name, "a", "x", "x", model="small", task="t")
    ]
    finding, by_item = found(study(rows))
    assert list(by_item) == ["a"]
    assert finding.claims[0].status is ClaimStatus.NOT_ESTIMABLE
    kin = tuple(Member(model, "tau-0.7", family="one") for model in ("m0", "m1", "m2"))
    rows = [row for one in kin for row in says(one.model, "a", "x", "x")]
    finding, _ = found(study(rows, protocol=replace(QUICK, members=kin)))
    assert finding.claims[0].status is ClaimStatus.NOT_ESTIMABLE


def test_few_configurations_are_pointed_out():
    finding, _ = found(study(says("m0", "a", "x", "x"), says("m1", "a", "x", "x")))
    assert any("2 configurations of 2 families" in note for note in finding.notes)
    assert look(study(says("m0", "a", "x", "x"))) == []
    kin = tuple(Member(model, "tau-0.7", family="one") for model in ("m0", "m1"))
    rows = [row for one in kin for row in says(one.model, "a", "x", "x")]
    finding, _ = found(study(rows, protocol=replace(QUICK, members=kin)))
    assert any("2 configurations of 1 family of models" in note for note in finding.notes)


def test_answers_given_once_are_enough_to_agree_and_said_to_be():
    finding, by_item = found(study(five("a", "x", "x", "x", "x", "x")))
    assert by_item["a"].figures["floor"].denominator == 1
    assert any("Nothing was asked twice" in note for note in finding.notes)


def test_of_very_many_candidates_the_firmest_are_listed_and_the_rest_counted():
    rows = [row for at in range(203) for row in five(f"i{at:03d}", *["xx"] * 4, "xx" if at else "xy")]
    finding, by_item = found(study(rows))
    assert len(by_item) == 200 and "i000" not in by_item
    assert any("3 more candidates" in note for note in finding.notes)


def test_row_order_and_duplicates_change_nothing():
    rows = five("a", "xxxx", "xxxy", "xxyy", "xxxx", "yxxx") + five("b", *["yxyx"] * 5)
    assert unchanged_by_order_and_copies(look, readings_frame(rows))


@needs_release
def test_real_answers_that_contain_the_gold_make_no_candidates():
    finding, by_item = found(whole_of(release_frame()))
    assert not by_item
    assert finding.claims[0].point == "0 items"


@needs_release
def test_a_label_that_the_windows_own_arithmetic_contradicts_is_found_among_real_answers():
    # The label says 0.39; (value - deductions) / shares in the window is 0.3849, which four of five say
    better = ["deepseek-v4f", "deepseek-v4p", "gemini3-flash-or", "gpt-oss-120b-or", "minimax-m2.5-or"]
    frame = release_frame().filter(pl.col("model").is_in(better))
    finding, by_item = found(whole_of(shuffled(frame, seed=2)))
    (row,) = by_item.values()
    assert row.keys["item"] == "col3_selected_companies_fy18e"
    assert (row.keys["value"], row.keys["dissenter"]) == ("0.38", "deepseek-v4f")
    assert (row.figures["support"].numerator, row.figures["support"].denominator) == (64, 89)
    assert finding.claims[0].point == "1 item, 0 unanimously"
    # the dissenter says what the label says
    assert row.keys["dissent"] == "the label" and finding.claims[0].status is ClaimStatus.NOT_SUPPORTED
    assert any("never a correction" in note for note in finding.notes)
