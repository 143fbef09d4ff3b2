"""The workers of one run on a Ray cluster: actors, their tasks, and what becomes of those that die."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.workers.attempt import ATTEMPTS, Done, Failed, attempt, lost
from leadline.workers.engine import TaskT

# Nobody has begun after so many seconds: say so.
_BEGIN = 300.0


@dataclass
class _Worker:
    actor: Any
    task: int | None = None
    ready: bool = False


class RayCrew:
    """The actors of one run. Each has one call in flight: a death is laid at the right task's door."""

    def __init__(self, ray: Any, needs: dict[str, int], load: Any) -> None:
        self._ray, self._load = ray, load
        self._kind = ray.remote(_Actor).options(max_restarts=0, **needs)
        self._calls: dict[Any, _Worker] = {}  # what is awaited, and of whom
        self._idle: list[_Worker] = []
        self._stillborn = 0

    def hire(self) -> None:
        """Ask for an actor. It may wait for room on the cluster, and gets no task before it stands."""
        actor = self._kind.remote(self._load, str(Path.cwd()))
        self._calls[actor.begin.remote()] = _Worker(actor)

    def done(self, tasks: Sequence[TaskT]) -> Iterator[tuple[TaskT, Any]]:
        """Results as they come; a task whose worker died is given to another one."""
        waiting = deque(range(len(tasks)))
        lives = [0] * len(tasks)
        left = len(tasks)
        while left:
            worker, said = self._next()
            number, worker.task = worker.task, None
            if isinstance(said, Exception):
                self._bury(worker, number, said, tasks, lives, waiting)
                continue
            worker.ready = True
            self._idle.append(worker)
            if isinstance(said, Failed):
                raise said.again()
            self._give(tasks, waiting)
            if isinstance(said, Done) and number is not None:
                left -= 1
                yield tasks[number], said.result

    def _next(self) -> tuple[_Worker, Any]:
        """Whoever has something to say, and what: Done, Failed, or the exception that was its end."""
        ray = self._ray
        while True:
            came, _ = ray.wait(list(self._calls), num_returns=1, timeout=_BEGIN)
            if came:
                break
            if not any(worker.ready for worker in self._calls.values()):
                raise LeadlineError(
                    f"the Ray cluster has had no room for a worker for {_BEGIN:.0f} seconds",
                    fix="`ray status` shows what it has and what others hold",
                )
        worker = self._calls.pop(came[0])
        try:
            return worker, ray.get(came[0])
        except (ray.exceptions.RayActorError, ray.exceptions.RaySystemError) as error:
            return worker, error
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
            return worker, error
        except (ray.exceptions.ObjectLostError, ray.exceptions.NodeDiedError) as error:
            return worker, error

    def _give(self, tasks: Sequence[TaskT], waiting: deque[int]) -> None:
        while waiting and self._idle:
            worker, number = self._idle.pop(), waiting.popleft()
            worker.task = number
            self._calls[worker.actor.do.remote(tasks[number])] = worker

    def _bury(
        self,
        worker: _Worker,
        number: int | None,
        error: Exception,
        tasks: Sequence[TaskT],
        lives: list[int],
        waiting: deque[int],
    ) -> None:
        """Ask for another in its place; its task is done again. Raises LeadlineError after several times."""
        with contextlib.suppress(Exception):
            self._ray.kill(worker.actor)  # out of reach is not dead, and two are not to write the same file
        if number is None:
            self._stillborn += 1
            if self._stillborn >= ATTEMPTS:
                raise LeadlineError(
                    f"Ray's workers end before they begin: {first_line(error)}",
                    fix="each node needs the same Python, leadline[build,ray], and memory for the worker",
                )
        else:
            lives[number] += 1
            if lives[number] >= ATTEMPTS:
                raise lost(tasks[number], first_line(error))
            waiting.appendleft(number)
        self._give(tasks, waiting)
        if waiting:
            self.hire()

    def dismiss(self) -> None:
        """End all actors: at once, or as soon as they stand.

        One that is killed while it starts may keep its share of the cluster for seconds, or for good.
        """
        for worker in [*self._calls.values(), *self._idle]:
            with contextlib.suppress(Exception):
                if worker.ready:
                    self._ray.kill(worker.actor)
                else:
                    worker.actor.leave.remote()
        self._calls.clear()
        self._idle.clear()


class _Actor:
    """A worker: Ray makes it on a node."""

    def __init__(self, load: tuple[Any, Any, Any], folder: str) -> None:
        with contextlib.suppress(OSError):
            os.chdir(folder)  # paths in a plan may be relative
        self._load: tuple[Any, Any, Any] | None = load
        self._work: Callable[..., Any] | None = None
        self._ready: Any = None

    def begin(self) -> object:
        """Prepare; "ready", or what failed."""
        if self._load is None:
            return "ready"
        (self._work, shared, prepare), self._load = self._load, None
        made = attempt(prepare, shared) if prepare is not None else Done(shared)
        if isinstance(made, Failed):
            return made
        self._ready = made.result
        return "ready"

    def leave(self) -> None:
        """End, when what was asked for before is done."""
        os._exit(0)

    def do(self, task: object) -> Done | Failed:
        """One task."""
        assert self._work is not None
        return attempt(self._work, self._ready, task)


def first_line(error: Exception) -> str:
    """What an exception of Ray says, without the pages that follow."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0].rstrip(".") if lines else type(error).__name__)[:200]
