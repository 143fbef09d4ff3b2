"""What leaving items out changes: published sizes, and both readings against what the lenses tell."""

import numpy as np
import polars as pl
import pytest

from leadline.lenses.exclusion import LENS
from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Member, Protocol, Stability
from leadline.lenses.registry import run_lenses
from leadline.lenses.whole import Whole
from leadline.stats.intervals import newcombe
from tests.lenses.published_items import published_frame
from tests.lenses.small import figures, samples, shuffled, table

PUBLISHED = Protocol(
    baseline="", methods=(), members=tuple(Member(f"m{number:02d}", "tau-0.7") for number in range(12))
)


def looked(frame, protocol=PUBLISHED):
    return LENS.whole(Whole(frame.filter(pl.col("excluded").fill_null("") == ""), frame, protocol))


def both(found, quantity):
    row = figures(table(found, "both readings"), quantity=quantity)
    return row["included"], row["audited"]


@pytest.fixture(scope="module")
def published():
    return looked(published_frame())


@pytest.mark.parametrize(
    ("quantity", "included", "audited"),
    [("items", 463, 427), ("tasks", 60, 52), ("cells", 5548, 5116), ("tasks with wobble", 57, 50)],
)
def test_the_published_sizes_of_both_readings(published, quantity, included, audited):
    assert [one.value for one in both(published, quantity)] == [included, audited]


def test_the_published_counts_of_both_readings(published):
    assert [(one.numerator, one.denominator) for one in both(published, "wobble")] == [
        (557, 5548),
        (447, 5116),
    ]
    assert [one.numerator for one in both(published, "accuracy")] == [4966, 4654]


def test_that_wobble_is_lower_is_claimed_with_what_is_left_of_it(published):
    claim = table(published, "both readings").claims[0]
    assert claim.status is ClaimStatus.SUPPORTED
    assert "8.7 % (447/5116) instead of 10.0 % (557/5548)" in claim.text
    change = figures(table(published, "both readings"), quantity="wobble")["change"]
    assert change.value == pytest.approx(447 / 5116 - 557 / 5548)
    assert change.low < change.value < change.high < 0
    assert claim.conservative.startswith(f"\N{MINUS SIGN}{-100 * change.high:.1f} points")


def small_study():
    """Four configurations, 30 items of ten tasks; a fifth of the items is flagged and wavers more."""
    rng = np.random.default_rng(5)
    rows = []
    for item in range(30):
        flag = item % 5 == 0
        for name in "abcd":
            p = rng.choice([0.5, 0.8]) if flag else rng.choice([1.0, 1.0, 0.9])
            values = ["gold" if one < p else "other" for one in rng.random(8)]
            rows += samples(
                name,
                f"i{item:02d}",
                *values,
                task=f"t{item % 10}",
                audit="computational" if flag else "clean",
                excluded="computational" if flag else "",
            )
    return readings_frame(rows)


SMALL = Protocol(
    baseline="",
    methods=(),
    bootstrap_draws=200,
    members=tuple(Member("small", name) for name in "abcd"),
    stability=Stability(permutations=100, top=(2, 3), subsets=(("half", ("a", "b")),)),
)


def value(findings, lens, name, figure, **keys):
    (found,) = [one for one in findings if (one.lens, one.table) == (lens, name)]
    return figures(found, **keys)[figure].value


def test_the_audited_reading_is_what_the_lenses_tell_of_the_population():
    frame = small_study()
    findings = run_lenses(frame, SMALL)
    everyone = run_lenses(frame.with_columns(excluded=pl.lit("")), SMALL)
    found = [one for one in findings if one.lens == "exclusion"]
    for place, of in ((0, everyone), (1, findings)):
        told = {
            "split-half reliability, median": value(of, "reliability", "overall", "median_corrected"),
            "shared top 3, mean": value(
                of, "transfer", "by k", "mean", set="all configurations", unit="items", k="3"
            ),
            "shared top 3, ratio (half)": value(
                of, "transfer", "by k", "ratio", set="half", unit="items", k="3"
            ),
            "wobble": value(of, "wobble", "overall", "wobble", configuration="all configurations"),
            "accuracy": value(of, "wobble", "overall", "acc", configuration="all configurations"),
            "share of cells at p = 1": value(
                of, "observability", "overall", "p_one", configuration="all configurations"
            ),
            "share of cells in 0.3 ≤ p ≤ 0.7": value(
                of, "observability", "overall", "band", configuration="all configurations"
            ),
        }
        for quantity, expected in told.items():
            assert expected is not None
            assert both(found, quantity)[place].value == pytest.approx(expected), quantity


def test_the_median_reliability_counts_configurations_as_the_lens_of_that_name_does():
    findings = run_lenses(small_study(), SMALL)
    (told,) = [one for one in findings if (one.lens, one.table) == ("reliability", "overall")]
    audited = both([one for one in findings if one.lens == "exclusion"], "split-half reliability, median")[1]
    assert audited.denominator == told.rows[0].figures["median_corrected"].denominator <= 4
    assert audited.method.endswith("configurations")


def test_a_study_that_leaves_nothing_out_is_read_without_what_its_audit_flags():
    frame = small_study()
    kept = frame.with_columns(excluded=pl.lit(""))
    assert (
        table(looked(kept, SMALL), "both readings").rows == table(looked(frame, SMALL), "both readings").rows
    )


def test_leaving_out_items_that_are_like_all_others_leaves_open_what_so_few_do():
    rows = [
        row
        for item in range(20)
        for row in samples("a", f"i{item}", "x", "x", audit="computational" if item < 5 else "clean")
    ]
    protocol = Protocol(baseline="", methods=(), members=(Member("small", "a"),))
    change = figures(table(looked(readings_frame(rows), protocol), "both readings"), quantity="wobble")[
        "change"
    ]
    assert change.method == "newcombe over items, times the part left out"
    assert change.value == 0
    # a quarter of the items goes: a quarter of what stays less what goes
    assert [change.low, change.high] == pytest.approx([end / 4 for end in newcombe(0, 15, 0, 5)])


def test_items_left_out_by_name_are_in_neither_reading():
    frame = small_study()
    named = pl.when(pl.col("item") == "i05").then(pl.lit("named")).otherwise("excluded").alias("excluded")
    found = looked(frame.with_columns(named), SMALL)
    assert [one.value for one in both(found, "items")] == [29, 24]
    assert table(found, "both readings").notes[-1] == "Items left out by name are in neither reading: 1."


def test_without_an_audit_there_are_no_two_readings():
    frame = small_study().with_columns(audit=pl.lit(""), excluded=pl.lit(""))
    assert looked(frame, SMALL) == []
    assert looked(frame.with_columns(audit=pl.lit("clean")), SMALL) == []
    assert looked(readings_frame([]), SMALL) == []


def test_neither_order_nor_duplicates_of_rows_change_anything():
    frame = small_study()
    found = looked(frame, SMALL)
    assert looked(shuffled(frame, seed=1), SMALL) == found
    assert looked(pl.concat([frame, frame.head(50)]), SMALL) == found
