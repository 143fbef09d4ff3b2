"""The workers of one run on a Ray cluster: actors, what they say, and how they end."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.workers.attempt import Died, Done, Failed, Part, Ready, attempt

# Nobody has begun after so many seconds: say so.
_BEGIN = 300.0


@dataclass
class _Worker:
    number: int
    actor: Any
    call: Any = None  # what it says at the moment, word by word; None when it has nothing to do
    is_ready: bool = False
    who: str = "a worker that was starting"


class RayCrew:
    """See `Crew`: actors. Each has one call in flight, so that a death is laid at the right task's door."""

    stillborn = (
        "each node needs the same Python, the same leadline with its extras, and memory for the worker"
    )

    def __init__(self, ray: Any, needs: dict[str, int], load: Any, threads: int | None = None) -> None:
        self._ray, self._load, self._threads = ray, load, threads
        self._kind = ray.remote(_Actor).options(max_restarts=0, **needs)
        self._workers: dict[int, _Worker] = {}

    def hire(self, number: int) -> None:
        """Ask for an actor. It may wait for room on the cluster, and gets no task before it stands."""
        actor = self._kind.remote(self._load, str(Path.cwd()), self._threads)
        call = actor.begin.options(num_returns="streaming").remote()
        self._workers[number] = _Worker(number, actor, call)

    def next(self) -> tuple[int, Ready | Part | Done | Failed | Died]:
        """Wait for the next word of anybody. Raises LeadlineError where none of them ever begins."""
        ray = self._ray
        while True:
            calls = {worker.call: worker for worker in self._workers.values() if worker.call is not None}
            came, _ = ray.wait(list(calls), num_returns=1, timeout=_BEGIN)
            if not came:
                if not any(worker.is_ready for worker in self._workers.values()):
                    raise LeadlineError(
                        f"the Ray cluster has had no room for a worker for {_BEGIN:.0f} seconds",
                        fix="`ray status` shows what it has and what others hold",
                    )
                continue
            worker = calls[came[0]]
            try:
                said: Ready | Part | Done | Failed = ray.get(next(worker.call))
            except ray.exceptions.RayError as error:
                return worker.number, self._buried(worker, error)
            if isinstance(said, Ready):
                worker.is_ready, worker.who = True, said.who
            if not isinstance(said, Part):  # its last word
                worker.call = None
            # Whoever waits for the next word should hear of every worker in turn, not of the quickest alone.
            self._workers[worker.number] = self._workers.pop(worker.number)
            return worker.number, said

    def give(self, number: int, task: object) -> None:
        """Call it."""
        worker = self._workers[number]
        worker.call = worker.actor.do.options(num_returns="streaming").remote(task)

    def _buried(self, worker: _Worker, error: Exception) -> Died:
        del self._workers[worker.number]
        with contextlib.suppress(Exception):
            self._ray.kill(worker.actor)  # out of reach is not dead, and two are not to write the same file
        return Died(_ended(error), worker.who)

    def dismiss(self) -> None:
        """End all actors: at once, or as soon as they stand.

        One that is killed while it starts may keep its share of the cluster for seconds, or for good.
        """
        for worker in self._workers.values():
            with contextlib.suppress(Exception):
                if worker.is_ready:
                    self._ray.kill(worker.actor)
                else:
                    worker.actor.leave.remote()
        self._workers.clear()


class _Actor:
    """A worker: Ray makes it on a node."""

    def __init__(self, load: tuple[Any, Any, Any], folder: str, threads: int | None) -> None:
        with contextlib.suppress(OSError):
            os.chdir(folder)  # paths in a plan may be relative
        if threads is not None:  # before torch is imported; Ray has set what it thinks of by itself
            os.environ["OMP_NUM_THREADS"] = str(threads)
        self._load: tuple[Any, Any, Any] | None = load
        self._work: Callable[..., Any] | None = None
        self._ready: Any = None

    def begin(self) -> Iterator[Ready | Part | Done | Failed]:
        """Prepare."""
        assert self._load is not None
        (self._work, shared, prepare), self._load = self._load, None
        made = next(attempt(prepare, shared)) if prepare is not None else Done((shared,))
        if not isinstance(made, Done):
            yield made
            return
        (self._ready,) = made.results
        yield Ready(f"the worker in process {os.getpid()} on {socket.gethostname()}")

    def leave(self) -> None:
        """End, when what was asked for before is done."""
        os._exit(0)

    def do(self, task: object) -> Iterator[Part | Done | Failed]:
        """One task."""
        assert self._work is not None
        yield from attempt(self._work, self._ready, task)


def _ended(error: Exception) -> str:
    """How a worker ended, as far as Ray knows; of a signal it sees no more than the end of a connection."""
    said = str(error)
    lost = "connection error code" in said or "killed by SIGKILL" in said
    return f"{first_line(error)}{' (killed, out of memory?)' if lost else ''}"


def first_line(error: Exception) -> str:
    """What an exception of Ray says, without the pages that follow."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0].rstrip(".") if lines else type(error).__name__)[:200]
