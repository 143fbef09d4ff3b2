"""An engine that is watched: who was asked what, by the workers' own account; one worker can be killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leadline.study.shares import Chunk
from leadline.study.worker import Order, Told
from leadline.workers.engine import Engine
from leadline.workers.source import Source

Answered = tuple[int, int, str, int]  # model, configuration, item, sample


@dataclass
class Watched:
    """See `Engine`. With `kill`, the worker that brings the first answers is killed over its chunk."""

    engine: Engine
    folder: Path
    kill: bool = False
    change: Callable[[Order], Order] = lambda order: order
    came: list[tuple[Chunk, Answered]] = field(default_factory=list)
    killed: int = 0

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def workers(self) -> int:
        return self.engine.workers

    def check(self, paths: Any) -> None:
        self.engine.check(paths)

    def run(
        self,
        work: Callable[..., Iterator[Told]],
        tasks: Source[Chunk],
        shared: Order,
        prepare: Callable[[Order], Any],
        *,
        devices: bool = False,
    ) -> Iterator[tuple[Chunk, Told]]:
        self.folder.mkdir()
        if not self.kill:
            self._mark.touch()
        wrapped = (work, self.change(shared), prepare, self.folder)
        for chunk, (pid, told) in self.engine.run(answers, tasks, wrapped, begun, devices=devices):  # type: ignore[var-annotated]
            self.came += [(chunk, (chunk.model, chunk.configuration, *told[:2])) for told in told.answers]
            if told.answers and not self._mark.exists():
                self.killed = pid
                os.kill(pid, signal.SIGKILL)
                self._mark.touch()
            yield chunk, told

    @property
    def _mark(self) -> Path:
        return self.folder / "quick"

    def chunks(self) -> list[tuple[int, int, int, list[Answered]]]:
        """Process, number of the chunk, threads, and what was asked, of each chunk that a worker began."""
        lines = [line for path in sorted(self.folder.glob("*.log")) for line in path.read_text().splitlines()]
        return [
            (pid, number, threads, [(model, configuration, item, sample) for item, sample, _ in jobs])
            for pid, number, threads, model, configuration, jobs in map(json.loads, lines)
        ]

    def asked(self) -> Counter[Answered]:
        """How often workers were asked for each answer."""
        return Counter(one for *_, jobs in self.chunks() for one in jobs)


def watched(engine: Engine, folder: Path, **more: Any) -> tuple[Watched, AbstractContextManager[Watched]]:
    """The engine, and the context in which a run uses it."""
    one = Watched(engine, folder, **more)
    return one, nullcontext(one)


def begun(wrapped: tuple[Any, ...]) -> tuple[Any, ...]:
    """In a worker: the work that is watched, and what it is given."""
    work, order, prepare, folder = wrapped
    return work, prepare(order), folder


def answers(ready: tuple[Any, ...], chunk: Chunk) -> Iterator[tuple[int, Told]]:
    """In a worker: leaves a line, and takes its time until one is killed."""
    import torch

    work, desk, folder = ready
    with (folder / f"{os.getpid()}.log").open("a") as log:
        threads = torch.get_num_threads()
        line = (os.getpid(), chunk.number, threads, chunk.model, chunk.configuration, chunk.jobs)
        log.write(json.dumps(line) + "\n")
    for told in work(desk, chunk):
        yield os.getpid(), told
        if not (folder / "quick").exists():
            time.sleep(0.2)


def another(reference: Path) -> Callable[[Order], Order]:
    """An order whose first model lies elsewhere."""
    return lambda order: replace(order, models=(replace(order.models[0], reference=str(reference)),))
