"""Where wobble can show: counted by hand, published values of a real task, and what must not change them."""

import numpy as np
import pytest

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.observability import ALL_CONFIGURATIONS, LENS
from leadline.lenses.protocol import Protocol, Stability
from leadline.lenses.structural import ceiling, predicted, tasks_of
from leadline.stats.intervals import wilson
from tests.lenses.panels import QUICK, frame_of, unchanged_by_order_and_copies, wavering, whole_of
from tests.lenses.published_items import published_frame
from tests.lenses.release_sample import TASK, needs_release, release_frame
from tests.lenses.small import figures, table

look = LENS.whole


def cell(right, *wrong):
    """Twenty readings: `right` gold ones, then wrong answers as often as told."""
    said = [0] * right + [code for code, times in enumerate(wrong, start=1) for _ in range(times)]
    return said + [-1] * (20 - len(said))


def one_configuration(*cells, tasks=None):
    return whole_of(frame_of(np.array([cells]), tasks or ["t"] * len(cells)))


def test_the_band_is_closed_on_both_sides_and_half_open_without_its_upper_end():
    study = one_configuration(cell(20), cell(14, 6), cell(6, 14), cell(15, 5), cell(5, 15), cell(0, 20))
    row = figures(table(look(study), "overall"), configuration="tau-0.7")
    counts = {name: figure.numerator for name, figure in row.items()}
    # 14/20 and 6/20 are 0.7 and 0.3 exactly, which floating-point products of them are not
    shares = {"p_one": 1, "p_zero": 1, "band": 2, "band_half_open": 1, "stable": 2, "p_one_of_asked": 1}
    assert counts == shares
    assert all(figure.denominator == 6 for figure in row.values())


def test_answers_that_cannot_be_read_are_no_right_ones():
    # right in all that can be read of three cells: of twenty answers, of ten, and a cell without any
    study = one_configuration(cell(20), cell(10), cell(0), cell(14, 6))
    found = table(look(study), "overall")
    for name in ("tau-0.7", ALL_CONFIGURATIONS):
        row = figures(found, configuration=name)
        assert (row["p_one"].numerator, row["p_one"].denominator) == (2, 3)
        assert (row["p_one_of_asked"].numerator, row["p_one_of_asked"].denominator) == (1, 4)
    (claim,) = found.claims
    assert "66.7 % are right whenever they can be read" in claim.text
    assert "25.0 % of the cells asked are always right" in claim.text


@pytest.mark.parametrize(("items", "held"), [(4, False), (16, False), (40, True)])
def test_no_cell_in_the_band_says_few_only_of_so_many_items(items, held):
    study = whole_of(frame_of(np.array([[cell(20)] * items] * 2), ["t"] * items))
    found = table(look(study), "overall")
    band = figures(found, configuration=ALL_CONFIGURATIONS)["band"]
    # items, not the cells of two configurations: these are not independent
    assert (band.numerator, band.denominator) == (0, 2 * items)
    assert (band.low, band.high) == wilson(0, items)
    assert band.method == "wilson over items"
    (claim,) = found.claims
    assert (claim.status is ClaimStatus.SUPPORTED) is held
    assert f"{100 * band.high:.1f} %, the interval's upper end" in claim.conservative


def test_expected_wobble_goes_by_the_readings_that_are_there():
    study = one_configuration(cell(3, 1), cell(20), cell(0, 20))
    models = predicted(study.panel)
    # four readings, three of them right: 1 - 0.75^4 - 0.25^4
    assert models.lower[0] == pytest.approx([1 - 0.75**4 - 0.25**4, 0, 0])
    assert models.upper[0] == pytest.approx([1 - 0.75**4, 0, 1])
    row = figures(table(look(study), "structural"), configuration="tau-0.7")
    assert row["lower"].value == pytest.approx((1 - 0.75**4 - 0.25**4) / 3)
    assert row["observed"].numerator == 1


def test_always_wrong_cells_are_foretold_from_other_tasks_alone():
    unsteady, steady = cell(0, 19, 1), cell(0, 20)
    study = one_configuration(
        unsteady, steady, unsteady, cell(10, 10), cell(20), tasks=["a", "b", "b", "c", "c"]
    )
    found = predicted(study.panel).calibrated[0]
    # for a: one of two elsewhere (b); for b: one of one (a); c has none: between 0 and 1, and always right
    assert found == pytest.approx([0.5, 1, 1, 1, 0])


def test_a_single_task_of_always_wrong_cells_foretells_nothing():
    study = one_configuration(cell(0, 19, 1), cell(20), cell(20), tasks=["a", "a", "b"])
    calibrated = figures(table(look(study), "structural"), configuration="tau-0.7")["calibrated"]
    assert (calibrated.value, calibrated.note) == (
        None,
        "cells that are always wrong are in one task only",
    )
    by_task = table(look(study), "by task")
    assert figures(by_task, task="a")["calibrated"].value is None
    assert figures(by_task, task="b")["calibrated"].value == 0


def test_items_without_a_task_foretell_each_other():
    study = one_configuration(cell(0, 19, 1), cell(0, 20), cell(0, 20), tasks=["", "", ""])
    assert predicted(study.panel).calibrated[0] == pytest.approx([0, 0.5, 0.5])
    assert {finding.table for finding in look(study)} == {"overall", "structural", "distribution"}


def test_every_cell_is_in_one_bin_and_the_edges_belong_to_the_upper_one():
    study = one_configuration(cell(0, 20), cell(0, 1, 19), cell(1, 19), cell(14, 6), cell(13, 7), cell(20))
    rows = table(look(study), "distribution").rows
    cells = {(row.keys["from"], row.keys["to"]): row.figures["cells"].value for row in rows}
    filled = {span: number for span, number in cells.items() if number}
    assert filled == {
        ("0", "0"): 2,
        ("0.05", "0.10"): 1,
        ("0.65", "0.70"): 1,
        ("0.70", "0.75"): 1,
        ("1", "1"): 1,
    }
    assert len(rows) == 22
    unstable = {row.keys["from"]: row.figures["unstable"] for row in rows}
    assert (unstable["0"].value, unstable["0"].denominator) == (1, 2)


def test_a_task_counts_each_configuration_the_same():
    # The second configuration was read on one item only
    values = np.array([[cell(20), cell(19, 1), cell(20)], [cell(10, 10), [-1] * 20, [-1] * 20]])
    study = whole_of(frame_of(values, ["t", "t", "t"]))
    row = figures(table(look(study), "by task"), task="t")
    assert row["observed"].value == pytest.approx((1 / 3 + 1) / 2)
    pooled = figures(table(look(study), "structural"), configuration=ALL_CONFIGURATIONS)
    assert (pooled["observed"].numerator, pooled["observed"].denominator) == (2, 4)


def test_an_item_that_nobody_could_read_withholds_no_interval_from_its_task():
    with_it = one_configuration(cell(20), cell(0), cell(10, 10), tasks=["a", "a", "b"])
    without = one_configuration(cell(20), cell(10, 10), tasks=["a", "b"])
    one, other = (
        figures(table(look(study), "by task"), task="a")["observed"] for study in (with_it, without)
    )
    assert (one.value, one.low, one.high) == (0, *wilson(0, 1))  # one item leaves nearly everything open
    assert one == other


def test_the_ceiling_is_the_most_among_tasks_that_are_nearly_always_right():
    cells = [*[cell(20)] * 9, cell(12, 8), *[cell(20)] * 5, *[cell(0, 20)] * 5]
    study = one_configuration(*cells, tasks=["easy"] * 10 + ["hard"] * 10)
    top = ceiling(tasks_of(study.panel))
    assert top.tasks == 1
    assert top.lower == pytest.approx((1 - 0.6**20 - 0.4**20) / 10)
    assert top.observed == pytest.approx(0.1)
    rows = {row.keys["from"]: row.figures for row in table(look(study), "ceiling").rows}
    assert sorted(rows) == ["0.5", "0.9"]
    assert rows["0.9"]["largest_lower"].value == pytest.approx(top.lower)


def test_an_accuracy_of_exactly_nine_tenths_is_in_the_last_tenth():
    cells = np.array([[cell(20)] * 4 + [cell(1, 19)]] * 2 + [[cell(20)] * 5] * 2)  # mean of .8, .8, 1, 1
    study = whole_of(frame_of(cells, ["t"] * 5))
    assert [row.keys["from"] for row in table(look(study), "ceiling").rows] == ["0.9"]
    assert ceiling(tasks_of(study.panel)).tasks == 1


def test_what_the_lower_model_foretells_is_what_happens_when_wrong_answers_are_alike():
    """Cells whose chance is known: over many, the share that waver is the mean of 1 - p^n - (1-p)^n."""
    rng = np.random.default_rng(0)
    chance = rng.beta(0.5, 0.5, 20_000)
    right = rng.random((20_000, 10)) < chance[:, None]
    panel = whole_of(frame_of(np.where(right, 0, 1)[None], ["t"] * 20_000)).panel
    assert panel.unstable.mean() == pytest.approx(np.mean(1 - chance**10 - (1 - chance) ** 10), abs=0.01)
    # From the shares themselves rather than from the hidden chances, less is foretold: hence "lower".
    assert predicted(panel).lower.mean() < panel.unstable.mean()


def test_wrong_answers_that_never_repeat_waver_as_the_upper_model_says():
    rng = np.random.default_rng(1)
    chance = rng.beta(0.5, 0.5, 5_000)
    right = rng.random((5_000, 10)) < chance[:, None]
    panel = whole_of(frame_of(np.where(right, 0, 1 + np.arange(10))[None], ["t"] * 5_000)).panel
    assert panel.unstable.mean() == pytest.approx(np.mean(1 - chance**10), abs=0.015)


def test_few_cells_in_the_band_is_claimed_only_when_the_interval_says_so():
    steady = np.zeros((3, 200, 6), dtype=int)
    steady[:, :4, :3] = 1
    (claim,) = table(look(whole_of(frame_of(steady, ["t"] * 200))), "overall").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "2.0 % (12 of 600)"
    steady[:, :18, :3] = 1  # 9.0 %, of 200 items
    (claim,) = table(look(whole_of(frame_of(steady, ["t"] * 200))), "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED


def test_row_order_and_duplicates_change_nothing():
    assert unchanged_by_order_and_copies(look, frame_of(*wavering(seed=1, tasks=6)))


def test_a_further_configuration_changes_no_other():
    values, tasks = wavering(seed=2, tasks=6)
    three, four = (look(whole_of(frame_of(part, tasks))) for part in (values[:3], values))
    for name in ("overall", "structural"):
        for number in range(3):
            keys = {"configuration": f"m{number}"}
            assert figures(table(three, name), **keys) == figures(table(four, name), **keys)


def test_nothing_asked_twice_tells_nothing():
    assert look(whole_of(frame_of(np.zeros((2, 5, 1), dtype=int), list("aabbc")))) == []


@needs_release
def test_a_real_task_has_its_published_values():
    frame = release_frame(published=True)
    study = whole_of(frame, Protocol("", (), bootstrap_draws=200, stability=Stability(sameness="exact")))
    panel = study.panel
    assert panel.unstable.sum(axis=0).tolist() == [6, 8, 12, 6]
    assert panel.correct.sum(axis=0).tolist() == [10, 7, 2, 5]
    assert int(panel.n.sum()) == 916
    row = figures(table(look(study), "by task"), task=TASK)
    assert row["lower"].value == pytest.approx(0.307497, abs=5e-7)
    assert row["upper"].value == pytest.approx(0.667463, abs=5e-7)
    assert row["observed"].value == pytest.approx(0.666667, abs=5e-7)
    assert row["acc"].value == 0.5


@needs_release
def test_of_a_real_task_rounding_leaves_less_wobble_and_as_much_room():
    study = whole_of(release_frame())
    exact, own = (
        look(whole_of(release_frame(), Protocol("", (), bootstrap_draws=200, stability=Stability(rule))))
        for rule in ("exact", "own")
    )
    keys = {"configuration": ALL_CONFIGURATIONS}
    before, after = (figures(table(found, "structural"), **keys)["observed"] for found in (exact, own))
    assert (before.numerator, before.denominator) == (32, 48)
    assert after.numerator < 32
    assert figures(table(exact, "overall"), **keys)["band"] == figures(table(own, "overall"), **keys)["band"]
    assert study.repeated == tuple(range(12))


@pytest.mark.parametrize(
    ("tenth", "tasks", "most", "mean"),
    [("0.6", 1, 0.197917, 0.197917), ("0.7", 3, 0.259259, 0.183642), ("0.9", 35, 0.166667, 0.072195)],
)
def test_the_published_wobble_by_accuracy_comes_from_the_published_counts(tenth, tasks, most, mean):
    frame = published_frame()
    study = whole_of(frame.filter(frame["audit"] == "clean"), QUICK)
    (row,) = [row for row in table(look(study), "ceiling").rows if row.keys["from"] == tenth]
    assert row.figures["tasks"].value == tasks
    assert row.figures["largest_observed"].value == pytest.approx(most, abs=5e-7)
    assert row.figures["mean_observed"].value == pytest.approx(mean, abs=5e-7)
