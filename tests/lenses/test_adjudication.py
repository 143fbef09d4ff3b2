"""What decisions change is told by both readings, and moves what it must and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from leadline.lenses.adjudication import look
from leadline.lenses.exclusion import look as exclusion
from leadline.lenses.finding import Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.label_errors import whole as label_errors
from leadline.lenses.protocol import Member, Protocol
from leadline.lenses.registry import run_lenses
from leadline.stats.intervals import newcombe
from leadline.stats.paired_shares import tango
from tests.lenses.small import figures, reading, samples, shuffled, table, whole

PROTOCOL = Protocol(baseline="", methods=(), members=(Member("small", "a"), Member("small", "b")))
POOLED = "all configurations"
OUT = {"wrong": "adjudicated wrong", "ambiguous": "adjudicated ambiguous"}


def study(items: int = 60, seed: int = 3) -> pl.DataFrame:
    """Two configurations, five readings of each item: a tenth was taken out, a tenth has another label."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(items):
        outcome = ("wrong", "ambiguous", "corrected", "corrected", "rejected")[number] if number < 5 else ""
        outcome = outcome or ("corrected" if number % 20 == 19 else "wrong" if number % 20 == 18 else "")
        chance = rng.choice([0.05, 0.5, 0.95])
        for name in ("a", "b"):
            for sample in range(5):
                value = "gold" if rng.random() < chance else str(rng.choice(["x", "y"]))
                more: dict[str, Any] = {"adjudication": outcome, "excluded": OUT.get(outcome, "")}
                if outcome == "corrected":
                    # the label was "gold", and is "x"
                    more |= {"correct": value == "x", "correct_labelled": value == "gold"}
                rows.append(reading(name, f"i{number:02}", value, sample, **more))
    return readings_frame(rows)


def found(frame: pl.DataFrame, protocol: Protocol = PROTOCOL) -> Finding:
    return table(look(whole(frame, protocol)), "both")


def as_labelled(frame: pl.DataFrame) -> pl.DataFrame:
    """The study as it would be without the layer."""
    return frame.with_columns(
        pl.coalesce("correct_labelled", "correct").alias("correct"),
        pl.lit(None, pl.Boolean).alias("correct_labelled"),
        pl.lit("").alias("excluded"),
        pl.lit("").alias("adjudication"),
    )


def per_item(frame: pl.DataFrame) -> dict[str, dict[str, list[float]]]:
    """By item: cells, cells right, cells unstable, counted reading by reading."""
    counted: dict[str, dict[str, list[float]]] = {}
    cells: dict[tuple[str, str], list[tuple[int, str, bool]]] = {}
    for item, name, sample, value, correct in frame.select(
        "item", "configuration", "sample", "value", "correct"
    ).iter_rows():
        cells.setdefault((item, name), []).append((sample, value, correct))
    for (item, _), answers in cells.items():
        answers.sort()
        values = [value for _, value, _ in answers]
        winner = max(dict.fromkeys(values), key=values.count)
        entry = counted.setdefault(item, {"acc": [0, 0], "wobble": [0, 0]})
        entry["acc"][0] += next(right for _, value, right in answers if value == winner)
        entry["wobble"][0] += len(set(values)) > 1
        for name in entry:
            entry[name][1] += 1
    return counted


def test_both_readings_are_those_of_studies_with_and_without_the_layer() -> None:
    frame = study()
    told = figures(found(frame), configuration=POOLED)
    for name, of in (
        ("labelled", as_labelled(frame)),
        ("adjudicated", frame.filter(pl.col("excluded") == "")),
    ):
        counted = per_item(of).values()
        for what in ("acc", "wobble"):
            figure = told[f"{what}_{name}"]
            expected = [sum(entry[what][place] for entry in counted) for place in (0, 1)]
            assert [figure.numerator, figure.denominator] == expected, (what, name)
    assert told["acc_labelled"].value != told["acc_adjudicated"].value


def test_the_figures_of_the_population_are_those_of_the_lens_on_wobble() -> None:
    frame = study()
    told = found(frame)
    (overall,) = [
        one for one in run_lenses(frame, PROTOCOL) if (one.lens, one.table) == ("wobble", "overall")
    ]
    for name in (POOLED, "a", "b"):
        ours, theirs = figures(told, configuration=name), figures(overall, configuration=name)
        assert ours["acc_adjudicated"] == theirs["acc"]
        assert ours["wobble_adjudicated"] == theirs["wobble"]


def test_the_interval_of_a_change_is_that_of_a_plain_bootstrap_over_items() -> None:
    frame = study()
    told = figures(found(frame), configuration=POOLED)
    before, after = per_item(as_labelled(frame)), per_item(frame.filter(pl.col("excluded") == ""))
    items = sorted(before)
    rng = np.random.default_rng(11)
    for what in ("acc", "wobble"):
        drawn = []
        for _ in range(4000):
            picks = [items[place] for place in rng.integers(0, len(items), len(items))]
            was = np.sum([before[item][what] for item in picks], axis=0)
            now = np.sum([after.get(item, {what: [0, 0]})[what] for item in picks], axis=0)
            drawn.append(now[0] / now[1] - was[0] / was[1])
        change = told[f"{what}_change"]
        assert change.value == pytest.approx(
            (told[f"{what}_adjudicated"].value or 0) - (told[f"{what}_labelled"].value or 0)
        )
        assert [change.low, change.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.006)
        assert change.denominator == 60 and change.method.startswith("bootstrap over items, 2000 draws")


def test_what_was_taken_out_is_judged_by_the_labels_as_they_were() -> None:
    frame = study()
    out = frame.filter(pl.col("excluded") != "")
    told = figures(found(frame), configuration=POOLED)["taken_right"]
    assert (told.numerator, told.denominator) == (out["correct"].sum(), out.height)


def test_a_corrected_label_moves_no_wobble() -> None:
    frame = study().filter(pl.col("excluded") == "")
    for row in found(frame).rows:
        assert row.figures["wobble_labelled"] == row.figures["wobble_adjudicated"]
        change = row.figures["wobble_change"]
        assert (change.value, change.low, change.method) == (0, None, "by construction")
        assert row.figures["acc_labelled"].denominator == row.figures["acc_adjudicated"].denominator


def small(*answers: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        row
        for number, (value, more) in enumerate(answers)
        for name in ("a", "b")
        for row in samples(name, f"i{number:02}", value, value, **more)
    ]


def test_where_items_are_all_alike_an_interval_says_what_so_few_leave_open() -> None:
    out = {"excluded": OUT["wrong"], "adjudication": "wrong"}
    same = small(*[("gold", {})] * 15, *[("gold", out)] * 5)
    change = figures(found(readings_frame(same)), configuration=POOLED)["acc_change"]
    assert change.method == "newcombe over items, times the part left out"
    assert [change.low, change.high] == pytest.approx([end / 4 for end in newcombe(15, 15, 5, 5)])

    relabelled = {"correct": True, "correct_labelled": False, "adjudication": "corrected"}
    every = small(*[("x", relabelled)] * 10)
    change = figures(found(readings_frame(every)), configuration=POOLED)["acc_change"]
    assert (change.value, change.method, change.denominator) == (1, "tango over items", 10)
    assert [change.low, change.high] == pytest.approx(tango(0, 10, 10))

    rise = small(*[("x", relabelled)] * 6, *[("x", out)] * 4)
    change = figures(found(readings_frame(rise)), configuration=POOLED)["acc_change"]
    assert (change.value, change.method) == (1, "newcombe over items")
    assert [change.low, change.high] == pytest.approx(newcombe(6, 6, 0, 10))


def test_configurations_that_were_asked_once_have_both_accuracies_and_no_wobble() -> None:
    out = {"excluded": OUT["ambiguous"], "adjudication": "ambiguous"}
    rows = [reading("a", f"i{number}", "gold" if number < 3 else "x") for number in range(5)]
    rows += [reading("a", "i9", "x", **out)]
    protocol = Protocol(baseline="", methods=(), members=(Member("small", "a"),))
    (row,) = found(readings_frame(rows), protocol).rows
    assert row.keys == {"configuration": "a"}
    told = {name: figure.value for name, figure in row.figures.items()}
    assert told["acc_labelled"] == pytest.approx(3 / 6) and told["acc_adjudicated"] == pytest.approx(3 / 5)
    assert told["wobble_labelled"] is told["wobble_adjudicated"] is told["wobble_change"] is None


def test_without_decisions_that_do_something_there_is_no_finding() -> None:
    frame = study()
    untouched = frame.filter(~pl.col("adjudication").is_in(["wrong", "ambiguous", "corrected"]))
    assert untouched["adjudication"].unique().sort().to_list() == ["", "rejected"]
    assert look(whole(untouched, PROTOCOL)) == []
    assert look(whole(readings_frame([]), PROTOCOL)) == []
    # a corrected label of an item that the audit takes out anyway moves nothing either
    elsewhere = pl.when(pl.col("adjudication") == "corrected").then(pl.lit("evidence absent"))
    assert look(whole(frame.with_columns(elsewhere.otherwise(pl.lit("")).alias("excluded")), PROTOCOL)) == []


def test_to_the_audits_both_readings_what_a_person_took_out_is_as_if_it_were_named() -> None:
    frame = study().with_columns(
        pl.when(pl.col("item") > "i50")
        .then(pl.lit("computational"))
        .otherwise(pl.lit("clean"))
        .alias("audit")
    )
    named = frame.with_columns(
        pl.when(pl.col("excluded") != "").then(pl.lit("named")).otherwise("excluded").alias("excluded")
    )
    theirs, ours = (
        [one.model_copy(update={"notes": ()}) for one in exclusion(whole(each, PROTOCOL))]
        for each in (named, frame)
    )
    assert ours == theirs != []
    notes = exclusion(whole(frame, PROTOCOL))[0].notes
    taken = frame.filter(pl.col("excluded") != "")["item"].n_unique()
    assert f"Items that a person's decision leaves out are in neither reading: {taken}." in notes


def test_the_list_of_labels_to_look_at_leaves_out_what_a_person_decided_on() -> None:
    frame = study()
    listed = [row.keys["item"] for row in label_errors(whole(frame, PROTOCOL))[0].rows]
    decided = frame.filter(pl.col("adjudication") != "")["item"].unique().to_list()
    every = frame.with_columns(pl.lit("").alias("adjudication"))
    before = [row.keys["item"] for row in label_errors(whole(every, PROTOCOL))[0].rows]
    assert set(before) & set(decided), "some of them would be listed"
    assert listed == [item for item in before if item not in decided]


def test_neither_order_nor_duplicates_of_rows_change_anything() -> None:
    frame = study()
    told = found(frame)
    assert found(shuffled(frame, seed=1)) == told
    assert found(pl.concat([frame, frame.head(50)])) == told


def test_a_change_that_people_chose_is_counted_and_not_supported_by_its_interval() -> None:
    told = found(study())
    change = figures(told, configuration=POOLED)["acc_change"]
    assert change.high is not None and change.high < 0
    (claim,) = told.claims
    assert claim.status == "unreachable by construction"
    assert "is not shown by adjudication. Counted: pooled accuracy" in claim.text
    assert "; accuracy falls in 2 of 2 configurations. People chose" in claim.text


def test_rises_and_falls_are_told_by_configuration() -> None:
    was_right = {"correct": False, "correct_labelled": True, "adjudication": "corrected"}
    now_right = {"correct": True, "correct_labelled": False, "adjudication": "corrected"}
    rows = [
        *samples("a", "i1", "x", "x", **now_right),
        *samples("b", "i1", "y", "y", **was_right),
        *(row for name in ("a", "b") for row in samples(name, "i2", "gold", "gold")),
    ]
    (claim,) = found(readings_frame(rows)).claims
    assert "+0.0 points; accuracy rises in 1, falls in 1 of 2 configurations" in claim.text


def once_and_again() -> tuple[pl.DataFrame, Protocol]:
    """The study, with a third configuration of one answer each, and one cell of a single readable answer."""
    frame = study()
    once = frame.filter((pl.col("configuration") == "a") & (pl.col("sample") == 0)).with_columns(
        pl.lit("greedy").alias("configuration")
    )
    members = (*PROTOCOL.members, Member("small", "greedy"))
    more = readings_frame([reading("a", "once", "x", 0)])
    return pl.concat([frame, once, more]), Protocol(baseline="", methods=(), members=members)


def test_all_configurations_are_those_of_the_lens_on_wobble_where_some_were_asked_once() -> None:
    frame, protocol = once_and_again()
    told = found(frame, protocol)
    out = frame.filter(pl.col("excluded") != "")["item"].unique()
    (overall,) = [
        one for one in run_lenses(frame, protocol) if (one.lens, one.table) == ("wobble", "overall")
    ]
    for name in (POOLED, "a", "b"):
        ours, theirs = figures(told, configuration=name), figures(overall, configuration=name)
        assert ours["acc_adjudicated"] == theirs["acc"], name
        assert ours["acc_adjudicated"].denominator == ours["wobble_adjudicated"].denominator
    assert figures(told, configuration="greedy")["acc_adjudicated"].denominator == 60 - len(out)
    assert "Asked once, and not in all configurations: greedy." in told.notes


def test_what_was_taken_out_says_how_many_items_it_is() -> None:
    frame = study()
    out = frame.filter(pl.col("excluded") != "")["item"].n_unique()
    assert {row.figures["taken_items"].value for row in found(frame).rows} == {out}
