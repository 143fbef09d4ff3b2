"""Items with a single readable answer: nothing can differ there, so no figure of stability counts them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from leadline.lenses.contrast import LENS as CONTRAST
from leadline.lenses.equivalence_pairs import Pair, compared, shared_panel
from leadline.lenses.exclusion import LENS as EXCLUSION
from leadline.lenses.finding import Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.observability import LENS as OBSERVABILITY
from leadline.lenses.panel import make_panel
from leadline.lenses.protocol import Contrast, Member, Protocol, Selection, Stability
from leadline.lenses.repair_sides import Sides
from leadline.lenses.sameness import LENS as SAMENESS
from leadline.lenses.side_by_side import Side, side_by_side
from leadline.lenses.structural import tasks_of
from leadline.lenses.transfer_scores import item_scores, task_scores
from leadline.lenses.wobble import LENS as WOBBLE
from leadline.lenses.wobble import POOLED
from leadline.lenses.worst_category import LENS as WORST
from leadline.study.registered_statistic import cells, pooled
from tests.lenses.small import figures, samples, table, whole

PROTOCOL = Protocol(baseline="", methods=(), bootstrap_draws=200, stability=Stability(rarefy=2))
WAVERING = ["gold", "x"]
NOTE = "10 items with a single readable answer left out"


def item(number: int, *values: str | None, by: str = "m", **more: object) -> list[dict[str, object]]:
    about = {"task": f"t{number % 3}", "category": "c", "answer_type": "number", **more}
    return samples(by, f"i{number:02d}", *values, **about)


def asked_once_or_twice(by: str = "m", lost: int = 0) -> list[dict[str, object]]:
    """Six items asked twice, four of which waver; ten with one answer (and `lost` that failed)."""
    rows = [row for n in range(4) for row in item(n, *WAVERING, by=by)]
    rows += [row for n in (4, 5) for row in item(n, "gold", "gold", by=by)]
    return rows + [row for n in range(6, 16) for row in item(n, "gold", *[None] * lost, by=by)]


def of(look: object, rows: list[dict[str, object]], name: str, protocol: Protocol = PROTOCOL) -> Finding:
    return table(look(whole(rows, protocol)), name)  # type: ignore[operator]


@pytest.mark.parametrize("lost", [0, 19], ids=["asked once", "nineteen of twenty answers lost"])
def test_of_sixteen_items_ten_with_one_answer_four_of_six_are_unstable(lost: int) -> None:
    found = of(WOBBLE.whole, asked_once_or_twice(lost=lost), "overall")
    seen = figures(found, configuration="m")
    for rule in ("wobble", "wobble_exact", "wobble_rounding"):
        assert (seen[rule].numerator, seen[rule].denominator, seen[rule].note) == (4, 6, NOTE)
    assert seen["dispersion"].value == pytest.approx(4 * 0.5 / 6)
    assert seen["pairwise"].denominator == 6
    assert (seen["acc"].numerator, seen["acc"].denominator) == (6, 6)  # of the same items
    assert seen["response_rate"].numerator == 22  # of everything that was asked
    assert any("with a single readable answer" in note and "m 10 of 16" in note for note in found.notes)
    assert "66.7 % (4/6)" in found.claims[0].text


@pytest.mark.parametrize("name", ["by category", "by task", "by answer type"])
def test_the_groups_add_up_to_the_whole(name: str) -> None:
    rows = of(WOBBLE.whole, asked_once_or_twice(), name).rows
    sums = [sum(row.figures["wobble"].numerator or 0 for row in rows)]
    sums.append(sum(row.figures["wobble"].denominator or 0 for row in rows))
    assert sums == [4, 6]


def test_configurations_are_pooled_over_what_each_of_them_read_twice() -> None:
    steady = [row for n in range(16) for row in item(n, "gold", "gold", by="o")]
    found = of(WOBBLE.whole, asked_once_or_twice() + steady, "overall")
    seen = figures(found, configuration=POOLED)
    for key in ("wobble", "wobble_wilson"):
        assert (seen[key].numerator, seen[key].denominator) == (4, 22)
    assert seen["wobble"].note == "10 cells with a single readable answer left out"


def test_the_other_lenses_count_the_same_cells() -> None:
    rows = asked_once_or_twice()
    assert figures(of(SAMENESS.whole, rows, "overall"), configuration="m")["wobble_exact"].denominator == 6
    overall = figures(of(OBSERVABILITY.whole, rows, "overall"), configuration="m")
    assert {key: overall[key].denominator for key in ("p_one", "band", "p_one_of_asked")} == {
        "p_one": 6,
        "band": 6,
        "p_one_of_asked": 6,
    }
    assert figures(of(OBSERVABILITY.whole, rows, "structural"), configuration="m")["observed"].numerator == 4
    worst = of(WORST.whole, rows, "by configuration").rows[0].figures["wobble"]
    assert (worst.numerator, worst.denominator) == (4, 6)
    tasks = tasks_of(make_panel(readings_frame(rows), [Member("small", "m")]))
    assert tasks.items.sum() == 6 and tasks.wobble.tolist() == pytest.approx([1, 0.5, 0.5])


def test_a_contrast_and_an_exclusion_leave_them_out() -> None:
    groups = Contrast("ends", Selection(tasks=("t0",)), Selection(tasks=("t1",)))
    protocol = replace(PROTOCOL, stability=Stability(rarefy=2, contrasts=(groups,)))
    found = of(CONTRAST.whole, asked_once_or_twice(), "chosen", protocol)
    by = {row.keys["measure"]: row.figures for row in found.rows}
    for measure, value in (("wobble", 1), ("dispersion", 0.5), ("accuracy", 1)):
        assert (by[measure]["of"].denominator, by[measure]["of"].value) == (2, value)
    rows = [row | {"excluded": "flagged" if row["item"] == "i00" else ""} for row in asked_once_or_twice()]
    both = of(EXCLUSION.whole, rows, "both readings")
    assert figures(both, quantity="items")["included"].value == 6
    assert figures(both, quantity="wobble")["audited"].denominator == 5


def test_transfer_ranks_what_all_read_twice() -> None:
    rows = asked_once_or_twice() + [row for n in range(16) for row in item(n, *WAVERING, by="o")]
    study = whole(rows, PROTOCOL)
    scores = item_scores(study.panel, "both", [0, 1], study.labels)
    assert (scores.units, scores.left_out) == (6, 10)
    assert task_scores(study.panel, "both", [0, 1], study.labels).table[0].tolist() == [1, 0.5, 0.5]


def test_a_change_of_items_is_told_of_cells_with_two_answers_on_both_sides() -> None:
    before = readings_frame([row for n in range(16) for row in item(n, *WAVERING)])
    study = replace(whole(asked_once_or_twice(), PROTOCOL), before=before)
    sides = Sides(study)
    assert [part.sum() for part in sides.wobble(sides.measured)] == [6, 4, 6]


def test_two_sides_of_a_comparison_leave_them_out_each_by_itself() -> None:
    steady = [row for n in range(16) for row in item(n, "gold", "gold")]
    sides = [
        Side(name, readings_frame(rows), 1) for name, rows in (("a", asked_once_or_twice()), ("b", steady))
    ]
    beside = side_by_side(*sides, PROTOCOL)
    wobble = beside.wobbles["a"]["wobble"]
    assert (wobble.numerator, wobble.denominator, wobble.note) == (4, 6, NOTE)
    assert beside.wobbles["b"]["wobble"].denominator == 16
    assert beside.moved.items == 16  # accuracy is of all that both answered


@pytest.mark.parametrize(("statistic", "value"), [("wobble", 4 / 6), ("dispersion", 2 / 6)])
def test_a_prediction_is_decided_by_the_same_cells(statistic: str, value: float) -> None:
    frame = readings_frame(asked_once_or_twice())
    counted = cells(frame, statistic, {"m": 20})  # type: ignore[arg-type]
    assert pooled(counted, statistic).value == pytest.approx(value)  # type: ignore[arg-type]
    assert cells(frame, "accuracy", {"m": 20}).height == 16  # one answer is right or wrong


def test_two_runs_of_one_answer_each_are_compared_all_the_same() -> None:
    """What differs there are the runs, not the answers of one."""
    rows = [
        row for n in range(4) for by in ("m", "o") for row in item(n, "gold" if by == "m" else "x", by=by)
    ]
    study = whole(pl.DataFrame(readings_frame(rows)), PROTOCOL)
    assert compared(shared_panel(study), Pair(0, 1)).differing == 4
