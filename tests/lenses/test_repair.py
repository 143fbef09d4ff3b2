from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from leadline.lenses.finding import ClaimStatus, Figure, Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Before, Member, Protocol, Registered, Stability
from leadline.lenses.registry import run_lenses
from leadline.lenses.repair import LENS
from leadline.lenses.whole import Whole
from tests.lenses.small import figures, samples, shuffled

# Task, items, unstable cells before and after, in each item's twelve cells; Probity, Table 7.
TABLE = {
    "interest and default": (2, (0, 0), (1, 1)),
    "liquidation preference": (5, (2, 2, 2, 2, 2), (4, 2, 2, 2, 2)),
    "option pool shuffle": (3, (10, 6, 6), (5, 4, 2)),
}
CONFIGURATIONS = 12
# Item and configuration of cells that lack an answer: twelve before, one after. The paper says how many;
# which they are is chosen so that 24 and 20 of the 107 others are unstable.
SHORT = (
    [(0, member) for member in (0, 1, 2, 3, 4, 5, 6, 7, 10, 11)] + [(1, 6), (1, 7)],
    [(1, 8)],
)
PROTOCOL = Protocol(
    baseline="",
    methods=(),
    members=tuple(Member(f"m{number:02}", "recorded") for number in range(CONFIGURATIONS)),
    stability=Stability(rarefy=2),
)


def side(number: int, short: bool = False) -> list[dict[str, Any]]:
    """Table 7's readings before (0) or after (1) the repair; with `short`, some cells lack an answer."""
    rows: list[dict[str, Any]] = []
    for task, (items, *counts) in TABLE.items():
        for item in range(items):
            for member in range(CONFIGURATIONS):
                unstable = member < counts[number][item]
                values: list[str | None] = ["gold", "other" if unstable else "gold", "gold"]
                if short and task == "option pool shuffle" and (item, member) in SHORT[number]:
                    values[2] = None
                about = {"task": task, "model": f"m{member:02}", "answer_type": "text"}
                rows += samples("recorded", f"{task}/{item}", *values, **about)
    return rows


def look(
    before: list[dict[str, Any]], after: list[dict[str, Any]], protocol: Protocol = PROTOCOL
) -> list[Finding]:
    frames = [readings_frame(rows) for rows in (after, before)]
    assert LENS.whole is not None
    return LENS.whole(Whole(frames[0], frames[0], protocol, frames[1]))


def thousandths(figure: Figure) -> tuple[float, float, float]:
    assert figure.value is not None and figure.low is not None and figure.high is not None
    return round(figure.value, 3), round(figure.low, 3), round(figure.high, 3)


@pytest.fixture(scope="module")
def published() -> Finding:
    (found,) = look(side(0), side(1))
    return found


@pytest.mark.parametrize(
    ("task", "cells", "before", "after", "fall"),
    [
        ("interest and default", 24, 0, 2, (-0.083, -0.258, 0.067)),
        ("liquidation preference", 60, 10, 12, (-0.033, -0.172, 0.107)),
        ("option pool shuffle", 36, 22, 11, (0.306, 0.075, 0.494)),
        ("all tasks", 120, 32, 25, (0.058, -0.049, 0.165)),
    ],
)
def test_the_published_table_comes_out_with_its_intervals(
    published: Finding, task: str, cells: int, before: int, after: int, fall: tuple[float, float, float]
) -> None:
    row = figures(published, task=task, measure="wobble")
    assert (row["cells"].value, row["before"].numerator, row["after"].numerator) == (cells, before, after)
    assert thousandths(row["fall_newcombe"]) == fall
    assert row["fall"].value == row["fall_newcombe"].value


def test_the_published_rates_have_their_wilson_intervals(published: Finding) -> None:
    row = figures(published, task="all tasks", measure="wobble")
    assert thousandths(row["before"]) == (0.267, 0.196, 0.352)
    assert thousandths(row["after"]) == (0.208, 0.145, 0.289)


def test_cells_with_all_their_answers_stand_beside_all_cells() -> None:
    (found,) = look(side(0, short=True), side(1, short=True))
    row = figures(found, task="all tasks", measure="wobble, complete cells")
    assert (row["cells"].value, row["before"].numerator, row["after"].numerator) == (107, 24, 20)
    assert round(row["after"].value or 0, 3) == 0.187
    assert figures(found, task="all tasks", measure="wobble")["before"].numerator == 32
    assert any("complete cells" in note for note in found.notes)


def test_the_published_change_is_not_supported_and_says_what_is_left(published: Finding) -> None:
    (claim,) = published.claims
    assert claim.status == ClaimStatus.NOT_SUPPORTED
    assert claim.point.startswith("a fall of +5.8 points [")
    assert claim.conservative.startswith("−") and "at the lower end" in claim.conservative


def test_pairs_are_kept_where_items_are_resampled() -> None:
    """Each item falls by one of its four cells or, one of them, by two, however unstable it is: items alone
    say that there is little doubt."""
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for item in range(8):
        for member in range(4):
            about = {"model": f"m{member:02}", "answer_type": "text"}
            unstable = member <= item % 4
            kept = unstable and member < item % 4 - (item == 7)
            for rows, wavers in ((before, unstable), (after, kept)):
                rows.extend(samples("recorded", f"i{item}", "gold", "other" if wavers else "gold", **about))
    (found,) = look(before, after)
    row = figures(found, task="all tasks", measure="wobble")
    assert (row["fall"].value, row["fall"].low) == (9 / 32, 0.25)
    assert row["fall_newcombe"].low is not None and row["fall_newcombe"].low < 0.1
    assert row["p"].value == pytest.approx(2 / 2**8)
    assert found.claims[0].status == ClaimStatus.SUPPORTED


def test_of_five_items_no_fall_can_be_significant() -> None:
    before = [row for item in range(5) for row in samples("recorded", f"i{item}", "a", "b", model="m00")]
    after = [row for item in range(5) for row in samples("recorded", f"i{item}", "a", "a", model="m00")]
    (found,) = look(before, after)
    assert found.claims[0].status == ClaimStatus.UNREACHABLE


def test_a_fall_that_was_a_way_to_write_numbers_is_gone_under_rounding() -> None:
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for item in range(8):
        about = {"model": "m00", "answer_type": "number"}
        for rows, values in ((before, ("0.909", "0.91")), (after, ("0.91", "0.91"))):
            rows.extend(
                {**row, "value_exact": row["value"], "value_rounding": "0.91"}
                for row in samples("recorded", f"i{item}", *values, **about)
            )
    protocol = replace(PROTOCOL, stability=Stability(sameness="exact", rarefy=2))
    (found,) = look(before, after, protocol)
    assert figures(found, task="all tasks", measure="wobble")["fall"].value == 1
    assert figures(found, task="all tasks", measure="wobble, rounding")["fall"].value == 0
    assert "+0.0 points under rounding sameness" in found.claims[0].conservative


def test_fewer_answers_before_do_not_pass_for_steadiness_when_rarefied() -> None:
    """Items alike on both sides, of which one was asked five times as often."""
    rng = np.random.default_rng(5)
    sides: list[list[dict[str, Any]]] = []
    for number in (4, 20):
        rows: list[dict[str, Any]] = []
        for item in range(400):
            values = ["gold" if rng.random() < 0.85 else "other" for _ in range(number)]
            rows += samples("recorded", f"i{item:03}", *values, model="m00", answer_type="text")
        sides.append(rows)
    (found,) = look(sides[0], sides[1])
    plain = figures(found, task="all tasks", measure="wobble")["fall"]
    rarefied = figures(found, task="all tasks", measure="wobble, rarefied")["fall"]
    assert plain.high is not None and plain.high < -0.3
    assert rarefied.low is not None and rarefied.high is not None and rarefied.low < 0 < rarefied.high


def test_cells_that_one_side_lacks_take_no_part() -> None:
    before = [row for row in side(0) if row["model"] != "m03"]
    after = [row for row in side(1) if row["item"] != "option pool shuffle/0"]
    (found,) = look(before, after)
    row = figures(found, task="all tasks", measure="wobble")
    assert (row["items"].value, row["cells"].value) == (9, 9 * 11)


def test_row_order_and_duplicated_exports_change_nothing(published: Finding) -> None:
    frames = [readings_frame(side(number)) for number in (1, 0)]
    mixed = [shuffled(pl.concat([frame, frame.head(50)]), seed=3) for frame in frames]
    assert LENS.whole is not None
    assert LENS.whole(Whole(mixed[0], mixed[0], PROTOCOL, mixed[1])) == [published]


def test_without_readings_from_before_there_is_no_finding() -> None:
    found = run_lenses(readings_frame(side(1)), PROTOCOL)
    assert [one for one in found if one.lens == "repair"] == []


def test_with_them_it_is_among_the_findings_of_a_study(published: Finding) -> None:
    found = run_lenses(readings_frame(side(1)), PROTOCOL, readings_frame(side(0)))
    assert [one for one in found if one.lens == "repair"] == [published]


def test_items_that_were_asked_once_before_cannot_be_compared() -> None:
    (found,) = look([row for row in side(0) if row["sample"] == 0], side(1))
    assert found.rows == () and found.claims[0].status == ClaimStatus.NOT_ESTIMABLE


def test_a_registered_threshold_is_named_and_whether_it_was_met() -> None:
    told = Before(
        "original",
        Registered(
            "wobble below 0.161",
            "below",
            0.161,
            False,
            "fails",
            "0.208 is not below 0.161",
            (
                Figure(value=25 / 120, numerator=25, denominator=120, low=0.145, high=0.289, method="wilson"),
                Figure(value=25 / 120, low=0.1, high=0.34, method="bootstrap over items"),
            ),
        ),
    )
    _, registered = look(side(0), side(1), replace(PROTOCOL, before=told))
    (claim,) = registered.claims
    assert claim.status == ClaimStatus.NOT_SUPPORTED
    assert "wobble below 0.161" in claim.text and "fails" in claim.text
    assert claim.conservative.startswith("0.340")
    assert figures(registered, prediction="wobble below 0.161")["threshold"].value == 0.161
