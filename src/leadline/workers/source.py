"""Where the tasks of a run come from."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from leadline.errors import LeadlineError

TaskT = TypeVar("TaskT")
# So often the same task may end the life of its worker (killed, out of memory) before the run ends.
ATTEMPTS = 3


class Source(Protocol[TaskT]):
    """Gives out tasks, where which is next depends on who asks and on what has come. Workers are numbered in
    the order in which they were hired; one that takes the place of a dead one has a number of its own."""

    def is_open(self) -> bool:
        """Whether any result is still to come."""

    @property
    def is_waiting(self) -> bool:
        """Whether there is something that nobody works on."""

    def staff(self, workers: int) -> int:
        """Told before the run how many workers there may be; says how many of them have something to do."""

    def take(self, worker: int) -> TaskT | None:
        """The next task of `worker`, which has none; None where there is nothing for it now."""

    def done(self, worker: int, task: TaskT) -> None:
        """The task is done, and all results of it but the last have been given on."""

    def lost(self, worker: int, task: TaskT | None, why: str, who: str = "a worker") -> None:
        """The worker (`who`, in words) died, over this task if it had one; what of it had come has been given
        on. Raises LeadlineError where the same has happened too often."""


class Queue(Generic[TaskT]):
    """One task after the other, whoever asks."""

    def __init__(self, tasks: Sequence[TaskT]) -> None:
        self._tasks = tasks
        self._waiting = deque(range(len(tasks)))
        self._given: dict[int, int] = {}
        self._lives = [0] * len(tasks)
        self._left = len(tasks)

    def is_open(self) -> bool:
        """As `Source.is_open`."""
        return self._left > 0

    @property
    def is_waiting(self) -> bool:
        """As `Source.is_waiting`."""
        return bool(self._waiting)

    def staff(self, workers: int) -> int:
        """As `Source.staff`."""
        return min(workers, len(self._tasks))

    def take(self, worker: int) -> TaskT | None:
        """As `Source.take`."""
        if not self._waiting:
            return None
        self._given[worker] = number = self._waiting.popleft()
        return self._tasks[number]

    def done(self, worker: int, task: TaskT) -> None:
        """As `Source.done`."""
        del self._given[worker]
        self._left -= 1

    def lost(self, worker: int, task: TaskT | None, why: str, who: str = "a worker") -> None:
        """As `Source.lost`: the task is given out again, first of all."""
        number = self._given.pop(worker, None)
        if number is None:
            return
        self._lives[number] += 1
        if self._lives[number] >= ATTEMPTS:
            raise no_survivor(self._tasks[number], why)
        self._waiting.appendleft(number)


def as_source(tasks: Sequence[TaskT] | Source[TaskT]) -> Source[TaskT]:
    """Tasks one after the other, or the source that they come from."""
    return Queue(tasks) if isinstance(tasks, Sequence) else tasks


def no_survivor(task: object, why: str) -> LeadlineError:
    """What is said of a task that no worker survives."""
    name = repr(task)
    return LeadlineError(
        f"no worker survives the task {name[:200]}{'…' if len(name) > 200 else ''}: {why}, {ATTEMPTS} times",
        fix="give each worker more memory: fewer workers",
    )
