"""All lenses together: found by themselves, in a fixed order, indifferent to the order of rows."""

import math

import polars as pl
import pytest

from leadline.lenses.frame import readings_frame
from leadline.lenses.registry import ALL_MODELS, all_lenses, run_lenses
from tests.lenses.frames import STUDY_PROTOCOL, study_frame
from tests.lenses.small import shuffled


@pytest.fixture(scope="module")
def findings():
    return run_lenses(study_frame(), STUDY_PROTOCOL)


def test_lenses_are_found_in_the_order_of_the_report():
    names = list(dict.fromkeys(lens.name for lens in all_lenses()))
    expected = [
        "accuracy",
        "transitions",
        "against_sampling",
        "rank_shift",
        "beyond_sampling",
        "wobble",
        "sameness",
        "worst_category",
        "reliability",
        "observability",
        "difficulty",
        "transfer",
        "contrast",
        "repair",
        "exclusion",
        "adjudication",
        "label_errors",
        "equivalence",
        "steadiness",
    ]
    assert names == expected


def test_each_model_has_each_table_once(findings):
    ids = [(finding.model, finding.lens, finding.table) for finding in findings]
    assert len(ids) == len(set(ids))
    by_model = [(lens, name) for model, lens, name in ids if model == "small"]
    assert by_model == [(lens, name) for model, lens, name in ids if model == "large"]
    assert {model for model, _, _ in ids} == {"small", "large", ALL_MODELS}
    assert (ALL_MODELS, "beyond_sampling", "sweep") in ids


def test_the_order_of_rows_changes_nothing_at_all(findings):
    again = run_lenses(shuffled(study_frame(), seed=3), STUDY_PROTOCOL)
    assert [one.model_dump_json() for one in again] == [one.model_dump_json() for one in findings]


def test_every_share_lies_within_its_interval_and_has_a_denominator(findings):
    for finding in findings:
        for row in finding.rows:
            for key, figure in row.figures.items():
                where = (finding.lens, finding.table, row.keys, key)
                assert figure.value is not None or figure.note, where
                if figure.value is None:
                    continue
                assert math.isfinite(figure.value), where
                assert figure.method, where
                assert figure.denominator is not None or figure.method == "count", where
                assert figure.low is None or figure.low <= figure.value + 1e-12, where
                assert figure.high is None or figure.high >= figure.value - 1e-12, where


def test_every_table_says_what_it_measures(findings):
    assert all(finding.title and finding.definition.endswith(".") for finding in findings)


def test_a_model_is_judged_by_its_own_readings_alone(findings):
    alone = run_lenses(study_frame().filter(pl.col("model") == "small"), STUDY_PROTOCOL)
    own = [finding for finding in alone if finding.model == "small"]
    assert own and own == [finding for finding in findings if finding.model == "small"]


def test_no_readings_make_no_findings():
    assert run_lenses(readings_frame([]), STUDY_PROTOCOL) == []


def test_a_frame_that_lacks_a_column_is_refused_by_name():
    with pytest.raises(ValueError, match="lacks: leads"):
        run_lenses(study_frame().drop("leads"), STUDY_PROTOCOL)
