"""The funnel: how many pages and facts each stage took, kept and let go, and for which reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leadline.build.plan import Plan
from leadline.build.standing import Standing, standing
from leadline.build.workspace import Workspace

# What one of them is called, in the order of the table.
UNITS = {"articles": "pages"}
_MORE = ("malformed", "passages")


@dataclass(frozen=True)
class Step:
    """One stage: what came in, what went on, and how many were dropped for each reason.

    `more` are further counts of some stages: of extract `malformed` and `passages`, by kind.
    """

    stage: str
    unit: str
    taken: int
    kept: int
    dropped: Mapping[str, int]
    more: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """All that were dropped."""
        return sum(self.dropped.values())


def funnel(plan: Plan, work: Workspace, now: Standing | None = None) -> tuple[Step, ...]:
    """The stages that are current, in order. Stages that no fact passes through (scans) are left out.

    Of each, taken = kept + dropped; a page that yields no fact is no drop.
    """
    steps: list[Step] = []
    for stage in (now or standing(plan, work)).current:
        done = work.stage(stage).done()
        counts: Mapping[str, Any] = done.get("counts", {}) if done else {}
        if "kept" not in counts:
            continue
        dropped = dict(sorted(counts.get("dropped", {}).items(), key=lambda one: (-one[1], one[0])))
        kept = int(counts["kept"])
        unit = UNITS.get(stage, "facts")
        more = {name: counts[name] for name in _MORE if counts.get(name)}
        steps.append(Step(stage, unit, kept + sum(dropped.values()), kept, dropped, more))
    return tuple(steps)


@dataclass(frozen=True)
class ScanFaults:
    """How many shards of the corpus were not whole or not readable, and of which kinds their faults are."""

    shards: int
    faulty: int
    faults: Mapping[str, int]

    def line(self) -> str:
        """The same in words."""
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in self.faults.items())
        return f"scan: {self.faulty:,} of {self.shards:,} shards have faults: {kinds}"


def scan_faults(plan: Plan, work: Workspace, now: Standing | None = None) -> ScanFaults | None:
    """Faults of the corpus; None where it has none, or was not scanned."""
    if "scan" not in (now or standing(plan, work)).current:
        return None
    counts = work.stage("scan").counts()
    if not counts.get("faults"):
        return None
    faults = dict(sorted(counts["faults"].items(), key=lambda one: (-one[1], one[0])))
    return ScanFaults(int(counts.get("shards", 0)), len(counts.get("faulty", ())), faults)


def as_json(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """The funnel as data."""
    return [
        {
            "stage": step.stage,
            "unit": step.unit,
            "taken": step.taken,
            "kept": step.kept,
            "dropped": dict(step.dropped),
            **{name: dict(counted) for name, counted in step.more.items()},
        }
        for step in steps
    ]


def as_markdown(steps: tuple[Step, ...]) -> str:
    """The funnel as a table: a row a stage, reasons by their number."""
    rows = ["| stage | taken | kept | dropped |", "| --- | ---: | ---: | --- |"]
    for step in steps:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in step.dropped.items())
        rows.append(f"| {step.stage} | {step.taken:,} {step.unit} | {step.kept:,} | {reasons} |")
    return "\n".join(rows) + "\n"
