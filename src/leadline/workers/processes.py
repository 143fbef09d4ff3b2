"""Work over shards in several processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.workers.attempt import ATTEMPTS, Done, Failed, attempt, lost
from leadline.workers.devices import cores, devices_here
from leadline.workers.engine import ResultT, TaskT

# Not forked: a fork of a process with threads (torch, polars) may stand still for ever.
_CONTEXT = multiprocessing.get_context("spawn")
# So long a worker that was asked to end may take, in seconds, before it is killed.
_PATIENCE = 2.0
_READY = "ready"


class Processes:
    """See `Engine`. Workers live as long as one run; they end with this process, however it ends."""

    name = "process"

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT],
        tasks: Sequence[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """Each worker is given the next task when it has done one."""
        if not tasks:
            return
        places = devices_here() if devices else ()
        count = min(len(places) or self.workers, len(tasks))
        # Pickled once: `shared` may be a hundred thousand sentences.
        load = pickle.dumps((work, shared, prepare), pickle.HIGHEST_PROTOCOL)
        crew = _Crew(load, places, count if devices and not places else 1)
        try:
            for place in range(count):
                crew.hire(place)
            yield from crew.done(tasks)
        finally:
            crew.dismiss()

    def check(self, paths: Iterable[Path]) -> None:
        """Workers of this machine see what this process sees."""


@dataclass
class _Worker:
    place: int
    process: SpawnProcess
    line: Connection
    task: int | None = None
    ready: bool = False


class _Crew:
    """The workers of one run."""

    def __init__(self, load: bytes, places: tuple[str, ...], share: int) -> None:
        self._load, self._places, self._share = load, places, share
        self._workers: dict[Connection, _Worker] = {}
        self._stillborn = 0

    def hire(self, place: int) -> None:
        """Start a worker; it says when it is ready."""
        ours, theirs = _CONTEXT.Pipe()
        device = self._places[place] if self._places else None
        process = _CONTEXT.Process(
            target=_serve, args=(theirs, self._load, device, self._share), daemon=True, name="leadline-worker"
        )
        process.start()
        theirs.close()  # so that the end of the worker is the end of the line
        self._workers[ours] = _Worker(place, process, ours)

    def done(self, tasks: Sequence[TaskT]) -> Iterator[tuple[TaskT, Any]]:
        """Results as they come; a task whose worker died is given to another one."""
        waiting = deque(range(len(tasks)))
        lives = [0] * len(tasks)
        left = len(tasks)
        while left:
            for line in wait(list(self._workers)):
                worker = self._workers[line]  # type: ignore[index]
                try:
                    said = worker.line.recv()
                except (EOFError, OSError):
                    self._bury(worker, tasks, lives, waiting)
                    continue
                if isinstance(said, Failed):
                    raise said.again()
                number, worker.task, worker.ready = worker.task, None, True
                # The next task first: whoever takes the result may take its time.
                self._give(worker, tasks, waiting)
                if isinstance(said, Done) and number is not None:
                    left -= 1
                    yield tasks[number], said.result

    def _give(self, worker: _Worker, tasks: Sequence[TaskT], waiting: deque[int]) -> None:
        if not waiting:
            return
        number = waiting.popleft()
        worker.task = number
        with contextlib.suppress(OSError):  # dead already: its line says so in a moment
            worker.line.send(tasks[number])

    def _bury(self, worker: _Worker, tasks: Sequence[TaskT], lives: list[int], waiting: deque[int]) -> None:
        """Hire another in its place, which does its task again. Raises LeadlineError after several times."""
        del self._workers[worker.line]
        worker.line.close()
        worker.process.join()
        why = _ended(worker.process.exitcode)
        if worker.task is not None:
            lives[worker.task] += 1
            if lives[worker.task] >= ATTEMPTS:
                raise lost(tasks[worker.task], why)
            waiting.appendleft(worker.task)
        elif not worker.ready:
            self._stillborn += 1
            if self._stillborn >= ATTEMPTS:
                raise LeadlineError(
                    f"worker processes end before they begin: {why}",
                    fix="use fewer workers; a script of your own needs: if __name__ == '__main__'",
                )
        if waiting:
            self.hire(worker.place)
        for idle in self._workers.values():
            if idle.ready and idle.task is None:
                self._give(idle, tasks, waiting)

    def dismiss(self) -> None:
        """End all workers, at once where they have nothing to do, and soon otherwise."""
        for worker in self._workers.values():
            worker.line.close()
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join(_PATIENCE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._workers.clear()


def _serve(line: Connection, load: bytes, device: str | None, share: int) -> None:
    """The life of a worker."""
    # Ctrl-C goes to the whole group of the terminal; the process that hired this one deals with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_until_orphaned, daemon=True).start()
    if device is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = device
    if share > 1:  # of the cores, before torch is imported: several models on one processor
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // share)))
    made = attempt(_made, load)
    if isinstance(made, Failed):
        line.send(made)
        return
    work, ready = made.result
    line.send(_READY)
    with contextlib.suppress(EOFError, OSError):  # the run has ended
        while True:
            line.send(attempt(work, ready, line.recv()))


def _made(load: bytes) -> tuple[Callable[..., Any], Any]:
    work, shared, prepare = pickle.loads(load)
    return work, prepare(shared) if prepare is not None else shared


def _until_orphaned() -> None:
    """End this process when the one that hired it has ended: killed, it cannot say so."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ended(code: int | None) -> str:
    """How a process ended.

    >>> _ended(-9)
    'it was killed (SIGKILL, out of memory?)'
    """
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"it was killed ({name}{', out of memory?' if code == -signal.SIGKILL else ''})"
    return f"it ended with exit code {code}"
