"""The answers themselves, arranged for browsing: every item with what each configuration said about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ItemText:
    """What was asked: the question and the answers that count as right, the canonical one first."""

    id: str
    question: str
    answers: tuple[str, ...]
    category: str = ""
    task: str = ""
