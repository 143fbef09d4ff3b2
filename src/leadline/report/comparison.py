"""Two configurations side by side as plain values: the flipped items with what either side said, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.lenses.side_by_side import FIRST, SECOND
from leadline.study.comparing import Compared, Comparison


@dataclass(frozen=True)
class Said:
    """What one side says of an item: the verdict's value, the raw text behind it, its votes, why no value."""

    value: str | None
    text: str
    votes: int
    asked: int
    state: str


@dataclass(frozen=True)
class Flip:
    """An item that one side alone gets right: `gained` where it is the second."""

    item: str
    question: str
    golds: tuple[str, ...]
    gained: bool
    first: Said
    second: Said


def flips(comparison: Comparison) -> Iterator[Flip]:
    """The items that flipped, those that the second side gained first, in the benchmark's order."""
    flipped = comparison.beside.flips
    moved = dict(flipped.select("item", "ym").iter_rows())
    said = [
        _said(comparison, name, side, list(moved))
        for name, side in ((FIRST, comparison.first), (SECOND, comparison.second))
    ]
    order = [item for item in comparison.items if item in moved]
    for gained in (True, False):
        for name in order:
            if moved[name] is gained:
                item = comparison.items[name]
                yield Flip(name, item.question, item.valid_answers, gained, said[0][name], said[1][name])


def as_json(comparison: Comparison, listed: int | None = None) -> dict[str, Any]:
    """Everything as JSON values; of the flips `listed` each way, or all."""
    beside = comparison.beside
    sides = {
        name: {
            "study": str(side.place),
            "model": side.member.model,
            "configuration": side.member.name,
            "label": label,
            "id": side.member.id,
            "votes_over": side.vote,
            "figures": {key: one.model_dump() for key, one in beside.wobbles.get(name, {}).items()},
        }
        for name, side, label in zip(
            (FIRST, SECOND), (comparison.first, comparison.second), comparison.labels, strict=True
        )
    }
    found = list(flips(comparison))
    shown = [one for gained in (True, False) for one in [f for f in found if f.gained is gained][:listed]]
    return {
        **sides,
        "items": beside.pairs.height,
        "both_right": beside.moved.d1 - beside.moved.broken,
        "both_wrong": beside.moved.d0 - beside.moved.recovered,
        "gained": beside.moved.recovered,
        "lost": beside.moved.broken,
        "figures": {key: one.model_dump() for key, one in beside.figures.items()},
        "claim": beside.claim.model_dump(mode="json"),
        "left_out": list(comparison.left_out),
        "notes": list(beside.notes),
        "flips": [
            {
                "item": one.item,
                "question": one.question,
                "answers": list(one.golds),
                "right": SECOND if one.gained else FIRST,
                FIRST: vars(one.first),
                SECOND: vars(one.second),
            }
            for one in shown
        ],
    }


def _said(comparison: Comparison, name: str, side: Compared, items: list[str]) -> dict[str, Said]:
    verdicts = comparison.beside.verdicts.filter(
        (pl.col("configuration") == name) & pl.col("item").is_in(items)
    )
    raw = (
        side.readings.filter(pl.col("item").is_in(items) & (pl.col("sample") < side.vote))
        .sort("item", "sample")
        .select("item", "value", "state", "text")
    )
    texts: dict[tuple[str, str | None], str] = {}
    first: dict[str, str] = {}
    for item, value, state, text in raw.iter_rows():
        if state != "error":
            texts.setdefault((item, value), text or "")
            first.setdefault(item, text or "")
    return {
        item: Said(value, texts.get((item, value), first.get(item, "")), votes, asked, state)
        for item, value, votes, asked, state in verdicts.select(
            "item", "value", "votes", "asked", "state"
        ).iter_rows()
    }
