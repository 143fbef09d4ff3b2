"""Where the gold token went: by hand, over paths, masked, and the shares that sum to one."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.protocol import Method
from leadline.lenses.rank_shift import LENS
from tests.lenses.small import GREEDY_AND_M, figures, reading, table, view


def probed(configuration, item, rank, value="other", sample=0, masked=False, token=7):
    more = {"gold_rank": rank, "gold_masked": masked, "gold_token": token}
    return reading(configuration, item, value, sample, **more)


def shifted(ranks, **more):
    """Unrecovered failures with these ranks under baseline and method."""
    rows = [probed("greedy", f"i{at}", before) for at, (before, _) in enumerate(ranks)]
    rows += [probed("m", f"i{at}", after, **more) for at, (_, after) in enumerate(ranks)]
    return table(LENS.look(view(rows)), "overall")


def test_an_example_by_hand():
    found = figures(shifted([(8, 2), (8, 8), (4, 16), (2, 1)]), method="m")
    assert [found[key].numerator for key in ("improved", "tied", "worsened")] == [2, 1, 1]
    assert found["improved"].denominator == 4
    # log2 of 4, 1, 1/4, 2 is 2, 0, -2, 1: the median is 0.5
    assert found["median_log2_shift"].value == 0.5
    assert found["median_log2_shift"].low <= 0.5 <= found["median_log2_shift"].high
    assert found["sign_p"].value == 1.0


def test_recovered_items_and_baseline_successes_are_not_looked_at():
    rows = [probed("greedy", "a", 5), probed("m", "a", 1, value="gold")]
    rows += [probed("greedy", "b", 1, value="gold"), probed("m", "b", 9)]
    rows += [probed("greedy", "c", 3), probed("m", "c", 4)]
    found = figures(table(LENS.look(view(rows)), "overall"), method="m")
    assert (found["worsened"].numerator, found["worsened"].denominator) == (1, 1)


def test_several_paths_count_by_their_median_rank():
    protocol = replace(GREEDY_AND_M, methods=(Method("m", vote=3),))
    rows = [probed("greedy", "a", 10)]
    rows += [probed("m", "a", rank, sample=sample) for sample, rank in enumerate((2, 4, 5000, 1))]
    found = figures(table(LENS.look(view(rows, protocol)), "overall"), method="m")
    assert found["median_log2_shift"].value == pytest.approx(1.3219, abs=1e-4)  # log2(10 / 4), path 3 unseen


def test_masked_tokens_are_counted_apart():
    found = figures(shifted([(8, 49152), (3, 49152)], masked=True), method="m")
    assert (found["masked"].numerator, found["worsened"].numerator) == (2, 2)


def test_a_token_that_is_ruled_out_is_worse_however_few_were_left_in():
    found = figures(shifted([(400, 4), (30, 7)], masked=True), method="m")
    assert (found["worsened"].numerator, found["improved"].numerator) == (2, 0)
    assert found["median_log2_shift"].value is None
    assert "2 of 2" in found["median_log2_shift"].note


def test_a_failure_without_a_rank_is_left_out_and_counted():
    finding = shifted([(8, 4), (None, 3), (5, None)])
    assert figures(finding, method="m")["improved"].denominator == 1
    assert any("2 of 3 unrecovered failures have no rank" in note for note in finding.notes)


def test_another_first_token_than_under_the_baseline_is_noted():
    assert any("1 of 1 unrecovered" in note for note in shifted([(8, 4)], token=9).notes)


def test_temperature_has_no_rank_shift_and_an_unprobed_method_is_named():
    protocol = replace(GREEDY_AND_M, methods=(Method("t", vote=2, is_sampling=True), Method("m")))
    rows = [probed("greedy", "a", 4), probed("t", "a", 4), reading("m", "a", "other")]
    finding = table(LENS.look(view(rows, protocol)), "overall")
    assert finding.rows == ()
    assert finding.notes[0].startswith("t: not applicable")
    assert finding.notes[1] == "m: not compared, the gold token was not probed under m."


def test_where_no_token_was_ever_probed_there_is_no_table():
    rows = [reading(name, "a", "other") for name in ("greedy", "m")]
    assert LENS.look(view(rows, GREEDY_AND_M)) == []


def test_a_clear_direction_is_supported_whichever_it_is():
    (up,) = shifted([(9, 3)] * 8).claims
    (down,) = shifted([(3, 9)] * 8).claims
    assert up.status is down.status is ClaimStatus.SUPPORTED
    assert "up more often than down" in up.text
    assert "down more often than up" in down.text


def test_when_everything_was_recovered_nothing_can_be_said():
    finding = shifted([(8, 1)], value="gold")
    assert figures(finding, method="m")["improved"].value is None
    assert finding.claims[0].status is ClaimStatus.NOT_ESTIMABLE


ranks = st.integers(1, 20)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(ranks, ranks), min_size=1, max_size=20))
def test_the_three_shares_sum_to_one(pairs):
    found = figures(shifted(pairs), method="m")
    shares = [found[key] for key in ("improved", "tied", "worsened")]
    assert sum(Fraction(int(one.numerator), int(one.denominator)) for one in shares) == 1
    assert sum(one.value for one in shares) == pytest.approx(1)
