"""Real provenance cases as a benchmark folder: windows, quotes and labels of SEC filings, and seven sources.

They are not part of the project; tests that need them say so when they are not next to the repository.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "probity"
Case = dict[str, Any]


def cases() -> dict[str, Case]:
    """The cases by item id."""
    lines = (FOLDER / "items.jsonl").read_text(encoding="utf-8").splitlines()
    return {f"{case['task']}/{case['item']}": case for case in map(json.loads, lines)}


def write(folder: Path, pointer: Callable[[Case], str], *, documents: dict[str, str] | None = None) -> Path:
    """Write the benchmark; `pointer` says where an item's source is declared to be.

    `documents` are further sources, by name.
    """
    found = cases()
    vocabularies: dict[str, set[str]] = {}
    for case in found.values():
        if case["answer_type"] == "enum":
            vocabularies.setdefault(case["task"], set()).add(case["label"])
    lines = [_line(name, case, pointer(case), vocabularies) for name, case in found.items()]
    shutil.copytree(FOLDER / "sources", folder / "sources")
    for name, text in (documents or {}).items():
        (folder / "sources" / name).write_text(text, encoding="utf-8")
    (folder / "benchmark.yaml").write_text('name: real-cases\nversion: "1"\n', encoding="utf-8")
    (folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def _line(name: str, case: Case, pointer: str, vocabularies: dict[str, set[str]]) -> str:
    label = case["label"]
    item = {
        "id": name,
        "task": case["task"],
        "question": case["question"],
        "answer": label if isinstance(label, str) else json.dumps(label),
        "answer_type": case["answer_type"],
        "window": case["window"],
        "evidence": [{"quote": case["quote"]}],
        "source": pointer,
    }
    if case["answer_type"] == "enum":
        item["vocabulary"] = [{"value": value} for value in sorted(vocabularies[case["task"]])]
    return json.dumps(item, ensure_ascii=False) + "\n"
