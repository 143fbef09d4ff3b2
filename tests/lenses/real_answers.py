"""The answers of twelve configurations to one task of a public artefact, as readings; none where not at hand.

Read from ../shared next to the repository. The texts are what was parsed of each answer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

from leadline.answers import Reading, read_answer
from leadline.answers.classes import classes
from leadline.bench import Item
from leadline.lenses.frame import readings_frame

_LEAVES = Path(__file__).parents[2].parent / "shared" / "data" / "probity" / "release-sample" / "leaves"
TASKS = sorted(_LEAVES.glob("*"))
REASON = "the real answers are not next to the repository (../shared/data/probity)"


def real_frame() -> pl.DataFrame:
    """4 items × 12 configurations × 20 answers; an answer that could not be read has no value."""
    rows: list[dict[str, Any]] = []
    for task in TASKS:
        items = {}
        for line in (task / "oracle.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(line)
            items[entry["id"]] = Item(
                id=entry["id"],
                question="?",
                answer=json.dumps(entry[task.name]),
                answer_type="number",
                task=task.name,
                category="exit waterfall",
            )
        for file in sorted(task.glob("runs_*.jsonl")):
            rows += _rows(file, items)
    return readings_frame(rows)


def _rows(file: Path, items: dict[str, Item]) -> list[dict[str, Any]]:
    cells: dict[str, list[tuple[int, Reading]]] = defaultdict(list)
    rows = []
    for line in file.read_text("utf-8").splitlines():
        entry = json.loads(line)
        item = items[entry["item_id"]]
        if entry["normalized"]:
            cells[item.id].append((entry["run_idx"], read_answer(item, json.dumps(entry["parsed"]))))
        else:
            rows.append(_row(file, item, entry["run_idx"]))
    for name, answers in cells.items():
        found = classes(items[name], [reading for _, reading in answers])
        for at, (run, reading) in enumerate(answers):
            row = _row(file, items[name], run)
            row.update(state="ok", value=found["rounding"][at], correct=reading.correct)
            row.update(value_exact=found["exact"][at], value_rounding=found["rounding"][at])
            rows.append(row)
    return rows


def _row(file: Path, item: Item, run: int) -> dict[str, Any]:
    return {
        "model": file.stem.removeprefix("runs_"),
        "configuration": "published",
        "item": item.id,
        "category": item.category,
        "task": item.task,
        "answer_type": "number",
        "sample": run,
        "state": "unreadable",
        "text": "",
        "value": None,
        "correct": False,
        "correct_strict": False,
        "leads": True,
    }
