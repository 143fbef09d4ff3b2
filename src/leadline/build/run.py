"""Runs a build: each stage that is not done, or whose settings, inputs or earlier stages changed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.build.checksums import Checksums
from leadline.build.disk import said_by_the_disk, told_when_full
from leadline.build.plan import Plan
from leadline.build.progress import Progress
from leadline.build.stage import FactStage, Job, Stage
from leadline.build.stages import stages
from leadline.build.standing import chained, clear, clear_what_is_stale
from leadline.build.work_folder import own_folder
from leadline.build.workspace import DONE, StageFolder
from leadline.errors import UsageError
from leadline.study.lock import locked
from leadline.workers.engine import Engine

# What is left of a file, or of the folder that a database is made in, where its process was killed.
_HALF = re.compile(r"\..+\.(zst|json|txt|tsv|sqlite|html)\.[a-z0-9_]{8}")


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
    then: Callable[[], None] | None = None,
) -> Outcome:
    """Do what is lacking, up to the stage `until` (the last without it). Interrupt it and call it again.

    A stage's key is a hash of its version, its settings, the checksums of its inputs and the keys of the
    stages before: one that stands whole under the same key is not done again. Files and values that the plan
    names are looked at before the first stage. A benchmark of another plan is removed. Raises UsageError for
    a plan that cannot be followed, LeadlineError where something fails or another process works in the
    folder; what is done stays. `then` is called after the last stage, before another process may work in the
    folder.
    """
    line = tuple(chosen or stages())
    names = [stage.name for stage in line]
    if until is not None and until not in names:
        raise UsageError(f"no stage is called {until!r}", fix=f"stages: {', '.join(names)}")
    for stage in line:
        if stage.wanted(plan):
            stage.check(plan)
        if stage.name == until:
            break
    work = own_folder(plan)
    with locked(work.folder, "build"):
        outcome = _run(line, Job(plan, work, engine, progress), until)
        if then is not None:
            with told_when_full(work.folder):
                then()
        return outcome


def _run(line: Sequence[Stage], job: Job, until: str | None) -> Outcome:
    plan, outcome = job.plan, Outcome()
    _clear_halves(job.work.folder.glob(".*"))
    _clear_halves((job.work.folder / "cache").rglob(".*"))
    with said_by_the_disk(job.work.folder):
        clear_what_is_stale(plan, job.work, line)
    sums = Checksums(job.work.folder / "checksums.json", plan.folder)
    key, before = "", None
    for stage in line:
        if stage.wanted(plan):
            here = job.work.stage(stage.name)
            inputs = stage.inputs(plan)
            job.engine.check(inputs)
            key = chained(key, stage, plan, sums.of(inputs))
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
        damaged = here.faults()
        if not damaged:
            outcome.kept.append(stage.name)
            return
        for file in damaged:
            file.unlink(missing_ok=True)
        job.progress.note(f"{stage.name}: {len(damaged):,} files are damaged or gone, and made again")
    facts = _kept(before) if isinstance(stage, FactStage) else None
    job.progress.begin(stage.name, facts, "facts")
    with said_by_the_disk(here.path):
        clear(job.work)
        _make_room(here, key)
    with told_when_full(here.path):
        counts = stage.run(job, here, before)
    here.finish(key, counts)
    job.progress.end(_said(counts))
    outcome.done.append(stage.name)


def _make_room(here: StageFolder, key: str) -> None:
    """Parts of an interrupted run stay if they were made under the same key, and go otherwise.

    The order is what makes it safe to be killed in between: what says "done" goes first, and what says under
    which key parts were made goes before the parts.
    """
    mark = here.path / "begun"
    if here.path.is_dir() and not here.path.is_symlink():
        _remove(here.path / DONE)
        if not mark.is_file() or mark.read_bytes() != key.encode():
            _remove(mark)
            shutil.rmtree(here.path)
    else:
        here.path.unlink(missing_ok=True)
    here.path.mkdir(parents=True, exist_ok=True)
    _clear_halves(here.path.rglob(".*"))
    mark.write_bytes(key.encode())


def _clear_halves(hidden: Iterable[Path]) -> None:
    for left in list(hidden):
        if _HALF.fullmatch(left.name):
            _remove(left)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _kept(before: StageFolder | None) -> int | None:
    kept = before.counts().get("kept") if before is not None else None
    return kept if isinstance(kept, int) else None


def _said(counts: Mapping[str, Any]) -> str:
    dropped = counts.get("dropped")
    lost = sum(dropped.values()) if isinstance(dropped, dict) else 0
    # A stage that leaves no facts says what it counted: wanted, found, missing.
    told = {"kept": counts["kept"]} if "kept" in counts else counts
    words = ", ".join(f"{number:,} {name}" for name, number in told.items() if isinstance(number, int))
    if isinstance(broken := counts.get("broken"), dict):
        words += f", {len(broken):,} files have broken lines"
    return f"{words}, {lost:,} dropped" if lost else words
