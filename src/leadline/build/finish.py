"""The end of a build: the benchmark's folder and the manifest, from what the last stage left."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.build.benchmark import write_facts
from leadline.build.manifest import write_manifest
from leadline.build.plan import Plan
from leadline.build.standing import Standing
from leadline.build.stats import Statistics, statistics
from leadline.build.workspace import Workspace


@dataclass(frozen=True)
class Finished:
    """What the build came to; no benchmark is written where no fact is left."""

    found: Statistics

    @property
    def items(self) -> int:
        """How many items the benchmark has."""
        return self.found.facts


def finish(plan: Plan, work: Workspace, now: Standing | None = None) -> Finished:
    """Write WORK/benchmark and WORK/manifest.json. Raises LeadlineError, UsageError.

    `run_build` calls it as its `then`, while no other process may change the stages.
    """
    found = statistics(plan, work, now)
    if found.facts:
        write_facts(plan, work)
    write_manifest(plan, work, found.funnel)
    return Finished(found)
