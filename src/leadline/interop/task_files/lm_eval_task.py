"""The data and the scoring of a task of lm-evaluation-harness that Leadline exported."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets

HERE = Path(__file__).parent


def documents(**_: Any) -> dict[str, Any]:
    """The items; `leadline` is the item itself, as JSON text."""
    with (HERE / "data.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}


def process_results(doc: dict[str, Any], results: list[Any]) -> dict[str, float]:
    """Whether the first answer is right."""
    said = results[0][0] if isinstance(results[0], list) else results[0]
    return {"correct": float(_scoring().is_right(json.loads(doc["leadline"]), said))}


def _scoring() -> ModuleType:
    place = importlib.util.spec_from_file_location("scoring", HERE / "scoring.py")
    assert place is not None and place.loader is not None
    scoring = importlib.util.module_from_spec(place)
    place.loader.exec_module(scoring)
    return scoring
