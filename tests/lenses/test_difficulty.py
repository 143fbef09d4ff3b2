"""Wobble against difficulty: published counts, tasks right and unsteady, and claims that hold back."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from leadline.lenses.difficulty import LENS
from leadline.lenses.finding import ClaimStatus
from leadline.lenses.structural import tasks_of
from tests.lenses.panels import QUICK, frame_of, unchanged_by_order_and_copies, wavering, whole_of
from tests.lenses.published_items import published_frame
from tests.lenses.release_sample import needs_release, release_frame

look = LENS.whole


def found(study):
    (finding,) = look(study)
    (row,) = finding.rows
    return row.figures, finding.claims


def test_rho_is_that_of_tasks_counted_by_hand():
    values, tasks = wavering(seed=1, tasks=12)
    figures, _ = found(whole_of(frame_of(values, tasks)))
    wobble, accuracy = [], []
    for name in sorted(set(tasks)):
        cells = values[:, [task == name for task in tasks]]
        wobble.append(np.mean([len(set(cell)) > 1 for cell in cells.reshape(-1, 20).tolist()]))
        modal = [
            max(sorted(set(cell), key=cell.index), key=cell.count) for cell in cells.reshape(-1, 20).tolist()
        ]
        accuracy.append(np.mean([code == 0 for code in modal]))
    expected = spearmanr(np.round(wobble, 12), np.round(accuracy, 12)).statistic
    assert figures["rho"].value == pytest.approx(expected)
    assert figures["rho"].low < figures["rho"].value < figures["rho"].high


@pytest.mark.parametrize(("clean", "expected", "tasks"), [(True, -0.487, 52), (False, -0.603, 60)])
def test_the_published_rho_comes_from_the_published_counts(clean, expected, tasks):
    # Two items were not measured by all; by which is not published, and ranks of tied tasks hang on it.
    frame = published_frame()
    figures, claims = found(whole_of(frame.filter(frame["audit"] == "clean") if clean else frame))
    assert figures["rho"].value == pytest.approx(expected, abs=0.015)
    assert figures["rho"].denominator == tasks
    assert figures["correct_but_unstable"].numerator == 0
    assert claims[0].status is ClaimStatus.NOT_SUPPORTED


def test_what_the_order_of_a_sum_decides_makes_no_ranks():
    # Wobble of 1/3, 1/5 and 2/5 in three configurations, in another order for each task: one mean
    parts = [(1, 3), (1, 5), (2, 5)]
    cells, tasks = [[], [], []], []
    for turn in range(3):
        for member in range(3):
            flips, of = parts[(member + turn) % 3]
            its = [[0, 1] if at < flips * 15 // of else [0, 0] for at in range(15)]
            cells[member] += its
        tasks += [f"t{turn}"] * 15
    panel = whole_of(frame_of(np.array(cells), tasks)).panel
    assert len(set(tasks_of(panel).wobble.tolist())) == 1


def test_wobble_is_never_called_more_than_difficulty():
    for seed in range(3):
        _, (merely, _) = found(whole_of(frame_of(*wavering(seed, tasks=20))))
        assert merely.status is ClaimStatus.NOT_SUPPORTED
        assert "cannot show it" in merely.text
        assert "residual ρ" in merely.conservative


def zone(wobbling, accuracy=1.0, tasks=80, of=10, samples=20):
    """Tasks of `of` items, of which `wobbling` waver a little in task t00, and none elsewhere."""
    values = np.zeros((1, tasks * of, samples), dtype=int)
    values[0, : int(wobbling), 0] = 1
    wrong = round((1 - accuracy) * of)
    for task in range(tasks):
        values[0, task * of + of - wrong : (task + 1) * of] = 1
    return frame_of(values, [f"t{at:02d}" for at in range(tasks) for _ in range(of)])


def test_what_could_not_have_occurred_is_unreachable_by_construction():
    figures, (_, claim) = found(whole_of(zone(wobbling=1)))
    assert figures["ceiling_lower"].value < 0.3
    assert claim.status is ClaimStatus.UNREACHABLE
    assert claim.point == "0 of 80 tasks"
    assert claim.conservative.startswith("ceiling 0.0")


def test_one_task_that_is_right_and_unsteady_refutes_that_there_is_none():
    figures, (_, claim) = found(whole_of(zone(wobbling=3)))
    assert figures["correct_but_unstable"].numerator == 1
    assert claim.status is ClaimStatus.NOT_SUPPORTED
    (finding,) = look(whole_of(zone(wobbling=3)))
    assert finding.notes == ("Correct but unstable: t00.",)


def test_none_of_many_tasks_supports_that_there_is_none_and_none_of_few_does_not():
    # Right answers that differ put wobble where no model foretells any: nothing is out of reach then.
    for tasks, status in ((80, ClaimStatus.SUPPORTED), (40, ClaimStatus.NOT_SUPPORTED)):
        frame = zone(wobbling=0, tasks=tasks)
        stray = (frame["item"] == "i0000") & (frame["sample"] == 0)
        frame = frame.with_columns(value=pl.when(stray).then(pl.lit("gold, too")).otherwise("value"))
        figures, (_, claim) = found(whole_of(frame))
        assert figures["correct_but_unstable"].numerator == 0
        assert claim.status is status


def test_without_right_tasks_there_is_nothing_to_say_of_them():
    figures, (_, claim) = found(whole_of(zone(wobbling=2, accuracy=0.5, tasks=5)))
    assert figures["ceiling_lower"].value is None
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


def test_too_few_tasks_or_none_that_differ_have_no_rho():
    figures, (claim, _) = found(whole_of(zone(wobbling=2, tasks=2)))
    assert (figures["rho"].value, figures["rho"].note) == (None, "fewer than 3 tasks")
    assert claim.status is ClaimStatus.NOT_ESTIMABLE
    figures, _ = found(whole_of(zone(wobbling=0, tasks=5)))
    assert figures["rho"].note == "all tasks are alike"
    assert look(whole_of(frame_of(np.zeros((1, 5, 4), dtype=int), [""] * 5))) == []


def test_row_order_and_duplicates_change_nothing():
    assert unchanged_by_order_and_copies(look, frame_of(*wavering(seed=2, tasks=8)))


def test_the_interval_is_made_of_the_draws_that_the_protocol_asks_for():
    frame = frame_of(*wavering(seed=2, tasks=8))
    few, many = (
        found(whole_of(frame, replace(QUICK, bootstrap_draws=draws)))[0]["rho"] for draws in (50, 3000)
    )
    assert few.value == many.value
    assert (few.low, few.high) != (many.low, many.high)
    assert "3000 draws" in many.method


@needs_release
def test_a_single_real_task_tells_nothing_of_difficulty():
    _, claims = found(whole_of(release_frame()))
    assert [claim.status for claim in claims] == [ClaimStatus.NOT_ESTIMABLE] * 2
