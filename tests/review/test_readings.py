"""Readings: committed once, for ever, whoever writes at the same time and however the process ends."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from leadline.bench.adjudications import label_hash
from leadline.bench.item import Item
from leadline.errors import UsageError
from leadline.review.decision_file import DecisionFile
from leadline.review.order import recorded_seed, shuffled, token
from leadline.review.readings import FILE, Readings

ITEM = Item(id="a", question="Who?", answer="Quibbleforth")
LABEL = label_hash(ITEM)


def test_the_first_reading_of_a_reader_counts_and_later_ones_are_notes(tmp_path: Path) -> None:
    kept = Readings(tmp_path / "made" / FILE)
    first = kept.add("a", LABEL, "Ann", "Zanthoxa")
    again = kept.add("a", LABEL, "Ann", "Quibbleforth")
    assert again == first and kept.of("a", LABEL, "Ann") == first
    assert [(one.kind, one.answer) for one in kept.all()] == [
        ("reading", "Zanthoxa"),
        ("note", "Quibbleforth"),
    ]


def test_the_same_reading_sent_twice_is_written_once(tmp_path: Path) -> None:
    kept = Readings(tmp_path / FILE)
    assert kept.add("a", LABEL, "Ann", "x") == kept.add("a", LABEL, " ann ", "x")
    assert len((tmp_path / FILE).read_text("utf-8").splitlines()) == 1


def test_a_note_sent_twice_is_written_once(tmp_path: Path) -> None:
    kept = Readings(tmp_path / FILE)
    first = kept.add("a", LABEL, "Ann", "x")
    assert [kept.add("a", LABEL, "Ann", "y") for _ in range(2)] == [first, first]
    assert [one.answer for one in kept.all()] == ["x", "y"]


def test_a_reading_is_one_readers_alone(tmp_path: Path) -> None:
    kept = Readings(tmp_path / FILE)
    kept.add("a", LABEL, "Ann", "x")
    assert kept.of("a", LABEL, "Bob") is None
    assert kept.of("a", LABEL, "ANN") is not None


def test_after_a_change_of_the_label_the_item_has_not_been_read(tmp_path: Path) -> None:
    kept = Readings(tmp_path / FILE)
    kept.add("a", LABEL, "Ann", "x")
    changed = label_hash(ITEM.model_copy(update={"answer": "Zanthoxa"}))
    assert kept.of("a", changed, "Ann") is None


def test_another_process_sees_what_was_added(tmp_path: Path) -> None:
    one, other = Readings(tmp_path / FILE), Readings(tmp_path / FILE)
    assert other.of("a", LABEL, "Ann") is None
    one.add("a", LABEL, "Ann", unsettled=True)
    found = other.of("a", LABEL, "Ann")
    assert found is not None and found.in_words == "cannot be settled"


def test_a_line_that_a_sudden_end_left_half_written_costs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Readings(path).add("a", LABEL, "Ann", "x")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert [one.answer for one in Readings(path).all()] == ["x"]
    Readings(path).add("b", LABEL, "Ann", "y")
    assert [one.answer for one in Readings(path).all()] == ["x", "y"]


def test_a_whole_line_without_its_end_stays(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Readings(path).add("a", LABEL, "Ann", "x")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    Readings(path).add("b", LABEL, "Ann", "y")
    assert [one.answer for one in Readings(path).all()] == ["x", "y"]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Readings(path).add("a", LABEL, "Ann", "x")
    path.write_bytes(b'{"item": "a"}\n' + path.read_bytes())
    with pytest.raises(UsageError, match=rf"{FILE}:1: is no reading \(label\)"):
        Readings(path).all()


def test_answers_of_any_characters_come_back_as_they_are(tmp_path: Path) -> None:
    answer = 'a\nb "c" \x1b[2J \u202e 😀'
    Readings(tmp_path / FILE).add("a", LABEL, "Ana María", answer)
    (found,) = Readings(tmp_path / FILE).all()
    assert found.answer == answer and found.reader == "Ana María"
    (line,) = (tmp_path / FILE).read_text("utf-8").splitlines()
    assert "\x1b" not in line, "a terminal that prints the file is not commanded by it"


def _add(path: Path, who: str, number: int) -> None:
    for at in range(number):
        Readings(path).add(f"item-{at}", LABEL, who, f"{who} {at}")


def test_four_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / FILE
    spawn = multiprocessing.get_context("fork")
    running = [spawn.Process(target=_add, args=(path, f"reader {n}", 10)) for n in range(4)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == 40 == len({(line["item"], line["reader"]) for line in lines})


def test_the_order_is_recorded_and_tells_nothing(tmp_path: Path) -> None:
    items = [f"label-{n}" for n in range(20)] + [f"audit-{n}" for n in range(20)]
    seed = recorded_seed(tmp_path)
    assert recorded_seed(tmp_path) == seed, "after a restart everything stands where it stood"
    order = shuffled(items, seed)
    assert sorted(order) == sorted(items) and order != items
    kinds = [one.partition("-")[0] for one in order]
    assert len({tuple(kinds[:20]), ("label",) * 20, ("audit",) * 20}) == 3, "kinds do not stand together"
    fewer = shuffled(items[1:], seed)
    assert fewer == [one for one in order if one != items[0]], "another flag moves none of the others"
    tokens = {token(one, LABEL, seed) for one in items}
    assert len(tokens) == 40 and not any(one in name for one in items for name in tokens)
    assert {token(one, LABEL, recorded_seed(tmp_path / "other")) for one in items}.isdisjoint(tokens)


def test_a_damaged_seed_is_not_drawn_anew_in_silence(tmp_path: Path) -> None:
    recorded_seed(tmp_path)
    (tmp_path / "order.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match="holds no seed"):
        recorded_seed(tmp_path)


def test_decisions_are_read_again_when_somebody_wrote_one(tmp_path: Path) -> None:
    path = tmp_path / "adjudications.jsonl"
    kept = DecisionFile(path)
    assert kept.standing(ITEM) is None
    decision = {
        "item": "a",
        "outcome": "rejected",
        "reader": "Ann",
        "date": "2026-01-02",
        "reason": "clear",
        "label": LABEL,
    }
    path.write_text(json.dumps(decision) + "\n", "utf-8")
    found = kept.standing(ITEM)
    assert found is not None and found.outcome == "rejected"
    changed = ITEM.model_copy(update={"question": "Whom?"})
    assert kept.standing(changed) is None and len(kept.on(changed)) == 1, "stale: told, not in force"
