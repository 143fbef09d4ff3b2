"""Which answers change with the rule of when two numbers are the same: by hand, and on real answers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest

from leadline.lenses.finding import ClaimStatus, Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Protocol, Stability
from leadline.lenses.sameness import LENS, POOLED
from tests.lenses.real_answers import REASON, TASKS, real_frame
from tests.lenses.small import figures, shuffled, table, whole

PROTOCOL = Protocol("", ())


def readings(*items: dict[str, object], configuration: str = "tau-0.7") -> pl.DataFrame:
    """One item each: `exact`, `declared`, `rounding` are its values sample by sample."""
    rows = []
    for number, item in enumerate(items):
        for sample in range(3):
            values = {
                f"value_{rule}": item[rule][sample] if item[rule] is not None else None
                for rule in ("exact", "declared", "rounding")
            }
            rows.append(
                {
                    "model": "m",
                    "configuration": configuration,
                    "item": f"i{number:03d}",
                    "category": "c",
                    "task": "t",
                    "answer_type": item.get("answer_type", "number"),
                    "sample": sample,
                    "state": "ok",
                    "text": "",
                    "value": values["value_declared"] or values["value_rounding"],
                    "correct": False,
                    "correct_strict": False,
                    "leads": True,
                    **values,
                }
            )
    return readings_frame(rows)


WRITTEN_LONGER = {"exact": ["0.909", "0.9091", "0.909"], "declared": None, "rounding": ["0.909"] * 3}
DECLARED = {"exact": ["2.41", "2.4", "2.4"], "declared": ["2.4"] * 3, "rounding": ["2.4"] * 3}
UNSTEADY = {"exact": ["1", "2", "1"], "declared": ["1", "2", "1"], "rounding": ["1", "2", "1"]}
STEADY = {"exact": ["7"] * 3, "declared": ["7"] * 3, "rounding": ["7"] * 3}


def found(*frames: pl.DataFrame) -> list[Finding]:
    return LENS.whole(whole(pl.concat(frames), PROTOCOL))


def test_each_rule_has_its_own_wobble_and_its_own_denominator() -> None:
    seen = figures(
        table(found(readings(WRITTEN_LONGER, DECLARED, UNSTEADY, STEADY)), "overall"), configuration="tau-0.7"
    )
    counted = {name: (figure.numerator, figure.denominator) for name, figure in seen.items()}
    assert counted == {
        "wobble_exact": (3, 4),
        "wobble_declared": (1, 3),
        "wobble_rounding": (1, 4),
        "changed": (2, 4),
    }


def test_where_no_item_declares_a_precision_there_is_no_declared_wobble() -> None:
    seen = figures(table(found(readings(WRITTEN_LONGER)), "overall"), configuration="tau-0.7")
    assert seen["wobble_declared"].value is None
    assert seen["wobble_declared"].note == "no item declares a precision"


def test_items_of_other_types_are_not_numbers() -> None:
    text = {**UNSTEADY, "answer_type": "text"}
    assert found(readings(text)) == []
    seen = figures(table(found(readings(text, DECLARED)), "overall"), configuration="tau-0.7")
    assert seen["wobble_exact"].denominator == 1


def test_what_flips_is_listed_with_its_values_and_nothing_else_is() -> None:
    flips = table(found(readings(WRITTEN_LONGER, DECLARED, UNSTEADY, STEADY)), "flips")
    listed = [(row.keys["item"], row.keys["values"]) for row in flips.rows]
    assert listed == [("i000", "0.909 ×2, 0.9091 ×1"), ("i001", "2.4 ×2, 2.41 ×1")]
    seen = flips.rows[0].figures
    assert (seen["values_exact"].value, seen["values_rounding"].value) == (2, 1)
    assert seen["values_exact"].denominator == 3


def test_no_flip_makes_no_list() -> None:
    assert [one.table for one in found(readings(UNSTEADY, STEADY))] == ["overall"]


def test_a_long_list_is_cut_and_says_how_long_it_is() -> None:
    flips = table(found(readings(*[WRITTEN_LONGER] * 205)), "flips")
    assert len(flips.rows) == 200
    assert flips.notes == ("The first 200 of 205 are listed, in order of item.",)


def test_endless_values_are_cut() -> None:
    endless = {**WRITTEN_LONGER, "exact": ["0." + "3" * 400, "0.33", "0.333"]}
    (row,) = table(found(readings(endless)), "flips").rows
    assert len(row.keys["values"]) < 100 and "… ×1" in row.keys["values"]


def test_configurations_are_counted_one_by_one_and_together() -> None:
    overall = table(
        found(readings(WRITTEN_LONGER, UNSTEADY), readings(STEADY, UNSTEADY, configuration="b")), "overall"
    )
    unstable = {row.keys["configuration"]: row.figures["wobble_exact"].numerator for row in overall.rows}
    assert unstable == {"tau-0.7": 2, "b": 1, POOLED: 3}


@pytest.mark.parametrize(
    ("items", "status"),
    [
        ([WRITTEN_LONGER, UNSTEADY], ClaimStatus.SUPPORTED),
        ([WRITTEN_LONGER, STEADY], ClaimStatus.NOT_SUPPORTED),
        ([STEADY], ClaimStatus.NOT_ESTIMABLE),
    ],
)
def test_the_claim_rests_on_what_rounding_leaves(items: list[dict[str, object]], status: ClaimStatus) -> None:
    (claim,) = table(found(readings(*items)), "overall").claims
    assert claim.status is status
    assert claim.point and claim.conservative


def test_a_single_change_that_resamples_may_miss_supports_nothing() -> None:
    """One of four items, under one of two configurations: many resamples of the items hold no change."""
    steady = [STEADY] * 3
    parts = [readings(UNSTEADY, *steady), readings(STEADY, *steady, configuration="b")]
    finding = table(found(*parts), "overall")
    left = figures(finding, configuration=POOLED)["wobble_rounding"]
    assert (left.numerator, left.low) == (1, 0)
    assert finding.claims[0].status is ClaimStatus.NOT_SUPPORTED


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_rows_and_a_second_export_change_nothing(seed: int) -> None:
    frame = readings(WRITTEN_LONGER, DECLARED, UNSTEADY)
    assert found(shuffled(frame, seed)) == found(frame) == found(frame, shuffled(frame, seed))


# --- real answers ---

real = pytest.mark.skipif(not TASKS, reason=REASON)


@pytest.fixture(scope="module")
def published() -> list[Finding]:
    return LENS.whole(whole(real_frame(), PROTOCOL))


@real
def test_of_48_real_cells_32_are_unstable_under_exact_comparison_and_26_under_rounding(
    published: list[Finding],
) -> None:
    pooled = figures(table(published, "overall"), configuration=POOLED)
    assert (pooled["wobble_exact"].numerator, pooled["wobble_exact"].denominator) == (32, 48)
    assert pooled["wobble_rounding"].numerator == 26
    assert pooled["changed"].value == 6


@real
def test_every_real_flip_is_one_number_written_with_different_precision(published: list[Finding]) -> None:
    flips = table(published, "flips")
    listed = {(row.keys["item"][:4], row.keys["configuration"]): row.keys["values"] for row in flips.rows}
    assert listed == {
        ("col1", "gpt5-mini-or"): "0.51 ×14, 0.5079365079365079 ×6",
        ("col2", "gpt-oss-120b-or"): "0.42 ×18, 0.4167 ×2",
        ("col2", "gpt5-mini-or"): "0.4166666667 ×10, 0.4166666666666667 ×9, 0.42 ×1",
        ("col2", "minimax-m2.5-or"): "0.42 ×11, 0.4167 ×4, 0.4166667 ×2, 0.4166666667 ×2",
        ("col3", "minimax-m2.5-or"): "0.38 ×4, 0.3849 ×4, 0.385 ×1",
        ("col4", "gpt5-mini-or"): "0.44047619047619047 ×6, 0.44 ×5, 0.44047619 ×4, 0.440476190476 ×2, "
        "0.4404761904761905 ×1, 0.44047619047619 ×1, 0.440476 ×1",
    }
    for row in flips.rows:
        written = [Decimal(value.split(" ×")[0]) for value in row.keys["values"].split(", ")]
        finest = min(written, key=lambda number: number.as_tuple().exponent)
        for number in written:
            assert abs(finest - number) <= Decimal(5).scaleb(number.as_tuple().exponent - 1), row.keys
        assert row.figures["values_rounding"].value == 1


@real
def test_the_real_cells_item_by_item_as_published() -> None:
    # under the published rule; counted over the twelve configurations
    gold = {"col1": 0.51, "col2": 0.42, "col3": 0.39, "col4": 0.44}
    is_gold = pl.col("value_exact").cast(pl.Float64) == pl.col("item").str.head(4).replace_strict(gold)
    frame = real_frame().with_columns(is_gold.fill_null(False).alias("correct"))
    panel = whole(frame, replace(PROTOCOL, stability=Stability("exact"))).panel
    assert panel.unstable.sum(axis=0).tolist() == [6, 8, 12, 6]
    assert panel.correct.sum(axis=0).tolist() == [10, 7, 2, 5]
    assert panel.dispersion.sum(axis=0) == pytest.approx([2.414706, 3.565789, 3.870261, 3.182353], abs=5e-7)
    assert (int(panel.n.sum()), int(panel.asked.sum())) == (916, 960)
