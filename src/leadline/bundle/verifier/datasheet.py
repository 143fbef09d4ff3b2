"""The datasheet of exclusions, both files of it, against the items and their readings."""

from __future__ import annotations

import re
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_json
from leadline.bundle.verifier.loading import Bundle

_MEANINGS = {
    "as annotated": "all items of the benchmark",
    "drawn": "chosen by the study's items, limit and seed",
    "audit": "left out by a verdict of the audit",
    "named": "left out by name in study.yaml",
    "unmeasured": "no configuration gave a readable answer",
}
_ROW = re.compile(r"^\| (.+?) \| (.+?) \| ([\d,]+) \| ([\d,]+) \|$")


def check_datasheet(bundle: Bundle, book: Book) -> None:
    """Each layer, as it was counted again: how many items stay, and which ones go."""
    told = read_json(bundle.folder, "DATASHEET_EXCLUSIONS.json", book) or {}
    own = _layers(bundle)
    found = [(one["layer"], one["meaning"], one["items"], one["left_out"]) for one in told.get("layers", ())]
    wanted = [(name, _MEANINGS[name], stay, gone) for name, stay, gone in own]
    if found != wanted:
        names = [one[0] for one, other in zip(wanted, found + [None] * len(wanted)) if one != other]
        book.fault(
            "exclusion", f"DATASHEET_EXCLUSIONS.json: not as counted again: {', '.join(names) or 'a layer'}"
        )
    try:
        text = (bundle.folder / "DATASHEET_EXCLUSIONS.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        book.fault("structure", "DATASHEET_EXCLUSIONS.md is missing or no text")
        return
    rows = [match.groups() for line in text.splitlines() if (match := _ROW.match(line))]
    shown = [(name, _MEANINGS[name], f"{stay:,}", f"{len(gone):,}") for name, stay, gone in own]
    listed = [line for line in text.splitlines() if line.startswith("- `")]
    reasons = bundle.manifest["bundle"]["excluded"]
    lines = [_line(item, reasons) for name, _, gone in own[2:] for item in gone]
    if rows != shown or listed != lines:
        book.fault("exclusion", "DATASHEET_EXCLUSIONS.md: not as counted again")


def _line(item: str, reasons: dict[str, str]) -> str:
    reason = reasons.get(item, "")
    return f"- `{item}`" + (f": {reason}" if reason and reason != "named" else "")


def _layers(bundle: Bundle) -> list[tuple[str, int, list[str]]]:
    """Name, how many stay, who goes: from the population, the items and the readings."""
    holds: dict[str, Any] = bundle.manifest["bundle"]
    members, reasons = set(holds["items"]), holds["excluded"]
    drawn = members | set(reasons)
    measured = {
        item
        for cells in bundle.everyone.values()
        for item, answers in cells.items()
        if any(one.state == "ok" for one in answers)
    }
    named = sorted(item for item, reason in reasons.items() if reason == "named" and item not in members)
    audit = sorted(item for item in reasons if item not in members and item not in named)
    unmeasured = sorted(members - measured)
    return [
        ("as annotated", len(bundle.items), []),
        ("drawn", len(drawn), sorted(set(bundle.items) - drawn)),
        ("audit", len(drawn) - len(audit), audit),
        ("named", len(members), named),
        ("unmeasured", len(members) - len(unmeasured), unmeasured),
    ]
