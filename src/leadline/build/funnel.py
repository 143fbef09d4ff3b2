"""The funnel: how many pages and facts each stage took, kept and let go, and for which reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.build.plan import Plan
from leadline.build.stages import stages
from leadline.build.workspace import Workspace

# What one of them is called, in the order of the table.
UNITS = {"articles": "pages"}


@dataclass(frozen=True)
class Step:
    """One stage: what came in, what went on, and how many were dropped for each reason."""

    stage: str
    unit: str
    taken: int
    kept: int
    dropped: Mapping[str, int]

    @property
    def lost(self) -> int:
        """All that were dropped."""
        return sum(self.dropped.values())


def funnel(plan: Plan, work: Workspace) -> tuple[Step, ...]:
    """The stages that have ended, in order. Stages that no fact passes through (scans) are left out.

    Of each, taken = kept + dropped; a page that yields no fact is no drop.
    """
    steps: list[Step] = []
    for stage in stages():
        done = work.stage(stage.name).done() if stage.wanted(plan) else None
        counts: Mapping[str, Any] = done.get("counts", {}) if done else {}
        if "kept" not in counts:
            continue
        dropped = dict(sorted(counts.get("dropped", {}).items(), key=lambda one: (-one[1], one[0])))
        kept = int(counts["kept"])
        unit = UNITS.get(stage.name, "facts")
        steps.append(Step(stage.name, unit, kept + sum(dropped.values()), kept, dropped))
    return tuple(steps)


def as_json(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """The funnel as data."""
    return [
        {
            "stage": step.stage,
            "unit": step.unit,
            "taken": step.taken,
            "kept": step.kept,
            "dropped": dict(step.dropped),
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
