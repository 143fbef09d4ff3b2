"""The end of a build: the benchmark's folder and the manifest, from what the last stage left."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.build.benchmark import write_facts
from leadline.build.manifest import write_manifest
from leadline.build.plan import Plan
from leadline.build.stats import statistics
from leadline.build.workspace import Workspace


@dataclass(frozen=True)
class Finished:
    """How many items the benchmark has; none is written where no fact is left."""

    items: int


def finish(plan: Plan, work: Workspace) -> Finished:
    """Write WORK/benchmark and WORK/manifest.json. Raises LeadlineError, UsageError.

    `run_build` calls it as its `then`, while no other process may change the stages.
    """
    found = statistics(plan, work)
    if found.facts:
        write_facts(plan, work)
    write_manifest(plan, work)
    return Finished(found.facts)
