"""The datasheet of exclusions, both files of it, against the items, their readings and the decisions."""

from __future__ import annotations

import re
from typing import Any

from leadline.bundle.verifier.decisions import TAKEN_OUT
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_json
from leadline.bundle.verifier.loading import Bundle

_MEANINGS = {
    "as annotated": "all items of the benchmark",
    "drawn": "chosen by the study's items, limit and seed",
    "audit": "left out by a verdict of the audit",
    "named": "left out by name in study.yaml",
    "adjudication": "left out by a person's decision on the label",
    "unmeasured": "no configuration gave a readable answer",
}
_ROW = re.compile(r"^\| (.+?) \| (.+?) \| ([\d,]+) \| ([\d,]+) \|$")
_OF_DECISION = ("item", "outcome", "reader", "date", "reason")

Layers = list[tuple[str, int, list[str]]]


def check_datasheet(bundle: Bundle, book: Book) -> None:
    """Each layer, as it was counted again: how many items stay, and which ones go; and each decision."""
    told = read_json(bundle.folder, "DATASHEET_EXCLUSIONS.json", book) or {}
    own = _layers(bundle)
    found = [(one["layer"], one["meaning"], one["items"], one["left_out"]) for one in told.get("layers", ())]
    wanted = [(name, _MEANINGS[name], stay, gone) for name, stay, gone in own]
    if found != wanted:
        names = [one[0] for one, other in zip(wanted, found + [None] * len(wanted)) if one != other]
        book.fault(
            "exclusion", f"DATASHEET_EXCLUSIONS.json: not as counted again: {', '.join(names) or 'a layer'}"
        )
    decisions = _decisions(bundle)
    if told.get("decisions") != decisions:
        book.fault(
            "exclusion", f"DATASHEET_EXCLUSIONS.json: {_first_other(told.get('decisions'), decisions)}"
        )
    try:
        text = (bundle.folder / "DATASHEET_EXCLUSIONS.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        book.fault("structure", "DATASHEET_EXCLUSIONS.md is missing or no text")
        return
    rows = [match.groups() for line in text.splitlines() if (match := _ROW.match(line))]
    shown = [(name, _MEANINGS[name], f"{stay:,}", f"{len(gone):,}") for name, stay, gone in own]
    listed = [line for line in text.splitlines() if line.startswith("- `")]
    lines = _lines(bundle, own, decisions)
    if rows != shown or listed != lines:
        other = [line for line in listed if line not in lines] or [
            line for line in lines if line not in listed
        ]
        book.fault(
            "exclusion",
            f"DATASHEET_EXCLUSIONS.md: not as counted again{': ' + other[0][:120] if other else ''}",
        )


def _decisions(bundle: Bundle) -> Any:
    """The decisions on items that were drawn, as they apply; None where the study follows none."""
    if not bundle.decisions.is_named:
        return None
    holds = bundle.manifest["bundle"]
    drawn = set(holds["items"]) | set(holds["excluded"])
    applied = []
    for item, decision in sorted(bundle.decisions.standing.items()):
        if item in drawn:
            entry = {key: decision[key] for key in _OF_DECISION}
            entry["label"] = bundle.items[item]["answer"]
            applied.append({**entry, "corrected": decision.get("corrected")})
    return {
        "applied": applied,
        "stale": sorted(item for item in bundle.decisions.stale if item in drawn),
    }


def _first_other(told: Any, own: Any) -> str:
    """Which decision is told otherwise than it is."""
    if own is None or not isinstance(told, dict):
        return "decisions are told of, and there are none" if own is None else "the decisions are missing"
    stated = told.get("applied") or []
    for one in own["applied"]:
        if one not in stated:
            return f"the decision on item {one['item']} is not as {one['reader']} made it"
    for one in stated:
        if one not in own["applied"]:
            return f"nobody made this decision on item {one.get('item')}"
    return "not the decisions that were not applied"


def _lines(bundle: Bundle, layers: Layers, decisions: Any) -> list[str]:
    """What is listed in the file for people, line by line."""
    reasons = bundle.manifest["bundle"]["excluded"]
    applied = decisions["applied"] if decisions else []
    by_item = {one["item"]: one for one in applied}
    lines = []
    for name, _, gone in layers[2:]:
        for item in gone:
            reason = reasons.get(item, "")
            why = f": {reason}" if reason and reason != "named" else ""
            if name == "adjudication":
                why += f"; {_by_whom(by_item[item])}" if item in by_item else ""
            lines.append(f"- `{item}`{why}")
    for one in applied:
        if one["corrected"] is not None:
            lines.append(
                f"- `{one['item']}`: {_flat(one['label'])} → {_flat(one['corrected'])}; {_by_whom(one)}"
            )
    lines += [f"- `{one['item']}`: {_by_whom(one)}" for one in applied if one["outcome"] == "rejected"]
    return lines + [f"- `{item}`" for item in (decisions["stale"] if decisions else ())]


def _by_whom(one: dict[str, Any]) -> str:
    return f"{_flat(one['reader'])}, {one['date']}: {_flat(one['reason'])}"


def _flat(text: str) -> str:
    """On one line, and no HTML."""
    flat = " ".join(text.split())
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        flat = flat.replace(sign, written)
    return flat


def _layers(bundle: Bundle) -> Layers:
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
    out = {item: reason for item, reason in reasons.items() if item not in members}
    named = sorted(item for item, reason in out.items() if reason == "named")
    people = sorted(item for item, reason in out.items() if reason in TAKEN_OUT.values())
    audit = sorted(set(out) - set(named) - set(people))
    unmeasured = sorted(members - measured)
    layers = [
        ("as annotated", len(bundle.items), []),
        ("drawn", len(drawn), sorted(set(bundle.items) - drawn)),
        ("audit", len(drawn) - len(audit), audit),
        ("named", len(drawn) - len(audit) - len(named), named),
        ("adjudication", len(members), people),
        ("unmeasured", len(members) - len(unmeasured), unmeasured),
    ]
    return [one for one in layers if one[0] != "adjudication" or bundle.decisions.is_named]
