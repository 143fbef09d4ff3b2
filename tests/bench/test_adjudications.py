"""Decisions are a layer: the benchmark stays as it is, the last word counts, what is stale is not applied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leadline.bench.adjudications import (
    Adjudication,
    Outcome,
    add_adjudication,
    in_force,
    label_hash,
    layered,
    read_adjudications,
)
from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item
from leadline.errors import UsageError

ITEMS = tuple(
    Item(
        id=f"q{number}", question=f"Which river flows through town {number}?", answer=answer, aliases=("it",)
    )
    for number, answer in enumerate(("Aare", "Rhine", "Ticino", "Inn"))
)
BENCHMARK = Benchmark(name="rivers", version="1", items=ITEMS)


def decided(item: Item, outcome: Outcome, **more: object) -> Adjudication:
    return Adjudication.model_validate(
        {
            "item": item.id,
            "outcome": outcome,
            "reader": "R. Reader",
            "date": "2026-11-30",
            "reason": "the text names two rivers",
            "label": label_hash(item),
            **more,
        }
    )


def test_a_layer_excludes_corrects_and_leaves_the_benchmark_as_it_was() -> None:
    first, second, third, _ = ITEMS
    found = layered(
        BENCHMARK,
        [
            decided(first, "excluded-ambiguous"),
            decided(second, "upheld", corrected="Reuss"),
            decided(third, "rejected"),
        ],
    )
    assert [item.id for item in found.benchmark.items] == ["q1", "q2", "q3"]
    assert found.benchmark.by_id["q1"].valid_answers == ("Reuss",)
    assert (found.excluded, found.corrected, found.rejected) == (
        {"q0": "excluded-ambiguous"},
        ("q1",),
        ("q2",),
    )
    assert BENCHMARK.by_id["q1"].valid_answers == ("Rhine", "it")


def test_an_upheld_doubt_without_a_right_answer_takes_the_item_out() -> None:
    assert layered(BENCHMARK, [decided(ITEMS[3], "upheld")]).excluded == {"q3": "upheld"}


def test_the_last_word_counts_and_can_be_taken_back() -> None:
    item = ITEMS[0]
    decisions = [decided(item, "upheld"), decided(item, "rejected")]
    assert in_force(decisions)["q0"].outcome == "rejected"
    assert in_force([*decisions, decided(item, "withdrawn")]) == {}


def test_a_decision_about_another_label_or_item_is_named_and_not_applied() -> None:
    changed = ITEMS[0].model_copy(update={"answer": "Emme"})
    gone = ITEMS[1].model_copy(update={"id": "q99"})
    found = layered(BENCHMARK, [decided(changed, "excluded-ambiguous"), decided(gone, "upheld")])
    assert (found.stale, found.unknown, found.excluded) == (("q0",), ("q99",), {})
    assert found.benchmark.items == BENCHMARK.items


def test_no_item_left_is_an_error() -> None:
    with pytest.raises(UsageError, match="leave no item"):
        layered(BENCHMARK, [decided(item, "upheld") for item in ITEMS])


def test_the_file_only_grows_and_survives_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "adjudications.jsonl"
    one, two = decided(ITEMS[0], "upheld"), decided(ITEMS[1], "rejected", reading="Rhône")
    add_adjudication(path, one)
    before = path.read_bytes()
    add_adjudication(path, two)
    assert path.read_bytes().startswith(before)
    assert read_adjudications(path) == (one, two)
    with path.open("ab") as file:
        file.write(b'{"item": "q2", "outc')
    assert read_adjudications(path) == (one, two)
    add_adjudication(path, two)
    assert read_adjudications(path) == (one, two, two)
    assert path.read_bytes().count(b"\n") == 3
    path.write_bytes(b'{"item": "q2", "outc\n' + before)
    with pytest.raises(UsageError, match=rf"{path}:1: is no JSON object"):
        read_adjudications(path)


def test_a_pipe_in_the_place_of_the_decisions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adjudications.jsonl"
    os.mkfifo(path)
    with pytest.raises(UsageError, match="is no file, so it holds no decisions"):
        read_adjudications(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "q1"}', "outcome is missing"),
        ('{"item": "q1", "outcome": "maybe"}', "outcome must be 'upheld', 'rejected'"),
        ("[]", "must be keys and values"),
        ("\udcff", "is no JSON object"),
    ],
)
def test_what_is_no_decision_is_one_line_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "adjudications.jsonl"
    add_adjudication(path, decided(ITEMS[0], "upheld"))
    with path.open("ab") as file:
        file.write(line.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(UsageError) as told:
        read_adjudications(path)
    assert said in str(told.value) and str(told.value).startswith(f"{path}:2: ")
    assert "\n" not in str(told.value)


def test_a_correction_belongs_to_a_doubt_that_was_right_and_a_day_is_a_day() -> None:
    with pytest.raises(ValueError, match="corrected goes with outcome upheld alone"):
        decided(ITEMS[0], "rejected", corrected="Aare")
    with pytest.raises(ValueError, match="date"):
        decided(ITEMS[0], "rejected", date="yesterday")
