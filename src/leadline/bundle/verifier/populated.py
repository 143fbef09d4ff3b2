"""The sentence on the population, which every report says: how many items, and what each layer took."""

from __future__ import annotations

import re
from typing import Any

from leadline.bundle.verifier.decisions import TAKEN_OUT
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.loading import Bundle

_BY_NAME = "named in study.yaml"


def check_population(bundle: Bundle, book: Book) -> None:
    """The sentence as it is counted again; of reports before there were decisions, as they said it."""
    entry = bundle.document["benchmark"]
    own = _sentence(bundle, entry)
    allowed = {own} if bundle.decisions.is_named else {own, _without_decisions(bundle, entry)}
    if entry["population"] not in allowed:
        book.fault("description", f"population: findings.json says “{entry['population']}”, it is “{own}”")


def _left_out(bundle: Bundle, entry: dict[str, Any]) -> tuple[str, set[str]]:
    """ "12 (evidence absent 9, computational 3)", and the reasons. Their order is the report's own."""
    counts: dict[str, int] = {}
    for reason in bundle.manifest["bundle"]["excluded"].values():
        name = _BY_NAME if reason == "named" else reason
        counts[name] = counts.get(name, 0) + 1
    own = [f"{reason} {number:,}" for reason, number in counts.items()]
    listed = re.search(r"left out: [\d,]+ \((.*?)\)", entry["population"])
    told = listed[1].split(", ") if listed else []
    return f"{sum(counts.values()):,} ({', '.join(told if sorted(told) == sorted(own) else own)})", set(
        counts
    )


def _sentence(bundle: Bundle, entry: dict[str, Any]) -> str:
    holds = bundle.manifest["bundle"]
    members, excluded = set(holds["items"]), holds["excluded"]
    told, reasons = _left_out(bundle, entry)
    stay = len(members)
    parts = [f"{stay:,} of {stay + len(excluded):,} items drawn" if excluded else f"all {stay:,} items drawn"]
    if excluded:
        parts.append(f"left out: {told}")
    if reasons <= {_BY_NAME, *TAKEN_OUT.values()}:
        parts.append("the audit excludes none" if entry["audit"] else "not audited")
    corrected = len(members & set(bundle.decisions.applied("upheld", corrects=True)))
    if corrected:
        parts.append(f"labels corrected: {corrected:,}")
    return "; ".join([*parts, _of_decisions(bundle, members | set(excluded))])


def _of_decisions(bundle: Bundle, drawn: set[str]) -> str:
    """How many decisions on the items drawn are in force, by outcome, and what the file's others are."""
    decisions = bundle.decisions
    if not decisions.is_named:
        return "not adjudicated"
    outcomes = [one["outcome"] for item, one in decisions.standing.items() if item in drawn]
    counts = [(name, outcomes.count(name)) for name in ("upheld", "rejected", "excluded-ambiguous")]
    by_outcome = ", ".join(f"{count:,} {name}" for name, count in counts if count)
    number = len(outcomes)
    stale = len(drawn & set(decisions.stale))
    asides = [
        (stale, "stale"),
        (len(decisions.standing) + len(decisions.stale) - number - stale, "on items not drawn"),
        (len(decisions.unknown), "unknown"),
        (len(decisions.withdrawn), "withdrawn"),
    ]
    said = f"adjudications: {number:,} decision{'s' * (number != 1)} in force"
    said += f" ({by_outcome})" * bool(number)
    return "; ".join([said, *(f"{count:,} {what}" for count, what in asides if count)])


def _without_decisions(bundle: Bundle, entry: dict[str, Any]) -> str:
    excluded = bundle.manifest["bundle"]["excluded"]
    stay = len(bundle.manifest["bundle"]["items"])
    if excluded:
        told, _ = _left_out(bundle, entry)
        return f"{stay:,} of {stay + len(excluded):,} items drawn; left out: {told}"
    return f"all {stay:,} items drawn; " + ("the audit excludes none" if entry["audit"] else "not audited")
