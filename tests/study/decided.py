"""A small study of recorded answers whose labels people decided on: every count can be checked on paper.

Two configurations answer eight questions three times. What was decided of each stands in `decisions`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leadline.bench import Item
from leadline.bench.adjudications import Adjudication, add_adjudication, label_hash
from leadline.study.recording import RecordedAnswer, record
from tests.study.small import write_config, write_items

# Item: its label, and what the two configurations answer.
ANSWERS = {
    "q1": ("Bonn", "Berlin Berlin Berlin", "Berlin Berlin Bonn-am-Rhein"),
    "q2": ("Rome", "Rome Rome Rome", "Rome Rome Milan"),
    "q3": ("Oslo", "Bergen Bergen Bergen", "Bergen Oslo Bergen"),
    "q4": ("Paris", "Lyon Lyon Paris", "Lyon Lyon Lyon"),
    "q5": ("Madrid", "Seville Seville Seville", "Seville Seville Seville"),
    "q6": ("Vienna", "Graz Graz Graz", "Graz Graz Graz"),
    "q7": ("Prague", "Prague Prague Prague", "Brno Prague Prague"),
    "q8": ("Athens", "Athens Sparta Athens", "Athens Athens Athens"),
}
NAMES = ("a", "b")


def items() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"id": name, "question": f"Which capital does question {name} mean?", "answer": label}
        for name, (label, _, _) in ANSWERS.items()
    ]
    found[0]["aliases"] = ["Bonn-am-Rhein"]
    return found


def decided(entry: dict[str, Any], outcome: str, **more: Any) -> Adjudication:
    """A decision on an item as it is here."""
    said = {"reader": "R. Eader", "date": "2026-03-01", "reason": "as the text says"}
    label = label_hash(Item.model_validate(entry))
    return Adjudication.model_validate(
        {"item": entry["id"], "outcome": outcome, "label": label, **said, **more}
    )


def decisions() -> list[Adjudication]:
    """Each outcome once; q6 is withdrawn again, q7 was worded otherwise, q99 is of another benchmark, and
    on q2 and q8 nobody decided anything."""
    entries = {entry["id"]: entry for entry in items()}
    reworded = {**entries["q7"], "question": "Which capital did question q7 mean?"}
    return [
        decided(entries["q1"], "upheld", corrected="Berlin"),
        decided(entries["q3"], "upheld"),
        decided(entries["q4"], "excluded-ambiguous"),
        decided(entries["q5"], "rejected"),
        decided(entries["q6"], "upheld", corrected="Graz"),
        decided(entries["q6"], "withdrawn"),
        decided(reworded, "upheld", corrected="Brno"),
        decided({"id": "q99", "question": "Where?", "answer": "here"}, "upheld"),
    ]


def write_decisions(path: Path, chosen: list[Adjudication]) -> Path:
    path.unlink(missing_ok=True)
    path.touch()
    for one in chosen:
        add_adjudication(path, one)
    return path


def decided_study(folder: Path, **changes: Any) -> Path:
    """The study with its answers; its benchmark is bench/, beside which nothing is decided yet."""
    bench = folder / "bench"
    bench.mkdir(parents=True)
    (bench / "benchmark.yaml").write_text('name: capitals\nversion: "1"\n', "utf-8")
    write_items(bench / "items.jsonl", items())
    write_config(folder, {"name": "decided", "benchmark": "bench", **changes})
    for place, name in enumerate(NAMES):
        answers = [
            RecordedAnswer(item, sample, text)
            for item, told in ANSWERS.items()
            for sample, text in enumerate(told[1 + place].split())
        ]
        record(folder, "m", name, {}, answers)
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
