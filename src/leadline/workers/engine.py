"""The one thing that work over shards, and the asking of models, want of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from leadline.workers.source import Source

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class Engine(Protocol):
    """Runs a function over tasks.

    `work(shared, task)` is a function of a module (it travels by name) and may be done twice: a worker that
    dies has its task done again elsewhere. What it writes it writes whole or not at all. Where it is a
    generator, each result is given on as it comes. `prepare` makes, once in each worker, from what `shared`
    holds as data, what `work` is given as its first argument (a compiled database of patterns, a loaded
    model); without it `work` is given `shared` itself.
    """

    name: str
    workers: int

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT | Iterator[ResultT]],
        tasks: Sequence[TaskT] | Source[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """Results as they come, in any order; those of one task in theirs.

        `devices`: workers run models. There is one per accelerator where there are any, else they share out
        the cores among their threads. An exception of `work` ends the run and is raised here; what other
        tasks wrote stays. Raises LeadlineError where the same task ends the life of its worker several times.
        """

    def check(self, paths: Iterable[Path]) -> None:
        """Raises UsageError where a worker cannot see one of these files and folders."""
