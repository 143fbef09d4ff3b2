"""The questions and windows of the items that an audit has something to say about, and only of those."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.audit.document import AuditDocument, ItemVerdict

if TYPE_CHECKING:
    from leadline.bench.item import Item

# A page or a terminal holds this much of a window; around what was found in it, if that lies further down.
WINDOW_LIMIT = 20_000


@dataclass(frozen=True)
class ItemTexts:
    """What people need to see beside a verdict. `window` is None where the item has none."""

    question: str
    answer: str
    window: str | None
    quotes: tuple[str, ...] = ()


def remarkable(verdict: ItemVerdict) -> bool:
    """Whether an item is shown in full: it is flagged, or there is a remark for a person."""
    return verdict.flagged or bool(verdict.remarks)


def shown_in_full(document: AuditDocument, limit: int) -> list[ItemVerdict]:
    """The items to show in full, flagged ones first, each in order of the file, at most `limit`."""
    flagged = [verdict for verdict in document.items if verdict.flagged]
    remarked = [verdict for verdict in document.items if not verdict.flagged and verdict.remarks]
    return [*flagged, *remarked][:limit]


def collect_texts(items: Iterable[Item], wanted: Collection[str]) -> dict[str, ItemTexts]:
    """The texts of the items whose ids are `wanted`; `items` is gone through once, nothing else is kept."""
    found: dict[str, ItemTexts] = {}
    missing = set(wanted)
    for item in items:
        if item.id in missing:
            quotes = tuple(evidence.quote for evidence in item.evidence)
            found[item.id] = ItemTexts(item.question, item.answer, item.window, quotes)
            missing.discard(item.id)
            if not missing:
                break
    return found
