"""Gain and Loss: by hand, at the edges, and the identity that ties them to accuracy."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.protocol import Method
from leadline.lenses.transitions import LENS
from leadline.stats.intervals import wilson
from leadline.stats.paired_shares import tango
from tests.lenses.small import GREEDY_AND_M, answers, figures, table, view


def compared(before, after, **more):
    rows = [*answers("greedy", before, **more), *answers("m", after, **more)]
    return table(LENS.look(view(rows)), "overall")


def test_an_example_by_hand():
    # 6 failures of which 2 are recovered, 4 successes of which 1 is broken
    found = figures(compared("1111000000", "1110110000"), method="m")
    gain, loss = found["gain"], found["loss"]
    assert (gain.numerator, gain.denominator, gain.value) == (2, 6, pytest.approx(1 / 3))
    assert (gain.low, gain.high) == wilson(2, 6)
    assert (loss.numerator, loss.denominator, loss.value) == (1, 4, 0.25)
    assert (found["acc_baseline"].value, found["acc"].value) == (0.4, 0.5)
    assert found["difference"].value == pytest.approx(0.1)
    assert found["difference"].low < 0.1 < found["difference"].high
    assert (found["net"].value, found["net"].denominator) == (1, 10)
    assert found["mcnemar_p"].value == 1.0  # 2 to 1
    assert found["mcnemar_p"].denominator == 3


def test_a_clear_recovery_is_supported_and_a_clear_breakage_is_named_as_such():
    (claim,) = compared("0" * 12, "1" * 10 + "00").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.text.startswith("m recovers more than it breaks: 10 recovered, 0 broken of 12 items")
    (claim,) = compared("1" * 12 + "0", "0" * 13).claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.text.startswith("m breaks more than it recovers")


def test_five_recoveries_of_many_are_not_enough():
    (claim,) = compared("0" * 40, "1" * 5 + "0" * 35).claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED


def test_five_items_could_never_support_a_claim():
    (claim,) = compared("00000", "11111").claims
    assert claim.status is ClaimStatus.UNREACHABLE


def test_without_failures_gain_cannot_be_estimated():
    finding = compared("1" * 10, "1" * 9 + "0")
    found = figures(finding, method="m")
    assert (found["gain"].value, found["gain"].denominator) == (None, 0)
    assert found["gain"].note == "the baseline has no failure to recover"
    assert found["loss"].value == 0.1
    assert finding.claims[0].status is ClaimStatus.NOT_ESTIMABLE


def test_without_successes_loss_cannot_be_estimated():
    found = figures(compared("0" * 10, "1" + "0" * 9), method="m")
    assert (found["loss"].value, found["gain"].value) == (None, 0.1)


def test_only_items_that_both_answered_are_compared_and_the_others_counted():
    finding = compared("00-10", "1-110")
    found = figures(finding, method="m")
    assert (found["gain"].numerator, found["gain"].denominator, found["loss"].denominator) == (1, 2, 1)
    assert any("2 of 5 items are left out" in note for note in finding.notes)


def test_no_common_item_leaves_everything_unknown():
    finding = compared("00--", "--11")
    assert {figure.value for figure in figures(finding, method="m").values()} == {None}
    assert finding.claims[0].status is ClaimStatus.NOT_ESTIMABLE


def test_a_method_that_was_not_run_is_named():
    finding = table(LENS.look(view(answers("greedy", "01"))), "overall")
    assert finding.rows == ()
    assert finding.notes == ("m: no readings, not compared.",)


def test_holm_corrects_over_the_methods_compared():
    protocol = replace(GREEDY_AND_M, methods=(Method("m"), Method("same")))
    rows = [*answers("greedy", "0" * 8), *answers("m", "1" * 8), *answers("same", "0" * 8)]
    found = figures(table(LENS.look(view(rows, protocol)), "overall"), method="m")
    assert found["mcnemar_p"].value == pytest.approx(2 / 2**8)
    assert found["mcnemar_p_holm"].value == pytest.approx(2 * 2 / 2**8)
    assert found["mcnemar_p_holm"].method == "exact mcnemar, holm over 2 methods"


def test_categories_have_their_own_rates_and_no_worst_among_few_tasks():
    rows = [
        row
        for name, before, after in (("law", "10", "00"), ("music", "01", "11"))
        for row in [*answers("greedy", before), *answers("m", after)]
        for row in [{**row, "item": name + row["item"], "category": name, "task": "author"}]
    ]
    finding = table(LENS.look(view(rows)), "by category")
    assert figures(finding, category="law", method="m")["loss"].value == 1.0
    assert figures(finding, category="music", method="m")["gain"].value == 1.0
    assert [claim.status for claim in finding.claims] == [ClaimStatus.NOT_ESTIMABLE]


def test_a_category_of_five_tasks_that_clearly_breaks_most_is_the_worst():
    rows = []
    for category, after in (("law", "0" * 20), ("music", "1" * 20)):
        for configuration, right in (("greedy", "1" * 20), ("m", after)):
            for at, row in enumerate(answers(configuration, right)):
                rows.append({**row, "item": f"{category}{at}", "category": category, "task": f"t{at % 5}"})
    (claim,) = table(LENS.look(view(rows)), "by category").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert "law" in claim.text


digits = st.text("01-", min_size=1, max_size=30)


@settings(max_examples=30, deadline=None)
@given(digits, digits)
def test_accuracy_is_baseline_plus_gain_minus_loss(before, after):
    rows = [*answers("greedy", before), *answers("m", after)]
    finding = table(LENS.look(view(rows)), "overall")
    for row in finding.rows:
        part = {key: figure for key, figure in row.figures.items() if figure.denominator}
        if "acc" not in part:
            continue

        def exact(key, part=part):
            return (
                Fraction(int(part[key].numerator), int(part[key].denominator)) if key in part else Fraction(0)
            )

        acc_0 = exact("acc_baseline")
        assert exact("acc") == acc_0 + exact("gain") * (1 - acc_0) - exact("loss") * acc_0
        assert exact("net") == exact("acc") - acc_0


@settings(max_examples=12, deadline=None)
@given(st.text("01", min_size=1, max_size=30))
def test_a_method_that_answers_like_the_baseline_gains_and_loses_nothing(right):
    finding = compared(right, right)
    found = figures(finding, method="m")
    assert found["gain"].value in (0, None)
    assert found["loss"].value in (0, None)
    assert found["net"].value == 0
    items = len(right)
    assert (found["difference"].low, found["difference"].high) == tango(0, 0, items)
    assert found["difference"].method == found["net"].method == "tango over items"
    assert found["net"].high == items * found["difference"].high > 0
    assert finding.claims[0].status is not ClaimStatus.SUPPORTED
