"""Wobble of numbers is counted under three rules of when two numbers are the same, side by side."""

from __future__ import annotations

import polars as pl
import pytest

from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.registry import run_lenses
from leadline.lenses.sameness import look
from leadline.lenses.view import View

PROTOCOL = Protocol("greedy", (Method("tau-0.7", vote=3, is_sampling=True),))


def readings(*items: dict[str, object]) -> pl.DataFrame:
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
                    "configuration": "tau-0.7",
                    "item": f"i{number}",
                    "category": "c",
                    "task": str(item.get("task", "")),
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
DECLARED = {"exact": ["2.41", "2.4", "2.4"], "declared": ["2.4"] * 3, "rounding": ["2.4"] * 3, "task": "t"}
UNSTEADY = {"exact": ["1", "2", "1"], "declared": ["1", "2", "1"], "rounding": ["1", "2", "1"], "task": "t"}


def test_each_rule_has_its_own_wobble_and_its_own_denominator() -> None:
    overall, by_task = look(View("m", readings(WRITTEN_LONGER, DECLARED, UNSTEADY), PROTOCOL))
    (row,) = overall.rows
    counted = {name: (figure.numerator, figure.denominator) for name, figure in row.figures.items()}
    assert counted == {"wobble_exact": (3, 3), "wobble_declared": (1, 2), "wobble_rounding": (1, 3)}
    of_task = next(row for row in by_task.rows if row.keys["task"] == "t")
    assert of_task.figures["wobble_exact"].value == 1
    assert of_task.figures["wobble_rounding"].value == 0.5
    undeclared = next(row for row in by_task.rows if row.keys["task"] == "")
    assert undeclared.figures["wobble_declared"].value is None
    assert undeclared.figures["wobble_declared"].note == "no item declares a precision"


def test_items_of_other_types_are_not_numbers() -> None:
    text = {**UNSTEADY, "answer_type": "text"}
    assert look(View("m", readings(text), PROTOCOL)) == []
    (row,) = look(View("m", readings(text, DECLARED), PROTOCOL))[0].rows
    assert row.figures["wobble_exact"].denominator == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_the_order_of_rows_changes_nothing(order: tuple[int, ...]) -> None:
    items = [WRITTEN_LONGER, DECLARED, UNSTEADY]
    frame = readings(*items)
    shuffled = pl.concat([frame[3 * place : 3 * place + 3] for place in order])
    assert run_lenses(shuffled, PROTOCOL) == run_lenses(frame, PROTOCOL)
