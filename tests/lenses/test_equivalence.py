"""Two runs of one configuration: a published count, what a large p may say, and which names make a pair."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from leadline.lenses.equivalence import LENS
from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Member, Protocol, Stability
from leadline.lenses.whole import Whole
from tests.lenses.small import figures, reading, samples, shuffled, table


def protocol(*pairs, members=(("small", "stored"), ("small", "fresh"))):
    return Protocol(
        baseline="",
        methods=(),
        bootstrap_draws=200,
        members=tuple(Member(*one) for one in members),
        stability=Stability(equivalence=pairs, permutations=500),
    )


PROTOCOL = protocol(("stored", "fresh"))
KEYS = {"configuration": "stored", "other": "fresh"}


def looked(rows, told=PROTOCOL):
    frame = rows if isinstance(rows, pl.DataFrame) else readings_frame(rows)
    return LENS.whole(Whole(frame, frame, told))


def pair(rows, told=PROTOCOL):
    found = table(looked(rows, told), "pairs")
    return found, figures(found, **KEYS)


def two_runs(seed=1, items=40, answers=10, changed=0):
    """Readings of two runs of one thing; the second answers `changed` items otherwise."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        p = rng.choice([1.0, 1.0, 0.9, 0.7])
        for name in ("stored", "fresh"):
            drawn = ["gold" if one < p else "other" for one in rng.random(answers)]
            values = ["new"] * answers if name == "fresh" and item < changed else drawn
            rows += samples(name, f"i{item:02d}", *values)
    return rows


def test_two_runs_of_one_thing_are_not_told_apart_and_that_is_all_that_is_claimed():
    found, row = pair(two_runs())
    assert row["variation_p"].value > 0.05
    assert row["variation_expected"].low < row["variation"].value < row["variation_expected"].high
    (claim,) = found.claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    assert "does not show that they are the same" in claim.text
    assert f"{row['detectable'].numerator:.0f}/40" in claim.text
    assert found.notes[-1].startswith("A large p is not evidence that two runs are the same")


def test_a_change_of_a_few_items_is_found():
    found, row = pair(two_runs(changed=4))
    assert row["variation_p"].value == pytest.approx(1 / 501)
    assert row["variation_p"].note == "no deal reaches it: < 1/501"
    (claim,) = found.claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert "answer differently" in claim.text


def test_a_detectable_share_is_smaller_the_more_is_known():
    few, many = (pair(two_runs(answers=answers))[1]["detectable"].value for answers in (3, 20))
    assert many < few


def test_the_published_control_of_two_local_models_is_consistent_by_its_rule():
    # One of 14 items differs where 0.95 are expected, z = 0.08: here two items waver and one of them turns.
    rows = []
    for item in range(14):
        stored = ["x"] * 11 + ["y"] * 9 if item < 2 else ["x"] * 20
        fresh = ["x"] * 9 + ["y"] * 11 if item == 0 else stored
        rows += samples("stored", f"i{item}", *stored) + samples("fresh", f"i{item}", *fresh)
    row = pair(rows)[1]
    assert (row["differing"].numerator, row["differing"].denominator) == (1, 14)
    # P(Binomial(20, 9/20) > 10) + P(= 10) / 2, for either of two items
    assert row["resampled_expected"].numerator == pytest.approx(2 * 0.3286, abs=0.05)
    assert row["resampled_z"].note == "consistent by the published rule"
    assert abs(row["resampled_z"].value) < 1


def test_only_items_that_both_runs_were_asked_are_compared():
    rows = [*samples("stored", "a", "x", "x"), *samples("fresh", "a", "x", "x"), *samples("stored", "b", "x")]
    row = pair(rows)[1]
    assert (row["items"].numerator, row["items"].denominator) == (1, 2)
    assert row["differing"].denominator == 1
    # a run that was asked and said nothing has answered otherwise
    row = pair([*rows, *samples("fresh", "b", None)])[1]
    assert (row["items"].numerator, row["differing"].numerator) == (2, 1)
    assert (row["readable"].value, row["readable_other"].value) == (1, 2 / 3)


@pytest.mark.parametrize("state", ["refused", "unreadable", "error", "empty"])
def test_a_run_that_gives_the_same_answers_but_half_of_them_not_at_all_is_another(state):
    def runs(*silent):
        return [
            reading(name, f"i{item}", None if name in silent and sample % 2 else "gold", sample)
            | ({"state": state} if name in silent and sample % 2 else {})
            for name in ("stored", "fresh")
            for item in range(30)
            for sample in range(10)
        ]

    found, row = pair(runs("fresh"))
    assert (row["readable"].numerator, row["readable_other"].numerator) == (300, 150)
    assert row["variation"].value == pytest.approx(0.5)
    (claim,) = found.claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert "readable: 100.0 % against 50.0 %" in claim.text
    # where both do it alike there is no difference
    found, row = pair(runs("stored", "fresh"))
    assert row["variation"].value == 0
    assert found.claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_runs_that_were_asked_nothing_in_common_cannot_be_compared():
    found, row = pair([*samples("stored", "a", "x", "x"), *samples("fresh", "b", "x", "x")])
    assert "there is no item that both were asked" in found.claims[0].text
    assert row["variation"].value is None
    assert found.claims[0].status is ClaimStatus.NOT_ESTIMABLE


def test_two_answers_to_two_items_could_not_have_shown_a_difference():
    rows = [row for item in "ab" for name in KEYS.values() for row in samples(name, item, "x", "x")]
    found, row = pair(rows)
    assert row["detectable"].value is None
    assert found.claims[0].status is ClaimStatus.UNREACHABLE


def test_numbers_are_matched_across_configurations():
    # Within its own run each value stands by itself; over both, 0.909 and 0.9091 are one.
    rows = [
        reading(name, "a", value, sample, value_shared="0.909", answer_type="number")
        for name, value in (("stored", "0.909"), ("fresh", "0.9091"))
        for sample in range(4)
    ]
    row = pair(rows)[1]
    assert (row["differing"].value, row["variation"].value) == (0, 0)


def test_one_pair_of_names_pairs_configurations_within_each_model():
    members = tuple((model, name) for model in ("a", "b") for name in ("stored", "fresh"))
    rows = [{**row, "model": model} for model in ("a", "b") for row in two_runs()]
    found = table(looked(rows, protocol(("stored", "fresh"), members=members)), "pairs")
    assert [tuple(row.keys.values()) for row in found.rows] == [
        ("a · stored", "a · fresh"),
        ("b · stored", "b · fresh"),
    ]
    holm = [row.figures["variation_p_holm"].value for row in found.rows]
    p = [row.figures["variation_p"].value for row in found.rows]
    assert holm == pytest.approx([min(1, 2 * one) for one in p])
    assert all(claim.conservative.endswith("after Holm over 2 pairs") for claim in found.claims)


def test_a_name_without_answers_is_said():
    found = table(looked(two_runs(), protocol(("stored", "elsewhere"))), "pairs")
    assert found.notes[0] == "stored and elsewhere: no answers of elsewhere."
    assert found.rows == found.claims == ()


def test_a_study_that_names_no_pair_has_no_table():
    assert looked(two_runs(), protocol()) == []


def test_neither_order_nor_duplicates_of_rows_nor_a_further_configuration_change_anything():
    frame = readings_frame(two_runs())
    found = looked(frame)
    assert looked(shuffled(frame, seed=2)) == found
    assert looked(pl.concat([frame, frame.head(100)])) == found
    further = readings_frame(
        [row for item in range(40) for row in samples("third", f"i{item:02d}", "x", "x")]
    )
    more = replace(PROTOCOL, members=(*PROTOCOL.members, Member("small", "third")))
    assert looked(pl.concat([frame, further]), more)[0].rows == found[0].rows
