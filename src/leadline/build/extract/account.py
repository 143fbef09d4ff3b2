"""What came of reading the passages, in words: what was cut, failed, not recorded, or no triplet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PASSAGES = {
    "unrecorded": "not recorded",
    "other-text": "recorded with another text than the page has",
    "truncated": "too long for the model, and cut",
    "failed": "without an answer",
}


def told(counts: Mapping[str, Any]) -> list[str]:
    """Lines on what was not as it should be; [] where nothing was.

    >>> told({"passages": {"read": 3, "unrecorded": 2}, "malformed": {"cut": 1}})
    ['extract: of 3 passages, 2 are not recorded', 'extract: malformed output: cut 1']
    """
    passages = dict(counts.get("passages", {}))
    read = passages.pop("read", 0)
    lines = []
    if passages:
        named = [f"{number:,} are {_PASSAGES.get(name, name)}" for name, number in passages.items()]
        lines.append(f"extract: of {read:,} passages, {', '.join(named)}")
    if malformed := counts.get("malformed"):
        kinds = sorted(malformed.items(), key=lambda one: (-one[1], one[0]))
        lines.append(
            "extract: malformed output: " + ", ".join(f"{name} {number:,}" for name, number in kinds)
        )
    return lines


def why_nothing(counts: Mapping[str, Any], method: str) -> str:
    """One line on why no fact came out of the articles.

    >>> why_nothing({"kept": 0, "passages": {"read": 12, "other-text": 12}}, "recorded")
    'no fact was extracted: of 12 passages, 12 are recorded with another text than the page has'
    """
    passages, dropped = counts.get("passages", {}), counts.get("dropped", {})
    if not passages.get("read"):
        return "no fact was extracted: there was no article to read"
    reasons = [line.removeprefix("extract: ") for line in told(counts)]
    if dropped:
        reasons.append("dropped: " + ", ".join(f"{name} {number:,}" for name, number in dropped.items()))
    if not reasons:
        reasons.append(
            "no page and link of it are related in Wikidata as far as link and wikidata know them"
            if method == "distant"
            else f"the output for {passages['read']:,} passages holds no triplet"
        )
    return "no fact was extracted: " + "; ".join(reasons)
