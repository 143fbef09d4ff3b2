"""The frame of readings is what reading each answer by itself gives, however many there are of them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from leadline.answers import read_answer
from leadline.answers.classes import classes
from leadline.lenses.frame import READINGS
from leadline.study.readings import readings
from leadline.study.recording import RecordedAnswer, record
from leadline.study.store import open_store
from leadline.study.study import open_study

ITEMS = [
    {"id": "share", "question": "What share?", "answer": "0.909", "answer_type": "number", "task": "t"},
    {"id": "price", "question": "Which price?", "answer": "1.5", "answer_type": "number", "precision": 0.1},
    {"id": "count", "question": "How many?", "answer": "12", "answer_type": "number", "category": "c"},
    {"id": "city", "question": "Which city?", "answer": "Paris"},
    {"id": "listed", "question": "Is it listed?", "answer": "yes", "answer_type": "boolean"},
    {
        "id": "terms",
        "question": "Which terms?",
        "answer": '{"rate": "0.05", "years": "10"}',
        "answer_type": "parts",
        "fields": [{"name": "rate", "answer_type": "number"}, {"name": "years", "answer_type": "number"}],
    },
]
TEXTS = {
    "share": ["0.909", "0.9090909", "0.90909", "0.91", "90.9%", "I do not know.", "", "0.5", "about 0.909"],
    "price": ["1.5", "1.49", "$1.54", "1.56", "1.50", "2", "one and a half"],
    "count": ["12", "12.0", "twelve", "13", "12 to 14", "1,2"],
    "city": ["Paris", "paris.", "Rome", "", "It is Paris or Rome", "I cannot say"],
    "listed": ["yes", "No.", "true", "perhaps"],
    "terms": [
        '{"rate": 0.05, "years": 10}',
        '{"rate": "0.050", "years": 10}',
        '{"rate": 0.0501, "years": 10}',
        '{"years": 10}',
    ],
}
Cells = dict[tuple[str, str], list[str | None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS), "utf-8")
    (tmp_path / "study.yaml").write_text("name: read\nbenchmark: items.jsonl\n", "utf-8")
    return tmp_path


def said(seed: int) -> Cells:
    """Texts of three configurations; None is a call that failed."""
    rng = random.Random(seed)
    return {
        (name, item): [None if rng.random() < 0.1 else rng.choice(texts) for _ in range(rng.randint(1, 9))]
        for name in ("x", "y", "z")
        for item, texts in TEXTS.items()
        if not (name == "z" and item == "share")
    }


def put(folder: Path, cells: Cells, seed: int = 0) -> pl.DataFrame:
    """Record the cells in some order and read them."""
    answers: dict[str, list[RecordedAnswer]] = defaultdict(list)
    for (name, item), texts in cells.items():
        answers[name] += [RecordedAnswer(item, sample, text, "error") for sample, text in enumerate(texts)]
    for name, its in answers.items():
        random.Random(seed).shuffle(its)
        record(folder, "m", name, {}, its)
    with open_store(folder, write=False) as store:
        return readings(open_study(folder), store).sort("configuration", "item", "sample")


@pytest.mark.parametrize("seed", range(12))
def test_every_answer_is_read_as_if_it_were_the_only_study_of_its_cell(folder: Path, seed: int) -> None:
    cells = said(seed)
    frame = put(folder, cells, seed)
    assert frame.schema == READINGS
    assert frame.height == sum(map(len, cells.values()))
    items = open_study(folder).benchmark.by_id
    for (name, identity), texts in cells.items():
        item = items[identity]
        rows = frame.filter((pl.col("configuration") == name) & (pl.col("item") == identity)).to_dicts()
        assert [row["text"] for row in rows] == [text or "" for text in texts]
        read = [None if text is None else read_answer(item, text) for text in texts]
        assert [row["state"] for row in rows] == [one.state.value if one else "error" for one in read]
        assert [row["correct"] for row in rows] == [bool(one and one.correct) for one in read]
        assert [row["correct_strict"] for row in rows] == [bool(one and one.correct_strict) for one in read]
        answered = [(row, one) for row, one in zip(rows, read, strict=True) if one and one.value is not None]
        found = classes(item, [one for _, one in answered])
        is_number = item.answer_type in ("number", "parts")
        own = "declared" if item.precision is not None else "rounding"
        assert [row["value"] for row, _ in answered] == found[own]
        for rule in ("exact", "declared", "rounding"):
            here = is_number and (rule != "declared" or item.precision is not None)
            expected = found[rule] if here else [None] * len(answered)
            assert [row[f"value_{rule}"] for row, _ in answered] == expected
        assert not any(row["value"] for row in rows if row["state"] != "ok")


@pytest.mark.parametrize("seed", range(6))
def test_shared_values_are_the_classes_over_all_configurations(folder: Path, seed: int) -> None:
    cells = said(seed)
    frame = put(folder, cells, seed)
    items = open_study(folder).benchmark.by_id
    for identity, item in items.items():
        rows = frame.filter((pl.col("item") == identity) & (pl.col("state") == "ok"))
        if item.answer_type not in ("number", "parts"):
            assert rows["value_shared"].null_count() == rows.height
            continue
        own = "declared" if item.precision is not None else "rounding"
        # In order of configuration and sample, as equal frequencies are decided.
        assert (
            rows["value_shared"].to_list() == classes(item, [read_answer(item, t) for t in rows["text"]])[own]
        )


def test_of_an_item_that_one_configuration_answered_the_shared_value_is_its_value(folder: Path) -> None:
    frame = put(folder, {("x", "share"): ["0.909", "0.9090909", "0.5", "0.51"], ("y", "count"): ["12"]})
    assert frame["value_shared"].to_list() == frame["value"].to_list()
    assert frame["value"].null_count() == 0


def test_an_answer_to_another_wording_or_to_no_item_of_the_study_does_not_count(folder: Path) -> None:
    put(folder, {("x", "share"): ["0.909"], ("x", "city"): ["Paris"], ("x", "count"): ["12"]})
    items = [{**item, "question": "Which town?"} if item["id"] == "city" else item for item in ITEMS]
    lines = [json.dumps(item) + "\n" for item in items if item["id"] != "count"]
    (folder / "items.jsonl").write_text("".join(lines), "utf-8")
    with open_store(folder, write=False) as store:
        assert readings(open_study(folder), store)["item"].to_list() == ["share"]
