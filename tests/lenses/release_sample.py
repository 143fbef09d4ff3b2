"""Real answers of twelve configurations to four items: a task of a public release, if it is there."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.answers import Reading, failed, read_answer
from leadline.answers.classes import classes
from leadline.bench import Item
from leadline.lenses.frame import readings_frame

LEAVES = Path(__file__).parents[2].parent / "shared" / "data" / "probity" / "release-sample" / "leaves"
TASK = "liquidation_waterfall_payout"

needs_release = pytest.mark.skipif(
    not LEAVES.is_dir(), reason="the real answers are not next to the repository (../shared/data/probity)"
)


@cache
def release_frame(published: bool = False) -> pl.DataFrame:
    """The readings of all answers, read and compared as those of a study are.

    `published`: right is what is the gold answer's floating-point number, as in the publication.
    """
    folder = LEAVES / TASK
    items, gold = {}, {}
    for line in (folder / "oracle.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        name, gold[name] = entry["id"], float(entry[TASK])
        items[name] = Item(
            id=name, question="?", answer=json.dumps(entry[TASK]), answer_type="number", task=TASK
        )
    cells: dict[tuple[str, str], list[tuple[dict[str, Any], Reading]]] = defaultdict(list)
    for file in sorted(folder.glob("runs_*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            entry = json.loads(line)
            text = json.dumps(entry["parsed"]) if entry["normalized"] else ""
            reading = read_answer(items[entry["item_id"]], text) if text else failed("unparsed")
            row = {
                "model": file.stem.removeprefix("runs_"),
                "configuration": "tau-0.7",
                "item": entry["item_id"],
                "category": "exit",
                "task": TASK,
                "answer_type": "number",
                "sample": entry["run_idx"],
                "state": reading.state.value,
                "text": text,
                "value": reading.value,
                "correct": float(reading.value) == gold[entry["item_id"]]
                if published and reading.value
                else reading.correct,
            }
            cells[row["model"], row["item"]].append((row, reading))
    everyone: dict[str, list[tuple[dict[str, Any], Reading]]] = defaultdict(list)
    for (_, item), cell in cells.items():
        found = classes(items[item], [reading for _, reading in cell])
        for at, (row, reading) in enumerate(cell):
            row |= {"value_exact": found["exact"][at], "value_rounding": found["rounding"][at]}
            row["value"] = found["rounding"][at]
            everyone[item].append((row, reading))
    for item, cell in everyone.items():
        shared = classes(items[item], [reading for _, reading in cell])["rounding"]
        for (row, _), value in zip(cell, shared, strict=True):
            row["value_shared"] = value
    return readings_frame([row for cell in everyone.values() for row, _ in cell])
