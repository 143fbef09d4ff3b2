"""What recovery costs, and what sampling would have done with the same tokens."""

import pytest

from leadline.lenses.token_budget import LENS
from tests.lenses.small import answers, figures, samples, table, view, with_partition

PROTOCOL = with_partition()


def rows(cost=15):
    """Two failures and a success; m recovers i0 for `cost` tokens an item, a sample of t costs 5."""
    made = [*answers("greedy", "001"), *answers("m", "101", tokens_out=cost, tokens_in=40)]
    made += samples("t", "i0", "x", "gold", "gold", "x", "x")
    made += samples("t", "i1", "gold", "x", "gold", "x", "x")
    return made


def test_tokens_on_all_failures_are_shared_by_those_recovered():
    found = figures(table(LENS.look(view(rows(), PROTOCOL)), "budget"), method="m")
    assert (found["recovered"].value, found["recovered"].denominator) == (1, 2)
    assert found["tokens_out_per_recovered"].value == 30
    assert found["tokens_in_per_recovered"].value == 80
    assert found["tokens_out_per_recovered"].high is None  # some resamples recover nothing


def test_sampling_votes_over_as_many_samples_as_the_budget_buys():
    found = figures(table(LENS.look(view(rows(), PROTOCOL)), "equal budget"), method="m", sampling="t")
    assert (found["samples_bought"].value, found["samples_bought"].denominator) == (3, 5)
    assert (found["gain"].value, found["gain_equal_budget"].value) == (0.5, 1.0)  # over three, t gets both
    assert found["difference"].value == -0.5


@pytest.mark.parametrize(
    ("cost", "bought", "remark"),
    [
        (500, 5, "m against t: the budget buys 100 samples, only 5 were drawn."),
        (3, 1, "m against t: the method costs less than one sample, sampling is given one."),
    ],
)
def test_a_budget_that_does_not_fit_the_samples_is_capped_and_said_so(cost, bought, remark):
    finding = table(LENS.look(view(rows(cost), PROTOCOL)), "equal budget")
    assert figures(finding, method="m", sampling="t")["samples_bought"].value == bought
    assert remark in finding.notes


def test_uncounted_tokens_give_no_price():
    none = {"tokens_in": None, "tokens_out": None}
    uncounted = [row | none if row["configuration"] == "m" else row for row in rows()]
    found = LENS.look(view(uncounted, PROTOCOL))
    figure = figures(table(found, "budget"), method="m")["tokens_out_per_recovered"]
    assert (figure.value, figure.note) == (None, "tokens were not counted")
    assert table(found, "equal budget").notes[0] == "m against t: tokens were not counted."


def test_where_nothing_was_counted_there_is_no_table_of_prices():
    found = LENS.look(view([row | {"tokens_in": None, "tokens_out": None} for row in rows()], PROTOCOL))
    assert [one.table for one in found] == ["equal budget"]


def test_nothing_recovered_has_no_price():
    made = [*answers("greedy", "00"), *answers("m", "00")]
    figure = figures(table(LENS.look(view(made, PROTOCOL)), "budget"), method="m")["tokens_out_per_recovered"]
    assert (figure.value, figure.note) == (None, "nothing was recovered")
