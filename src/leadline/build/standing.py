"""Which stages still are what the plan asks for, told without doing any work."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadline.build.checksums import Checksums, in_key
from leadline.build.plan import Plan
from leadline.build.stage import Stage
from leadline.build.stages import stages
from leadline.build.workspace import Workspace, key_of
from leadline.errors import LeadlineError

# What is made of the last stage's facts, besides the benchmark.
MANIFEST, PAGE = "manifest.json", "stats.html"


@dataclass(frozen=True)
class Standing:
    """The stages that are current, in order, up to the first that is not.

    `first` is that one; "" where all stages that the plan wants are current. `stale`: it, or a stage after
    it, was made by another plan, of other inputs. `unseen` says which inputs cannot be read any more: their
    stages are taken as they stand.
    """

    current: tuple[str, ...]
    first: str = ""
    stale: bool = False
    unseen: tuple[str, ...] = ()

    def lines(self, plan: Plan) -> list[str]:
        """What a user should know of it; [] where nothing is stale."""
        said = [f"not compared with the plan, since its inputs are gone: {one}" for one in self.unseen]
        if self.stale:
            said.append(
                f"the plan or its inputs changed: {self.first} is the first stage that is out of date, "
                f"and is left out with all after it (leadline build run {plan.file})"
            )
        return said


def standing(plan: Plan, work: Workspace, line: Sequence[Stage] | None = None) -> Standing:
    """Compare what stands in the build's folder with the plan; nothing is written, no large file is read.

    An input is known by its size and time; a small one of another time is read, a large one counts as
    changed.
    """
    wanted = [stage for stage in line or stages() if stage.wanted(plan)]
    sums = Checksums(work.folder / "checksums.json", plan.folder)
    key, current, unseen = "", list[str](), list[str]()
    for number, stage in enumerate(wanted):
        done = work.stage(stage.name).done()
        try:
            found = sums.glance(stage.inputs(plan))
            asked = chained(key, stage, plan, found) if found is not None else None
        except (LeadlineError, OSError) as error:
            unseen += [f"{stage.name}: {error}"] if done else []
            asked = done.get("key") if done else None
        if done is None or asked is None or done.get("key") != asked:
            stale = any(work.stage(one.name).done() for one in wanted[number:])
            return Standing(tuple(current), stage.name, stale, tuple(unseen))
        key = str(asked)
        current.append(stage.name)
    return Standing(tuple(current), unseen=tuple(unseen))


def whatever_ended(plan: Plan, work: Workspace) -> Standing:
    """Every stage that has ended, whatever it was made of: for those who have just made it."""
    wanted = (stage.name for stage in stages() if stage.wanted(plan))
    return Standing(tuple(name for name in wanted if work.stage(name).done()))


def chained(key: str, stage: Stage, plan: Plan, sums: dict[str, str]) -> str:
    """A stage's key: of its version, settings and inputs, and of the key of the stage before."""
    return key_of([key, stage.name, stage.version, stage.settings(plan), in_key(sums)])


def clear_what_is_stale(plan: Plan, work: Workspace, line: Sequence[Stage] | None = None) -> None:
    """Remove a benchmark, its page and manifest that were not made by this plan, or not to the end."""
    if not any(path.exists() for path in (work.benchmark, work.folder / PAGE, work.folder / MANIFEST)):
        return
    now = standing(plan, work, line)
    made = {name: (work.stage(name).done() or {}).get("key") for name in now.current}
    if now.first or made != _in_manifest(work):
        clear(work)


def clear(work: Workspace) -> None:
    """Remove the benchmark, its page and manifest. A folder that no build made stays."""
    (work.folder / MANIFEST).unlink(missing_ok=True)
    (work.folder / PAGE).unlink(missing_ok=True)
    if (work.benchmark / "facts.jsonl").is_file():
        old = work.folder / ".benchmark.old"
        shutil.rmtree(old, ignore_errors=True)
        work.benchmark.replace(old)  # at once, so that no half of it is ever taken for a benchmark
        shutil.rmtree(old, ignore_errors=True)


def _in_manifest(work: Workspace) -> dict[str, object] | None:
    try:
        said = json.loads((work.folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None
    held = said.get("stages") if isinstance(said, dict) else None
    if not isinstance(held, dict):
        return None
    return {name: done.get("key") if isinstance(done, Mapping) else None for name, done in held.items()}
