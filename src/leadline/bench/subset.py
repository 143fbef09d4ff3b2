"""Draws a part of a benchmark that looks like the whole, the same part every time."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from leadline.bench.item import Item


def draw(items: Iterable[Item], limit: int, seed: int) -> tuple[Item, ...]:
    """`limit` of the items (all, if there are fewer), proportional over categories and, in them, over tasks.

    Systematic sampling: the r-th of a stratum's n items, in the order of a hash of (seed, item id), stands at
    (r + u) / n with one hashed u per stratum; tasks are merged into their category that way, categories into
    the whole, and the first `limit` are taken. So the draw does not depend on the order of the file, and a
    larger limit adds items without exchanging any: a study that grows keeps the answers that it has.
    Returned sorted by id.
    """
    by_category: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        by_category[item.category][item.task].append(item)

    def share(*names: str) -> float:
        return _hash(seed, "stratum", *names) / 2**64

    categories = {}
    for category, tasks in by_category.items():
        ordered = {
            task: sorted(members, key=lambda item: (_hash(seed, "item", item.id), item.id))
            for task, members in tasks.items()
        }
        categories[category] = _spread(ordered, partial(share, category))
    return tuple(sorted(_spread(categories, share)[:limit], key=lambda item: item.id))


def _spread(strata: dict[str, list[Item]], offset: Callable[[str], float]) -> list[Item]:
    """One sequence of all strata, in every prefix of which each has about its share."""
    placed = [
        ((rank + offset(name)) / len(members), name, rank, item)
        for name, members in strata.items()
        for rank, item in enumerate(members)
    ]
    return [item for _, _, _, item in sorted(placed, key=lambda place: place[:3])]


def _hash(seed: int, *parts: str) -> int:
    text = "\0".join((str(seed), *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
