"""Techniques and steadiness, on readings small enough to check on paper."""

from __future__ import annotations

from math import comb
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import ClaimStatus, Figure, Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Again, Method, Protocol, Stability
from leadline.lenses.registry import run_lenses
from leadline.lenses.steadiness import look
from leadline.lenses.view import View
from tests.lenses.frames import STUDY_PROTOCOL, study_frame
from tests.lenses.small import answers, figures, reading, samples, shuffled, table, view

PROTOCOL = Protocol(
    baseline="greedy",
    methods=(Method("m", label="M"), Method("t", vote=3, is_sampling=True, label="τ = 0.7")),
    again=(Again("m-again", "m", 0.7, "t"),),
    stability=Stability(rarefy=2),
    bootstrap_draws=200,
)
# A technique that is right on i0 to i3, where the baseline is wrong, breaks i4 and i5 and keeps i6 and i7.
VERDICTS = [*answers("greedy", "00001111"), *answers("m", "11110011")]
ITEMS = [f"i{at}" for at in range(8)]


def _change(rows: list[dict[str, Any]], protocol: Protocol = PROTOCOL) -> tuple[dict[str, Figure], Finding]:
    found = table(look(view([*VERDICTS, *rows], protocol)), "wobble change")
    return figures(found, method="m", sampling="t"), found


def _values(found: dict[str, Figure]) -> dict[str, float | None]:
    return {key: figure.value for key, figure in found.items()}


def test_steady_answers_beside_wavering_ones() -> None:
    rows = [row for item in ITEMS for row in samples("m-again", item, "a", "a", "a")]
    rows += [row for item in ITEMS for row in samples("t", item, "a", "b", "a")]
    found, finding = _change(rows)
    assert found["rarefied"].value == 0
    assert found["rarefied_plain"].value == pytest.approx(2 / 3)  # of three pairs one agrees
    assert found["rarefied_difference"].value == pytest.approx(-2 / 3)
    assert (found["wobble"].value, found["wobble_plain"].value) == (0, 1)
    assert (found["steadier"].value, found["less_steady"].value) == (8, 0)
    assert found["dispersion_difference"].value == pytest.approx(-1 / 3)
    assert found["mcnemar_p"].value == pytest.approx(2 / 2**8)
    (claim,) = finding.claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.text.startswith("M makes answers steadier than plain sampling at τ = 0.7: 8 items are")
    assert (claim.point, claim.conservative) == (
        "−66.7 points of rarefied wobble",
        "−12.6 points at the interval's upper end",
    )


def test_wavering_answers_beside_steady_ones_are_less_steady() -> None:
    rows = [row for item in ITEMS for row in samples("t", item, "a", "a", "a")]
    rows += [row for item in ITEMS for row in samples("m-again", item, "a", "b", "c")]
    found, finding = _change(rows)
    assert (found["steadier"].value, found["less_steady"].value) == (0, 8)
    assert found["rarefied_difference"].value == 1
    assert finding.claims[0].text.startswith("M makes answers less steady than plain sampling at τ = 0.7")
    assert finding.claims[0].status is ClaimStatus.SUPPORTED


def test_equally_many_answers_of_both_are_compared() -> None:
    """Plain sampling was asked twice as often, and wavers only in its later answers."""
    rows = [row for item in ITEMS for row in samples("m-again", item, "a", None, "a", "a")]
    rows += [row for item in ITEMS for row in samples("t", item, "a", "a", None, "a", "b", "c")]
    found, _ = _change(rows)
    assert (found["wobble"].value, found["wobble_plain"].value) == (0, 0)
    assert found["dispersion_difference"].value == 0
    # Rarefied to two, all five answers of plain sampling count: of ten pairs three agree.
    assert found["rarefied_plain"].value == pytest.approx(0.7)


def test_items_that_one_of_them_did_not_answer_twice_are_left_out() -> None:
    rows = [row for item in ITEMS[:5] for row in samples("m-again", item, "a", "a")]
    rows += samples("m-again", "i5", "a", None) + samples("m-again", "i6", None, None)
    rows += [row for item in ITEMS for row in samples("t", item, "a", "b")]
    found, finding = _change(rows)
    assert {found[key].denominator for key in ("rarefied", "wobble", "steadier")} == {5}
    # Five items, all on one side, give p = 1/16 at best.
    assert finding.claims[0].status is ClaimStatus.UNREACHABLE


def test_a_technique_with_paths_is_its_own_repetition() -> None:
    protocol = Protocol(
        baseline="greedy",
        methods=(Method("r", vote=4, kind="prompting"), Method("t", vote=3, is_sampling=True)),
        again=(Again("r", "r", 0.7, "t"),),
        stability=Stability(rarefy=2),
    )
    rows = [row for item in ITEMS for row in samples("r", item, "a", "a", "b", "b")]
    rows += [row for item in ITEMS for row in samples("t", item, "a", "a", "a", "a")]
    found = table(look(view([*answers("greedy", "00001111"), *rows], protocol)), "wobble change")
    assert figures(found, method="r", sampling="t")["rarefied"].value == pytest.approx(4 / 6)


def test_without_plain_sampling_beside_it_nothing_is_compared() -> None:
    rows = [row for item in ITEMS for row in samples("m-again", item, "a", "b", "a")]
    found = look(view([*VERDICTS, *rows], PROTOCOL))
    assert [finding.table for finding in found] == ["recovered"]
    assert look(view(VERDICTS, PROTOCOL)) == []  # and without repetitions nothing at all
    assert look(view(rows, PROTOCOL)) == []  # nor without a baseline


# --- recovered ---------------------------------------------------------------------------------------------


def _asked_again(rights: dict[str, str], configuration: str = "m-again") -> list[dict[str, Any]]:
    """By item, which of the further answers are right: "110"; "e" is a failed call, "-" an empty answer."""
    rows = []
    for item, digits in rights.items():
        for sample, digit in enumerate(digits):
            more = {"state": "error"} if digit == "e" else {}
            value = None if digit in "e-" else "gold" if digit == "1" else "other"
            rows.append(reading(configuration, item, value, sample, **more))
    return rows


def test_what_is_recovered_is_told_apart_by_how_often_it_comes_again() -> None:
    rows = _asked_again(
        {
            "i0": "1111111111",  # recovered; p = 1
            "i1": "1111111110",  # p = 0.9, steady
            "i2": "1111-0----",  # p = 0.4: an answer that says nothing is not right
            "i3": "1eeeeeee10",  # p = 2/3: failed calls do not count
            "i4": "0000000000",  # broken
            "i5": "1111111111",  # broken, though right whenever it is asked again
            "i6": "1111111111",
            "i7": "1eeeeeeeee",  # one answer is too few
        }
    )
    rows += _asked_again({"i0": "11", "i1": "10", "i2": "00", "i4": "11"}, "t")
    found = table(look(view([*VERDICTS, *rows], PROTOCOL)), "recovered")
    recovered = figures(found, method="m", verdict="recovered")
    assert recovered["p_median"].value == pytest.approx((0.9 + 2 / 3) / 2)
    assert (recovered["steady"].numerator, recovered["steady"].denominator) == (2, 4)
    assert (recovered["lucky"].numerator, recovered["lucky"].denominator) == (1, 4)
    assert recovered["items"].value == recovered["items"].denominator == 4
    assert recovered["answers"].value == 10 + 10 + 10 + 3
    assert (recovered["plain_p_median"].value, recovered["plain_p_median"].denominator) == (0.5, 3)
    assert (recovered["plain_steady"].numerator, recovered["plain_steady"].denominator) == (1, 3)
    broken = figures(found, method="m", verdict="broken")
    assert (broken["steady"].value, broken["lucky"].value) == (0.5, 0.5)
    kept = figures(found, method="m", verdict="kept")
    assert (kept["items"].value, kept["items"].denominator) == (1, 2)
    assert figures(found, method="m", verdict="unrecovered")["steady"].value is None


@pytest.mark.parametrize(
    ("further", "recovered", "status", "text"),
    [
        (
            "1111",
            5,
            ClaimStatus.UNREACHABLE,
            "mostly steady: with 5 recovered items and 1 techniques no result",
        ),
        ("1111", 6, ClaimStatus.SUPPORTED, "mostly steady: of 6 recovered items, asked again, 100.0 % (6/6)"),
        ("0100", 8, ClaimStatus.SUPPORTED, "mostly luck: of 8 recovered items"),
        ("1110", 8, ClaimStatus.NOT_SUPPORTED, "mostly steady: of 8 recovered items"),
        ("1111", 0, ClaimStatus.NOT_ESTIMABLE, "mostly steady: no recovered item"),
    ],
)
def test_the_claim_on_what_is_recovered(further: str, recovered: int, status: ClaimStatus, text: str) -> None:
    rows = [*answers("greedy", "0" * 8), *answers("m", "1" * recovered + "0" * (8 - recovered))]
    rows += _asked_again(dict.fromkeys(ITEMS, further))
    found = table(look(view(rows, PROTOCOL)), "recovered")
    (claim,) = found.claims
    assert claim.status is status
    if recovered == 8:
        p = figures(found, method="m", verdict="recovered")["majority_p"]
        assert p.value == pytest.approx(2 / 2**8)
    assert claim.text.startswith(f"What M recovers is {text}")


def test_samples_beyond_the_vote_are_the_further_answers_of_a_method_that_has_them() -> None:
    """The first three are the verdict; the two after them are further answers."""
    rows = [*answers("greedy", "00"), *_asked_again({"i0": "11011", "i1": "11000"}, "t")]
    found = table(look(view(rows, PROTOCOL)), "recovered")
    got = figures(found, method="t", verdict="recovered")
    assert (got["steady"].value, got["lucky"].value, got["answers"].value) == (0.5, 0.5, 4)
    assert "τ = 0.7: its vote is over 3, the samples after these are the further answers." in found.notes


def test_of_a_method_that_votes_over_all_its_samples_one_half_judges_the_other() -> None:
    """Luck that made a verdict cannot make the answers that it is checked by."""
    protocol = Protocol(baseline="greedy", methods=(Method("r", vote=6),))
    rows = answers("greedy", "000")
    # Even samples: 1 1 1, odd ones: 0 0 0; a majority that is luck. Then the reverse; then all right.
    rows += _asked_again({"i0": "101010", "i1": "010101", "i2": "111111"}, "r")
    found = table(look(view(rows, protocol)), "recovered")
    got = figures(found, method="r", verdict="recovered")
    assert got["items"].value == 2
    assert (got["steady"].value, got["lucky"].value) == (0.5, 0.5)
    assert figures(found, method="r", verdict="unrecovered")["steady"].value == 1
    assert got["plain_steady"].value is None


# --- gain by audit -----------------------------------------------------------------------------------------


def _audited(flagged: str, clean: str, excluded: str = "") -> pl.DataFrame:
    """Flagged and clean items: r recovered, . not recovered, b broken, k kept."""
    rows = []
    for audit, moves in (("evidence absent", flagged), ("clean", clean)):
        for at, digit in enumerate(moves):
            item = f"{audit} {at}"
            more: dict[str, Any] = {"audit": audit, "excluded": excluded if audit != "clean" else ""}
            rows.append(reading("greedy", item, "gold" if digit in "bk" else "other", **more))
            rows.append(reading("m", item, "gold" if digit in "rk" else "other", **more))
    return readings_frame(rows)


@pytest.mark.parametrize("excluded", ["", "evidence absent"])
def test_gain_on_flagged_items_beside_gain_on_clean_ones(excluded: str) -> None:
    frame = _audited("rrrrrrrr..kb", "rr" + "." * 28 + "kkkb", excluded)
    found = table(run(frame), "gain by audit")
    got = figures(found, method="m")
    assert (got["gain_flagged"].numerator, got["gain_flagged"].denominator) == (8, 10)
    assert (got["gain_clean"].numerator, got["gain_clean"].denominator) == (2, 30)
    assert got["gain_difference"].value == pytest.approx(0.8 - 2 / 30)
    # Newcombe from Wilson's [0.4902, 0.9433] and [0.0185, 0.2132].
    assert got["gain_difference"].low == pytest.approx(0.3906, abs=1e-4)
    assert got["gain_difference"].high == pytest.approx(0.8845, abs=1e-4)
    # Eight, nine or all ten recovered items among the ten flagged of forty failures.
    at_least = sum(comb(10, hits) * comb(30, 10 - hits) for hits in (8, 9, 10))
    assert got["gain_p"].value == pytest.approx(at_least / comb(40, 10))
    assert (got["recovered_flagged"].numerator, got["recovered_flagged"].denominator) == (8, 10)
    assert got["failures_flagged"].value == 0.25
    assert (got["loss_flagged"].value, got["loss_clean"].value) == (0.5, 0.25)
    (claim,) = found.claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "80.0 % (8/10) of what it recovers is flagged, of the failures 25.0 % (10/40)"


def test_a_report_looks_at_what_the_audit_left_out() -> None:
    frame = _audited("rrrrrrrr..kb", "rr" + "." * 28 + "kkkb", "evidence absent")
    found = [finding for finding in run_lenses(frame, PROTOCOL) if finding.lens == "steadiness"]
    assert found == run(frame)
    assert "gain by audit" in {finding.table for finding in found}


def test_items_left_out_by_name_are_in_neither_group() -> None:
    frame = _audited("rrrr", "rr..", "named")
    assert not [finding for finding in run(frame) if finding.table == "gain by audit"]


def test_a_gain_that_is_the_same_everywhere_is_not_concentrated() -> None:
    (claim,) = table(run(_audited("rrrrr.....", "rrrrrrrrrr..........")), "gain by audit").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    (claim,) = table(run(_audited("r", "...r")), "gain by audit").claims
    assert claim.status is ClaimStatus.UNREACHABLE  # one flagged failure can show nothing
    (claim,) = table(run(_audited("kkk", "...r")), "gain by audit").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


def test_without_a_gain_nothing_can_be_said_of_where_it_lies() -> None:
    (claim,) = table(run(_audited("......", "........")), "gain by audit").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE
    assert "it recovers none of 14 failures" in claim.text


def test_without_an_audit_there_is_no_table() -> None:
    assert "gain by audit" not in {finding.table for finding in look(view(VERDICTS, PROTOCOL))}


# --- rank shift --------------------------------------------------------------------------------------------


def _ranked(rises: list[int], wavers: list[int]) -> list[dict[str, Any]]:
    """Failures whose gold token moves from rank 64 to 64 / 2**rise; of eight plain answers so many differ."""
    rows = []
    for at, (rise, other) in enumerate(zip(rises, wavers, strict=True)):
        item = f"i{at:02}"
        rows.append(reading("greedy", item, "x", gold_rank=64, gold_token=1, gold_masked=False))
        masked = rise < 0
        rank = 1000 if masked else 64 >> rise
        rows.append(reading("m", item, "y", gold_rank=rank, gold_token=1, gold_masked=masked))
        rows += samples("t", item, *(["a"] * (8 - other) + [f"b{n}" for n in range(other)]))
    return rows


def test_four_failures_have_too_few_orders_to_show_anything() -> None:
    found = table(look(view(_ranked([0, 1, 2, 3], [0, 1, 2, 3]), PROTOCOL)), "rank shift")
    assert figures(found, method="m", sampling="t")["rho_p"].value == pytest.approx(2 / 24)
    assert found.claims[0].status is ClaimStatus.UNREACHABLE


def test_the_token_rises_where_the_model_wavers() -> None:
    found = table(look(view(_ranked([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]), PROTOCOL)), "rank shift")
    got = figures(found, method="m", sampling="t")
    assert got["rho"].value == 1
    assert got["rho"].denominator == 7
    assert got["rho_p"].value == pytest.approx(2 / 5040)
    assert got["rho_p"].method == "exact permutation, all 5,040 orders"
    assert found.claims[0].status is ClaimStatus.SUPPORTED
    assert found.claims[0].text.startswith("M lifts the gold token more on items that waver at τ = 0.7")


def test_a_token_that_is_ruled_out_has_fallen_farthest() -> None:
    found = table(look(view(_ranked([-1, 0, 1, 2, 3], [4, 3, 2, 1, 0]), PROTOCOL)), "rank shift")
    assert figures(found, method="m", sampling="t")["rho"].value == -1
    assert "less on items that waver" in found.claims[0].text


def test_one_steadiness_for_all_has_no_correlation() -> None:
    found = table(look(view(_ranked([0, 1, 2], [0, 0, 0]), PROTOCOL)), "rank shift")
    assert figures(found, method="m", sampling="t")["rho"].value is None
    assert found.claims[0].status is ClaimStatus.NOT_ESTIMABLE


# --- what must not matter ----------------------------------------------------------------------------------


def run(frame: pl.DataFrame, protocol: Protocol = PROTOCOL) -> list[Finding]:
    """This lens's findings on all models."""
    inside = pl.col("excluded").fill_null("") == ""
    return [
        finding
        for (name,), part in sorted(frame.partition_by("model", as_dict=True).items())
        for finding in look(View(str(name), part.filter(inside), protocol, part.filter(~inside)))
    ]


WHOLE = Protocol(
    **{
        **vars(STUDY_PROTOCOL),
        "bootstrap_draws": 100,
        "again": (Again("recite", "recite", 0.7, "tau-0.7"), Again("dola-again", "dola", 0.7, "tau-0.7")),
    }
)


def _whole(seed: int = 7) -> pl.DataFrame:
    """The fabricated study with DoLa asked again: its answers are those of τ = 1.2; a fifth is flagged."""
    frame = study_frame(seed, items=40)
    again = frame.filter(pl.col("configuration") == "tau-1.2").with_columns(
        pl.lit("dola-again").alias("configuration")
    )
    audit = pl.when(pl.col("item").str.slice(1).cast(pl.Int64) % 5 == 0).then(pl.lit("computational"))
    return pl.concat([frame, again]).with_columns(audit.otherwise(pl.lit("clean")).alias("audit"))


FRAME = _whole()
FOUND = run(FRAME, WHOLE)


def test_the_fabricated_study_has_all_tables_of_both_models() -> None:
    tables = ["wobble change", "gain by audit", "recovered", "rank shift"]
    assert [(finding.model, finding.table) for finding in FOUND] == [
        (model, name) for model in ("large", "small") for name in tables
    ]
    for finding in FOUND:
        assert finding.claims and all(claim.text for claim in finding.claims)
        for row in finding.rows:
            for key, figure in row.figures.items():
                if figure.value is None:
                    assert figure.note, key
                elif not key.endswith(("_p", "_holm")) and figure.method != "count":
                    assert figure.denominator and figure.low is not None and figure.high is not None, key


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_neither_the_order_of_rows_nor_an_export_done_twice_changes_anything(seed: int) -> None:
    assert run(shuffled(FRAME, seed), WHOLE) == FOUND
    assert run(shuffled(pl.concat([FRAME, FRAME]), seed), WHOLE) == FOUND


def test_another_technique_changes_no_figure_of_the_others_but_the_correction() -> None:
    less = Protocol(
        **{
            **vars(WHOLE),
            "methods": tuple(method for method in WHOLE.methods if method.name != "dola"),
            "again": WHOLE.again[:1],
        }
    )
    without = FRAME.filter(~pl.col("configuration").is_in(["dola", "dola-again"]))
    before = {(finding.model, finding.table): finding for finding in run(without, less)}
    for finding in FOUND:
        rows = {tuple(row.keys.items()): row.figures for row in finding.rows}
        for row in before[finding.model, finding.table].rows:
            now = rows[tuple(row.keys.items())]
            assert {key: now[key] for key in now if not key.endswith("_holm")} == {
                key: figure for key, figure in row.figures.items() if not key.endswith("_holm")
            }


def test_models_do_not_see_each_other() -> None:
    small = run(FRAME.filter(pl.col("model") == "small"), WHOLE)
    assert small == [finding for finding in FOUND if finding.model == "small"]
