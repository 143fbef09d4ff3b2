"""Hands tasks to workers and takes what they give, whatever becomes of them: for all kinds of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from leadline.errors import LeadlineError
from leadline.workers.attempt import Died, Done, Failed, Part, Ready
from leadline.workers.engine import TaskT
from leadline.workers.source import ATTEMPTS, Source


class Crew(Protocol):
    """The workers of one run, by number."""

    stillborn: str  # what to do when workers end before they begin

    def hire(self, number: int) -> None:
        """Start a worker; `next` tells when it is ready."""

    def next(self) -> tuple[int, Ready | Part | Done | Failed | Died]:
        """Wait until a worker has something to say: its number, and what."""

    def give(self, number: int, task: object) -> None:
        """Give a worker that has none its next task. One that has died says so by `next`."""

    def dismiss(self) -> None:
        """End all workers."""


def hand_out(crew: Crew, source: Source[TaskT], workers: int) -> Iterator[tuple[TaskT, Any]]:
    """What `workers` workers at most make of the tasks of `source`, as it comes. See `Engine.run`."""
    hired = stillborn = 0
    starting: set[int] = set()
    idle: list[int] = []
    given: dict[int, TaskT] = {}

    def hire() -> None:
        nonlocal hired
        starting.add(hired)
        crew.hire(hired)
        hired += 1

    def give() -> None:
        for number in list(idle):
            if (task := source.take(number)) is None:
                continue
            idle.remove(number)
            given[number] = task
            crew.give(number, task)

    try:
        for _ in range(source.staff(workers)):
            hire()
        while source.is_open():
            give()
            if not given and not starting:
                if not source.is_open():  # a source may find out only when it is asked
                    break
                raise RuntimeError("something is left, and nobody is given it")
            number, said = crew.next()
            starting.discard(number)
            if isinstance(said, Failed):
                raise said.again()
            if isinstance(said, Part):
                yield given[number], said.result
            elif isinstance(said, Died):
                if number not in given and number not in idle:
                    stillborn += 1
                    if stillborn >= ATTEMPTS:
                        raise LeadlineError(f"workers end before they begin: {said.why}", fix=crew.stillborn)
                source.lost(number, given.pop(number, None), said.why, said.who)
                if number in idle:
                    idle.remove(number)
                give()
                if source.is_waiting or not (idle or given or starting):
                    hire()
            else:
                idle.append(number)
                task = given.pop(number, None)
                if task is None or not isinstance(said, Done):
                    continue
                source.done(number, task)
                # The next task first: whoever takes the result may take its time.
                give()
                for result in said.results:
                    yield task, result
    finally:
        crew.dismiss()
