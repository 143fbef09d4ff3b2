"""Real answers of twelve configurations, with the values that were published for them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from leadline.answers import read_answer
from leadline.answers.classes import classes
from leadline.answers.dates import find_dates
from leadline.answers.numbers import find_numbers
from leadline.bench import Item

PROBITY = Path(__file__).parents[2].parent / "shared" / "data" / "probity"
TASKS = sorted((PROBITY / "release-sample" / "leaves").glob("*"))

pytestmark = pytest.mark.skipif(
    not TASKS, reason="the real answers are not next to the repository (../shared/data/probity)"
)


def items(task: Path) -> dict[str, Item]:
    found = {}
    for line in (task / "oracle.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        name, gold = entry["id"], json.dumps(entry[task.name])
        found[name] = Item(id=name, question="?", answer=gold, answer_type="number", task=task.name)
    return found


def answers(task: Path) -> list[tuple[str, str, str, float]]:
    """Configuration, item, the answer as its model gave it, and the published value."""
    found = []
    for file in sorted(task.glob("runs_*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["normalized"]:
                value = entry["normalized"][task.name]
                found.append((file.stem, entry["item_id"], json.dumps(entry["parsed"]), value))
    return found


def test_every_published_value_is_read_as_published() -> None:
    compared = 0
    for task in TASKS:
        known = items(task)
        for _, item, raw, value in answers(task):
            for text in (
                raw,
                f"```json\n{raw}\n```",
                f"So the payout is as follows.\n\n{raw}",
                f"{value!r}",
                f"${value}",
            ):
                reading = read_answer(known[item], text)
                assert reading.value is not None and float(reading.value) == value, (text, reading)
                compared += 1
    assert compared > 4000


def test_classes_under_the_published_rule_are_the_published_ones_and_rounding_joins_them() -> None:
    apart: dict[str, int] = defaultdict(int)
    for task in TASKS:
        cells: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
        for configuration, item, raw, value in answers(task):
            cells[configuration, item].append((raw, value))
        for (_, item), cell in cells.items():
            readings = [read_answer(items(task)[item], raw) for raw, _ in cell]
            found = classes(items(task)[item], readings)
            assert len(set(found["exact"])) == len({value for _, value in cell})
            apart["exact"] += len(set(found["exact"])) > 1
            apart["rounding"] += len(set(found["rounding"])) > 1
    assert 0 < apart["rounding"] < apart["exact"]


def test_gold_values_of_the_corpus_are_read_and_their_numbers_stand_in_their_quotes() -> None:
    read, stated = 0, 0
    for line in (PROBITY / "items.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        kind = entry["answer_type"]
        if kind not in ("number", "date"):
            continue
        item = Item(id="1", question=entry["question"], answer=str(entry["label"]), answer_type=kind)
        reading = read_answer(item, str(entry["label"]))
        assert reading.correct, entry["label"]
        read += 1
        if kind == "number":
            stated += any(str(number.value) == reading.number for number in find_numbers(entry["quote"]))
        else:
            stated += any(found.value == reading.value for found in find_dates(entry["quote"]))
    assert read > 40 and stated > 20


def test_windows_of_filings_hold_numbers_that_are_where_they_say() -> None:
    found = 0
    for line in (PROBITY / "items.jsonl").read_text(encoding="utf-8").splitlines():
        window = json.loads(line)["window"]
        for number in find_numbers(window):
            assert window[number.start : number.end] == number.text
            found += 1
    assert found > 500
