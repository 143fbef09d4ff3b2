"""Majority votes: who wins, who has no vote, and what is left out."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.frame import readings_frame
from leadline.lenses.verdicts import paired, verdicts
from tests.lenses.small import answers, reading, samples, shuffled


def verdict(rows, vote):
    (found,) = verdicts(readings_frame(rows), {"m": vote}).to_dicts()
    return found


def test_the_most_frequent_value_wins():
    found = verdict(samples("m", "a", "gold", "x", "x"), vote=3)
    assert (found["value"], found["correct"], found["votes"], found["tied"]) == ("x", False, 2, False)


def test_of_equally_frequent_values_the_one_seen_first_wins_and_the_tie_is_recorded():
    found = verdict(samples("m", "a", "x", "gold", "gold", "x"), vote=4)
    assert (found["value"], found["tied"]) == ("x", True)


def test_samples_beyond_the_vote_do_not_count():
    found = verdict(samples("m", "a", "gold", "x", "x"), vote=1)
    assert (found["value"], found["asked"], found["tokens_out"]) == ("gold", 1, 5)


def test_an_empty_answer_has_no_vote_but_costs_its_tokens():
    found = verdict(samples("m", "a", None, None, "gold"), vote=3)
    assert (found["value"], found["correct"], found["ok"], found["asked"]) == ("gold", True, 1, 3)
    assert found["tokens_out"] == 15


def test_no_vote_at_all_is_incorrect_and_says_why():
    found = verdict(samples("m", "a", None, None, state="refused"), vote=2)
    assert (found["value"], found["correct"], found["state"]) == (None, False, "refused")


def test_correctness_is_that_of_the_first_reading_with_the_winning_value():
    rows = samples("m", "a", "x", "x")
    rows[0]["correct"], rows[1]["correct_strict"] = True, True
    found = verdict(rows[::-1], vote=2)
    assert (found["correct"], found["correct_strict"]) == (True, False)


def test_a_failed_call_is_no_answer_so_its_item_is_not_compared():
    rows = answers("greedy", "000") + answers("m", "11")
    rows.append(reading("m", "i2", None, state="error"))
    table = verdicts(readings_frame(rows), {"greedy": 1, "m": 1})
    missed = table.filter(pl.col("item") == "i2").sort("configuration")
    assert missed["answered"].to_list() == [1, 0]
    assert paired(table, "greedy", "m")["item"].to_list() == ["i0", "i1"]


def test_configurations_that_play_no_part_are_ignored():
    assert verdicts(readings_frame(answers("other", "1")), {"m": 1}).height == 0


def by_hand(values):
    """Majority with ties to the earliest, written the plain way."""
    cast = [value for value in values if value is not None]
    return max(cast, key=lambda value: (cast.count(value), -cast.index(value)), default=None)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["gold", "x", "y", None]), min_size=1, max_size=7), min_size=1, max_size=6
    ),
    st.integers(0, 9),
)
def test_any_vote_agrees_with_a_vote_counted_by_hand_in_any_order_of_rows(items, seed):
    frame = readings_frame(
        [row for at, values in enumerate(items) for row in samples("m", f"i{at}", *values)]
    )
    table = verdicts(shuffled(frame, seed), {"m": 5}).sort("item")
    assert table["value"].to_list() == [by_hand(values[:5]) for values in items]
    assert table["correct"].to_list() == [by_hand(values[:5]) == "gold" for values in items]
    assert table.equals(verdicts(frame, {"m": 5}).sort("item"))
