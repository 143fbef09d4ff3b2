"""Benchmark folders as users write them."""

from __future__ import annotations

import json
from pathlib import Path

HEADER = 'name: tiny\nversion: "1.0"\ntitle: Tiny\nkind: general\n'
FACTS_HEADER = 'name: tiny\nversion: "1.0"\nkind: facts\ncategory_name: domain\ntask_name: relation\n'


def fact(identity: str, **changes: object) -> dict[str, object]:
    """A sound fact; `changes` replace fields, None removes one."""
    entry: dict[str, object] = {
        "id": identity,
        "subject": f"Land {identity}",
        "relation": "capital",
        "domain": "geography",
        "question": f"What is the capital of Land {identity}?",
        "answer": "Paris",
        "aliases": ["City of Light"],
    }
    entry.update(changes)
    return {key: value for key, value in entry.items() if value is not None}


def folder(path: Path, items: list[dict[str, object]] | bytes, header: str = HEADER) -> Path:
    """Write a benchmark folder at `path`."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "benchmark.yaml").write_text(header, encoding="utf-8")
    data = items if isinstance(items, bytes) else "".join(json.dumps(item) + "\n" for item in items).encode()
    (path / "items.jsonl").write_bytes(data)
    return path
