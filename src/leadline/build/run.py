"""Runs a build: each stage that is not done, or whose settings, inputs or earlier stages changed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.build.checksums import Checksums
from leadline.build.engines.engine import Engine
from leadline.build.plan import Plan
from leadline.build.progress import Progress
from leadline.build.stage import FactStage, Job, Stage
from leadline.build.stages import stages
from leadline.build.workspace import StageFolder, Workspace, key_of
from leadline.errors import UsageError


@dataclass
class Outcome:
    """Which stages were done now, and which were there."""

    done: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def run_build(
    plan: Plan,
    engine: Engine,
    progress: Progress,
    *,
    until: str | None = None,
    chosen: Sequence[Stage] | None = None,
) -> Outcome:
    """Do what is lacking, up to the stage `until` (the last without it). Interrupt it and call it again.

    A stage's key is a hash of its version, its settings, the checksums of its inputs and the keys of the
    stages before: one that stands under the same key is not done again. Raises UsageError for a plan that
    cannot be followed, LeadlineError where something fails; what is done stays.
    """
    line = tuple(chosen or stages())
    names = [stage.name for stage in line]
    if until is not None and until not in names:
        raise UsageError(f"no stage is called {until!r}", fix=f"stages: {', '.join(names)}")
    work = Workspace(plan.work)
    work.folder.mkdir(parents=True, exist_ok=True)
    sums = Checksums(work.folder / "checksums.json")
    job = Job(plan, work, engine, progress)
    outcome = Outcome()
    key, before = "", None
    for stage in line:
        if stage.wanted(plan):
            here = work.stage(stage.name)
            key = key_of([key, stage.name, stage.version, stage.settings(plan), sums.of(stage.inputs(plan))])
            _do(stage, job, here, before, key, outcome)
            if here.kept.exists():
                before = here
        if stage.name == until:
            break
    return outcome


def _do(
    stage: Stage, job: Job, here: StageFolder, before: StageFolder | None, key: str, outcome: Outcome
) -> None:
    done = here.done()
    if done is not None and done.get("key") == key:
        outcome.kept.append(stage.name)
        return
    _make_room(here, key)
    facts = _kept(before) if isinstance(stage, FactStage) else None
    job.progress.begin(stage.name, facts, "facts")
    counts = stage.run(job, here, before)
    here.finish(key, counts)
    job.progress.end(_said(counts))
    outcome.done.append(stage.name)


def _make_room(here: StageFolder, key: str) -> None:
    """Parts of an interrupted run stay if they were made under the same key, and go otherwise."""
    mark = here.path / "begun"
    if here.path.exists() and (not mark.exists() or mark.read_text("utf-8") != key):
        shutil.rmtree(here.path)
    here.path.mkdir(parents=True, exist_ok=True)
    mark.write_text(key, "utf-8")


def _kept(before: StageFolder | None) -> int | None:
    kept = before.counts().get("kept") if before is not None else None
    return kept if isinstance(kept, int) else None


def _said(counts: Mapping[str, Any]) -> str:
    dropped = counts.get("dropped")
    lost = sum(dropped.values()) if isinstance(dropped, dict) else 0
    kept = counts.get("kept", 0)
    words = f"{kept:,} kept" if isinstance(kept, int) else ""
    return f"{words}, {lost:,} dropped" if lost else words
