"""What a benchmark holds, in figures: for people who look at it before they use it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item


def overview(benchmark: Benchmark) -> dict[str, Any]:
    """What its header says, how many items of what kind it holds, and its content hash."""
    types = Counter(item.answer_type for item in benchmark.items)
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "title": benchmark.title,
        "description": benchmark.description,
        "kind": benchmark.kind,
        "licence": benchmark.licence,
        "items": len(benchmark.items),
        "categories": sum(name != "" for name in benchmark.categories),
        "tasks": len({item.task for item in benchmark.items if item.task}),
        "answer_types": dict(sorted(types.items())),
        "windows": sum(item.window is not None for item in benchmark.items),
        "evidence": sum(bool(item.evidence) for item in benchmark.items),
        "sources": len({pointer for item in benchmark.items for pointer in pointers(item)}),
        "content_hash": benchmark.content_hash,
    }


def groups(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The tasks of each category: how many items, and how their answers are read."""
    found: dict[tuple[str, str], list[Item]] = {}
    for item in benchmark.items:
        found.setdefault((item.category, item.task), []).append(item)
    return [
        {
            "category": category,
            "task": task,
            "items": len(items),
            "answer_types": dict(sorted(Counter(item.answer_type for item in items).items())),
            "read_by": sorted({form for item in items if (form := _form(item))}),
        }
        for (category, task), items in sorted(found.items())
    ]


def pointers(item: Item) -> set[str]:
    """Where the evidence of an item comes from: names of sources and URLs."""
    named = {piece.source or item.source for piece in item.evidence} | {item.source}
    return named - {""}


def _form(item: Item) -> str:
    """What is declared about an answer, in a few words."""
    said = [item.unit, f"to {item.precision}" if item.precision is not None else None]
    said += [f"{len(item.vocabulary)} values" if item.vocabulary else None, item.locale, item.date_order]
    said += [", ".join(part.name for part in item.fields) or None]
    return " · ".join(word for word in said if word)
