"""Work in several processes of this machine."""

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

from leadline.workers.attempt import Died, Done, Failed, Part, Ready, attempt
from leadline.workers.devices import cores, devices_here
from leadline.workers.engine import ResultT, TaskT
from leadline.workers.handing_out import hand_out
from leadline.workers.source import Source, as_source

# Not forked: a fork of a process with threads (torch, polars) may stand still for ever.
_CONTEXT = multiprocessing.get_context("spawn")
# So long a worker that was asked to end may take, in seconds, before it is killed.
_PATIENCE = 2.0


class Processes:
    """See `Engine`. Workers live as long as one run; they end with this process, however it ends."""

    name = "process"

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT | Iterator[ResultT]],
        tasks: Sequence[TaskT] | Source[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """Each worker is given the next task when it has done one."""
        source = as_source(tasks)
        if not source.is_open():
            return
        places = devices_here() if devices else ()
        count = len(places) or self.workers
        # Pickled once: `shared` may be a hundred thousand sentences.
        load = pickle.dumps((work, shared, prepare), pickle.HIGHEST_PROTOCOL)
        crew = _Crew(load, places[:count], min(count, source.staff(count)) if devices and not places else 1)
        yield from hand_out(crew, source, count)

    def check(self, paths: Iterable[Path]) -> None:
        """Workers of this machine see what this process sees."""


@dataclass
class _Worker:
    number: int
    place: str | None
    process: SpawnProcess
    line: Connection


class _Crew:
    """See `Crew`: processes that listen at the other end of a pipe."""

    stillborn = "use fewer workers; a script of your own needs: if __name__ == '__main__'"

    def __init__(self, load: bytes, places: Sequence[str], share: int) -> None:
        self._load, self._share = load, share
        self._places = deque(places)  # accelerators that nobody has
        self._workers: dict[int, _Worker] = {}
        self._speaking: deque[_Worker] = deque()

    def hire(self, number: int) -> None:
        """Start a process."""
        ours, theirs = _CONTEXT.Pipe()
        place = self._places.popleft() if self._places else None
        process = _CONTEXT.Process(
            target=_serve, args=(theirs, self._load, place, self._share), daemon=True, name="leadline-worker"
        )
        process.start()
        theirs.close()  # so that the end of the worker is the end of the line
        self._workers[number] = _Worker(number, place, process, ours)

    def next(self) -> tuple[int, Ready | Part | Done | Failed | Died]:
        """Everybody who has something to say is heard once, before anybody is heard again."""
        if not self._speaking:
            lines = {worker.line: worker for worker in self._workers.values()}
            self._speaking.extend(lines[line] for line in wait(list(lines)))  # type: ignore[index]
        worker = self._speaking.popleft()
        try:
            said: Ready | Part | Done | Failed = worker.line.recv()
        except (EOFError, OSError):
            del self._workers[worker.number]
            worker.line.close()
            worker.process.join()
            if worker.place is not None:
                self._places.append(worker.place)
            who = f"the worker in process {worker.process.pid}"
            return worker.number, Died(_ended(worker.process.exitcode), who)
        return worker.number, said

    def give(self, number: int, task: object) -> None:
        """Send it."""
        with contextlib.suppress(OSError):  # dead already: its line says so in a moment
            self._workers[number].line.send(task)

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
    (made,) = attempt(_made, load)
    if not isinstance(made, Done):
        line.send(made)
        return
    ((work, ready),) = made.results
    with contextlib.suppress(EOFError, OSError):  # the run has ended
        line.send(Ready())
        while True:
            for said in attempt(work, ready, line.recv()):
                line.send(said)


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
