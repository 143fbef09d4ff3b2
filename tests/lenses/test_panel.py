"""The panel against slow and obvious versions of its figures, and rarefied wobble against unequal numbers."""

from __future__ import annotations

import runpy
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.frame import readings_frame
from leadline.lenses.panel import make_panel
from leadline.lenses.protocol import Member
from tests.lenses.small import samples, shuffled

EXAMPLE = Path(__file__).parents[2] / "examples" / "rarefied_wobble.py"
M, OTHER = Member("small", "m"), Member("small", "o")


def cell(*values, rule="own", **more):
    return make_panel(readings_frame(samples("m", "a", *values, **more)), [M], rule)


values = st.lists(st.sampled_from(["gold", "x", "y", "z", None]), min_size=1, max_size=9)


@settings(deadline=None)
@given(values)
def test_a_cell_is_what_counting_its_values_says(said):
    panel = cell(*said)
    read = [value for value in said if value is not None]
    counts = Counter(read)
    top = max(counts.values(), default=0)
    assert (panel.n[0, 0], panel.top[0, 0], panel.asked[0, 0]) == (len(read), top, len(said))
    assert panel.unstable[0, 0] == (len(counts) > 1)
    assert panel.tied[0, 0] == (list(counts.values()).count(top) > 1)
    assert panel.right[0, 0] == counts["gold"]
    if read:
        mode = next(value for value in read if counts[value] == top)
        assert panel.values[panel.modal[0, 0]] == mode
        assert panel.correct[0, 0] == (mode == "gold")
    else:
        assert not panel.correct[0, 0] and panel.modal[0, 0] == -1
    assert panel.read[0, 0] == bool(read)
    assert panel.measured[0, 0] == (len(read) >= 2)
    if len(read) >= 2:
        assert panel.dispersion[0, 0] == pytest.approx(1 - top / len(read))
    else:  # in a single reading nothing can differ
        assert np.isnan(panel.dispersion[0, 0])


@settings(deadline=None)
@given(st.lists(st.sampled_from("xyz"), min_size=2, max_size=7), st.integers(2, 7))
def test_rarefied_wobble_is_the_share_of_subsets_that_disagree(said, m):
    m = min(m, len(said))
    subsets = [len(set(subset)) > 1 for subset in combinations(said, m)]
    assert cell(*said).rarefied(m)[0, 0] == pytest.approx(np.mean(subsets))


@settings(deadline=None)
@given(st.lists(st.sampled_from("xyz"), min_size=2, max_size=8))
def test_disagreement_is_the_share_of_pairs_that_disagree(said):
    pairs = [first != second for first, second in combinations(said, 2)]
    panel = cell(*said)
    assert panel.disagreement[0, 0] == pytest.approx(np.mean(pairs))
    assert panel.rarefied(2)[0, 0] == pytest.approx(np.mean(pairs))


def test_fewer_readings_than_m_have_no_rarefied_wobble_and_one_has_no_disagreement():
    assert np.isnan(cell("x", "y").rarefied(3)[0, 0])
    assert np.isnan(cell("x").disagreement[0, 0])


def test_many_readings_do_not_overflow():
    panel = cell(*["x"] * 4999, "y")
    assert panel.rarefied(2500)[0, 0] == pytest.approx(0.5)


def test_an_answer_that_is_no_reading_has_no_value_even_where_one_is_written():
    assert cell("x", "y", state="refused").n[0, 0] == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(values, min_size=1, max_size=5), st.integers(0, 999))
def test_neither_order_nor_a_second_export_changes_a_panel(items, seed):
    frame = readings_frame([row for at, said in enumerate(items) for row in samples("m", f"i{at}", *said)])
    panel = make_panel(frame, [M])
    for other in (shuffled(frame, seed), pl.concat([frame, shuffled(frame, seed)])):
        again = make_panel(other, [M])
        for name in ("codes", "hits", "asked", "items"):
            assert (getattr(again, name) == getattr(panel, name)).all(), name


def test_a_part_of_a_panel_is_the_panel_of_that_part():
    rows = [*samples("m", "a", "x", "y"), *samples("m", "b", "x", "x"), *samples("o", "b", "x", "z")]
    panel = make_panel(readings_frame(rows), [M, OTHER])
    part = panel.only([1], panel.items == "b")
    alone = make_panel(readings_frame(rows[4:]), [OTHER])
    assert part.members == (OTHER,)
    assert (part.n.tolist(), part.top.tolist(), part.asked.tolist()) == ([[2]], [[1]], [[2]])
    assert part.unstable.tolist() == alone.unstable.tolist()


def test_rules_fall_back_to_what_a_reading_has():
    number = {"value_exact": "0.91", "value_rounding": "0.9", "answer_type": "number"}
    by_rule = {
        rule: str(panel.values[panel.modal[0, 0]])
        for rule in ("own", "exact", "declared", "rounding")
        for panel in [cell("own", rule=rule, **number)]
    }
    assert by_rule == {"own": "own", "exact": "0.91", "declared": "0.9", "rounding": "0.9"}
    assert cell("word", rule="exact").values.tolist() == ["word"]


# --- unequal numbers of readings ---


def test_rarefied_wobble_of_20_and_of_6_readings_estimates_the_same_and_plain_wobble_does_not():
    simulated = runpy.run_path(str(EXAMPLE))["simulated"]
    many, few, mixed = simulated(studies=400, items=150, seed=11).values()
    # 60,000 items: the standard error of a mean of their chances is below 0.0015, so four of them is generous
    for found in (many, few, mixed):
        assert found.rarefied == pytest.approx(found.truth, abs=0.006)
        assert found.pairwise == pytest.approx(many.pairwise, abs=0.006)
    assert many.plain - few.plain > 0.05
    # where half of the items were cut short, plain wobble falls although nothing became steadier
    assert few.plain + 0.02 < mixed.plain < many.plain - 0.02


def test_the_page_shows_what_the_simulation_finds():
    page = (EXAMPLE.parents[1] / "docs" / "measures.md").read_text("utf-8")
    for found in runpy.run_path(str(EXAMPLE))["simulated"](studies=1000, items=200, seed=1).values():
        row = f"| {found.plain:.3f} | {found.rarefied:.3f} | {found.truth:.3f} | {found.pairwise:.3f} |"
        assert row in page
