"""Split halves: by hand, on studies whose reliability is known, and what must not change them."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.reliability import LENS
from leadline.lenses.split_halves import median_corrected, split_halves
from leadline.stats.split_half import spearman_brown
from tests.lenses.panels import frame_of, unchanged_by_order_and_copies, wavering, whole_of
from tests.lenses.release_sample import needs_release, release_frame
from tests.lenses.small import figures, samples, table

look = LENS.whole


def by_hand(values, tasks):
    """Even against odd samples of one configuration, counted item by item."""
    names = sorted(set(tasks))
    rates = []
    for begin in (0, 1):
        rate = []
        for name in names:
            flips = [
                len(set(item[begin::2])) > 1
                for item, task in zip(values.tolist(), tasks, strict=True)
                if task == name
            ]
            rate.append(sum(flips) / len(flips))
        rates.append(rate)
    return spearmanr(*rates).statistic


def test_halves_by_hand():
    # Four tasks of two items and four samples, of which 0 and 2 are one half, 1 and 3 the other:
    # even halves waver on 1, 1, 0, 0 items of the tasks, odd ones on 1, 0, 0, 1
    both, even, odd, none = [0, 0, 1, 1], [0, 1, 2, 1], [1, 0, 1, 2], [0, 0, 0, 0]
    cells = [both, none, even, none, none, none, odd, none]
    tasks = ["a", "a", "b", "b", "c", "c", "d", "d"]
    found = look(whole_of(frame_of(np.array([cells]), tasks)))
    row = figures(table(found, "by configuration"), configuration="tau-0.7")
    # task c never wavers, so three tasks are left: 1, 1, 0 against 1, 0, 1
    assert row["r"].value == pytest.approx(-0.5)
    assert row["corrected"].value == pytest.approx(-2)
    assert row["r"].denominator == 3
    # over all four: 1, 1, 0, 0 against 1, 0, 0, 1
    assert row["corrected_all_tasks"].value == pytest.approx(0)
    assert (row["unsteady_tasks"].value, row["unsteady_tasks"].denominator) == (3, 4)


def test_every_configuration_is_correlated_as_if_item_by_item():
    values, tasks = wavering(seed=1)
    found = look(whole_of(frame_of(values, tasks)))
    corrected = []
    for number in range(4):
        row = figures(table(found, "by configuration"), configuration=f"m{number}")
        r = by_hand(values[number], tasks)
        if row["r"].denominator == 30:  # all tasks waver in some configuration
            assert row["r"].value == pytest.approx(r)
        assert row["corrected_all_tasks"].value == pytest.approx(2 * r / (1 + r))
        corrected.append(row["corrected"].value)
    (overall,) = table(found, "overall").rows
    assert overall.figures["median_corrected"].value == pytest.approx(np.median(corrected))
    assert overall.figures["median_corrected"].denominator == 4


def test_two_whole_runs_agree_better_than_halves_and_less_than_corrected():
    """Of forty samples, twenty are a run and twenty are another: what the halves of each say of both."""
    halved, seen = [], []
    for seed in range(12):
        values, tasks = wavering(seed, configurations=6, tasks=40, samples=40)
        first, second = (
            split_halves(whole_of(frame_of(part, tasks)).panel) for part in np.split(values, 2, 2)
        )
        everything = np.ones(40, dtype=bool)
        halved += [*first.r(everything), *second.r(everything)]
        wobble = [
            np.array([panel.unstable[:, panel.tasks == f"t{at:02d}"].mean(axis=1) for at in range(40)])
            for panel in (first.panel, second.panel)
        ]
        seen += [spearmanr(wobble[0][:, at], wobble[1][:, at]).statistic for at in range(6)]
    foretold = spearman_brown(halved)
    assert np.median(halved) < np.median(seen) < np.median(foretold)
    assert np.median(foretold) == pytest.approx(np.median(seen), abs=0.06)


def test_random_halves_spread_around_what_even_and_odd_samples_tell():
    found = look(whole_of(frame_of(*wavering(seed=2))))
    inside = 0
    for number in range(4):
        row = figures(table(found, "by configuration"), configuration=f"m{number}")
        assert row["random_median"].low < row["random_median"].value < row["random_median"].high
        inside += row["random_median"].low <= row["corrected"].value <= row["random_median"].high
    assert inside >= 3


def test_steady_tasks_that_differ_make_the_order_reliable_and_noise_does_not():
    (claim,) = table(look(whole_of(frame_of(*wavering(seed=3, tasks=60)))), "overall").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert float(claim.conservative[:5]) < float(claim.point)
    rng = np.random.default_rng(0)
    alike = (rng.random((4, 180, 20)) < 0.05).astype(int)  # every cell wavers by the same chance
    tasks = wavering(seed=0)[1]
    (claim,) = table(look(whole_of(frame_of(alike, tasks))), "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED


def test_a_single_reading_in_a_half_cannot_be_called_stable():
    # Two samples: each half holds one reading, and nothing can be said.
    values, tasks = wavering(seed=1, samples=2)
    found = look(whole_of(frame_of(values, tasks)))
    (claim,) = table(found, "overall").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE
    assert "no item has two readings in each half" in claim.text


def test_halves_that_never_waver_have_no_correlation_and_say_why():
    values = np.zeros((2, 12, 8), dtype=int)
    values[0, ::3, ::2] = (
        1  # the first configuration: samples 0, 2, .. all say 1, the others 0: steady halves
    )
    values[1, :6] = np.arange(8) % 3
    found = look(whole_of(frame_of(values, [f"t{at // 2}" for at in range(12)])))
    row = figures(table(found, "by configuration"), configuration="m0")
    assert (row["corrected"].value, row["corrected"].note) == (None, "all tasks wobble alike in one half")
    (overall,) = table(found, "overall").rows
    assert (overall.figures["estimable"].value, overall.figures["estimable"].denominator) == (1, 2)


def test_opposite_halves_have_no_corrected_value():
    # even samples of the first say 0, 2, 0 and its odd ones 1, 1, 1; the other way round for the second
    even, odd = [0, 1, 2, 1, 0, 1], [1, 0, 1, 2, 1, 0]
    cells = [even, even, even, odd, odd, odd]
    tasks = ["a", "a", "b", "b", "c", "c"]
    found = look(whole_of(frame_of(np.array([cells]), tasks)))
    row = figures(table(found, "by configuration"), configuration="tau-0.7")
    assert row["r"].value == -1
    assert (row["corrected"].value, row["corrected"].note) == (
        None,
        "the halves put the tasks in opposite orders: r = -1",
    )


def test_a_benchmark_without_tasks_or_with_two_has_no_order_to_agree_on():
    values, tasks = wavering(seed=1)
    for names, why in (([""] * 180, "declares no tasks"), (["a", "b"] * 90, "an order needs 3 tasks")):
        (overall,) = look(whole_of(frame_of(values, names)))
        assert overall.claims[0].status is ClaimStatus.NOT_ESTIMABLE
        assert why in overall.claims[0].text
    mixed = [name if at % 3 else "" for at, name in enumerate(tasks)]
    (note,) = table(look(whole_of(frame_of(values, mixed))), "overall").notes
    assert note == "60 items belong to no task and are left out."


def test_tasks_that_nobody_could_read_are_none_to_order():
    values, tasks = wavering(seed=1, tasks=5)
    read = values.copy()
    read[:, [task not in ("t00", "t01") for task in tasks]] = -1
    assert [found.table for found in look(whole_of(frame_of(read, tasks)))] == ["overall"]


def test_an_interval_is_over_the_tasks_that_the_configuration_was_read_on():
    values, tasks = wavering(seed=8, tasks=12)
    own = np.array([task < "t06" for task in tasks])
    values[0, ~own] = -1
    alone = frame_of(values[:1][:, own], [task for task in tasks if task < "t06"])
    first, both = (
        table(look(whole_of(frame)), "by configuration") for frame in (alone, frame_of(values, tasks))
    )
    one = figures(first, configuration="tau-0.7")["corrected_all_tasks"]
    assert one.low is not None
    assert one == figures(both, configuration="m0")["corrected_all_tasks"]


def test_nothing_asked_twice_has_no_reliability():
    assert look(whole_of(frame_of(np.zeros((3, 5, 1), dtype=int), list("aabbc")))) == []


def test_row_order_and_duplicates_change_nothing():
    assert unchanged_by_order_and_copies(look, frame_of(*wavering(seed=4, tasks=8)))


def test_a_further_configuration_changes_no_other_over_all_tasks():
    values, tasks = wavering(seed=5, tasks=12)
    three, four = (look(whole_of(frame_of(part, tasks))) for part in (values[:3], values))
    for number in range(3):
        before, after = (
            figures(table(found, "by configuration"), configuration=f"m{number}") for found in (three, four)
        )
        assert before["corrected_all_tasks"] == after["corrected_all_tasks"]
        # The published figure is left alone as well, so long as no further task wavers.
        if before["r"].denominator == after["r"].denominator:
            assert before == after


def test_a_configuration_with_more_samples_changes_no_other():
    values, tasks = wavering(seed=6, tasks=12, configurations=3)
    alone = look(whole_of(frame_of(values, tasks)))
    rows = [
        row
        for at, task in enumerate(tasks)
        for row in samples("long", f"i{at:04d}", *["gold"] * 30, task=task, model="another")
    ]
    joined = look(whole_of(pl.concat([frame_of(values, tasks), readings_frame(rows)])))
    for number in range(3):
        assert figures(table(alone, "by configuration"), configuration=f"m{number}") == figures(
            table(joined, "by configuration"), configuration=f"m{number}"
        )


def test_the_median_is_that_of_the_report():
    study = whole_of(frame_of(*wavering(seed=7)))
    (row,) = table(look(study), "overall").rows
    told = row.figures["median_corrected"]
    assert median_corrected(study.panel) == (told.value, told.denominator)
    assert median_corrected(whole_of(frame_of(np.zeros((2, 9, 6), dtype=int), list("aaabbbccc"))).panel) == (
        None,
        0,
    )


@needs_release
def test_one_real_task_is_not_enough_to_order_tasks():
    (overall,) = look(whole_of(release_frame()))
    assert overall.claims[0].status is ClaimStatus.NOT_ESTIMABLE
    assert "an order needs 3 tasks, there are 1" in overall.claims[0].text
