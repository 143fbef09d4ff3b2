"""A stage: a pure step from files to files, which can be interrupted and done again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from leadline.build.parts import writing
from leadline.build.records import Drop, Fact
from leadline.build.workspace import StageFolder, Workspace
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.build.plan import Plan
    from leadline.build.progress import Progress
    from leadline.workers.engine import Engine


@dataclass(frozen=True)
class Job:
    """What a stage has to work with."""

    plan: Plan
    work: Workspace
    engine: Engine
    progress: Progress


class Stage(ABC):
    """One stage. `name` is its folder and its command; `after` the stage whose facts it takes.

    `version` is raised when a change of the code changes what comes out of the same input; what an older
    version made is made again.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    after: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def settings(self, plan: Plan) -> object:
        """The part of the plan that decides what comes out, as JSON-like data."""

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """Files from outside the build's folder that it reads: pinned by checksum in the manifest."""
        return ()

    def check(self, plan: Plan) -> None:
        """Look at what the plan names for this stage, before any stage runs: cheap, and nothing is kept.

        Raises UsageError for files that are not there, and for small ones of the user's that are wrong.
        """
        for path in self.inputs(plan):
            try:
                path.stat()
            except OSError as error:
                what, fix = f"cannot be read: {error.strerror}", f"the stage {self.name} reads it"
                raise UsageError(what, where=str(path), fix=fix) from None

    def wanted(self, plan: Plan) -> bool:
        """Whether the plan asks for this stage; without it, facts pass by."""
        return True

    @abstractmethod
    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Do the work; returns counts for done.json. `before` is the last stage that left facts."""


class FactStage(Stage):
    """A stage that looks at facts and lets each go on, changed or not, or drops it with a reason."""

    @abstractmethod
    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """One result for each fact, in the same order; `self.drop` makes a Drop."""

    def drop(self, fact: Fact, reason: str, detail: str = "") -> Drop:
        """A fact that ends here."""
        return Drop(fact=fact, stage=self.name, reason=reason, detail=detail)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Read the facts of the stage before, judge them, write the two files."""
        if before is None:
            raise AssertionError(f"{self.name} has no stage before it")
        reasons: Counter[str] = Counter()
        kept = 0
        with writing(here.kept) as keep, writing(here.dropped) as drop:
            for result in self.judge(job, before.facts()):
                job.progress.advance(1)
                if isinstance(result, Drop):
                    reasons[result.reason] += 1
                    drop(result)
                else:
                    kept += 1
                    keep(result)
        return {"kept": kept, "dropped": dict(sorted(reasons.items()))}
