"""Real recorded answers as tables: one task of a public release, 4 items × 12 configurations × 20 answers.

They are not part of the project; tests that need them are skipped where they are not next to it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

TASK = "liquidation_waterfall_payout"
LEAF = Path(__file__).parents[3] / "shared" / "data" / "probity" / "release-sample" / "leaves" / TASK
HERE = pytest.mark.skipif(
    not LEAF.is_dir(), reason="the sample of a public release is not next to the repository"
)
Line = dict[str, Any]


def lines() -> list[Line]:
    """The answers: item, configuration, run, value ("" where there is none) and error."""
    found = []
    for path in sorted(LEAF.glob("runs_*.jsonl")):
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            value = (line["normalized"] or {}).get(TASK)
            found.append(
                {
                    "item": line["item_id"],
                    "configuration": path.stem.removeprefix("runs_"),
                    "run": line["run_idx"],
                    "value": "" if value is None else str(value),
                    "error": "" if value is not None else line.get("error") or "no value",
                }
            )
    return found


def write_benchmark(folder: Path) -> Path:
    """The four items, as a benchmark of numbers."""
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text('name: payouts\nversion: "1"\n', "utf-8")
    items = [
        {
            "id": item["id"],
            "question": "What is paid out for each share?",
            "answer": str(item[TASK]),
            "answer_type": "number",
            "task": TASK,
        }
        for item in map(json.loads, (LEAF / "oracle.jsonl").read_text("utf-8").splitlines())
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return folder


def write_csv(path: Path, rows: Sequence[Line], names: Sequence[str] = ()) -> Path:
    """The rows as a spreadsheet writes them."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path
