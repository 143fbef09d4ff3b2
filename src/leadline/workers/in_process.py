"""Work over shards in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from leadline.workers.engine import ResultT, TaskT


class InProcess:
    """See `Engine`."""

    name = "in-process"
    workers = 1

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT],
        tasks: Sequence[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """One task after the other."""
        if not tasks:
            return
        ready = prepare(shared) if prepare is not None else shared
        for task in tasks:
            yield task, work(ready, task)

    def check(self, paths: Iterable[Path]) -> None:
        """Nobody else has to see them."""
