"""Work that could be shared out, in this process, one task after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import GeneratorType
from typing import Any

from leadline.workers.engine import ResultT, TaskT
from leadline.workers.source import Source, as_source


class InProcess:
    """See `Engine`."""

    name = "in-process"
    workers = 1

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT | Iterator[ResultT]],
        tasks: Sequence[TaskT] | Source[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """One task after the other."""
        source = as_source(tasks)
        if not source.is_open():
            return
        source.staff(1)
        ready = prepare(shared) if prepare is not None else shared
        while source.is_open():
            task = source.take(0)
            if task is None:
                raise RuntimeError("something is left, and there is no task for it")
            result: Any = work(ready, task)
            if isinstance(result, GeneratorType):
                for part in result:
                    yield task, part
                source.done(0, task)
            else:
                source.done(0, task)
                yield task, result

    def check(self, paths: Iterable[Path]) -> None:
        """Nobody else has to see them."""
