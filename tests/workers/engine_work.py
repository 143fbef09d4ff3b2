"""Work for engines: functions of a module, as stages have them."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.bench.whole_file import whole_file
from leadline.errors import LeadlineError, UsageError


class OddError(Exception):
    """One that does not survive pickling."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def table(shared: dict[str, Any]) -> dict[str, Any]:
    """Prepared once in each worker: leaves a line for each time."""
    with Path(shared["log"]).open("a") as log:
        log.write(f"{os.getpid()}\n")
    return {**shared, "squares": [number * number for number in range(shared["size"])]}


def squared(ready: dict[str, Any], number: int) -> int:
    """Looks a square up."""
    return int(ready["squares"][number])


def written(folder: str, number: int) -> int:
    """Writes a part file of its own and says who it was."""
    time.sleep(0.05)
    with whole_file(Path(folder) / f"{number:05d}.txt") as file:
        file.write(hashlib.sha256(str(number).encode()).hexdigest().encode())
    return os.getpid()


def killed_once(folder: str, number: int) -> int:
    """As `written`, but the first worker that is given the task 3 is killed within it."""
    mark = Path(folder) / "killed"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return written(folder, number)


def deadly(folder: str, number: int) -> int:
    """Task 2 kills every worker."""
    if number == 2:
        with (Path(folder) / "lives").open("a") as log:
            log.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def failing(kind: str, number: int) -> int:
    """Raises on the task 1."""
    if number != 1:
        return number
    if kind == "usage":
        raise UsageError("the shard is odd", where="shard-1.jsonl:7", fix="mend it")
    if kind == "odd":
        raise OddError("no", "pickle")
    return [][number]  # a bug


def unprepared(shared: object) -> object:
    """Cannot be prepared."""
    raise LeadlineError("the model is not there", fix="get it")


def stillborn(shared: object) -> object:
    """Dies while it prepares."""
    os._exit(7)


def slow(seconds: float, number: int) -> int:
    """Sleeps."""
    time.sleep(seconds)
    return number


def busy(rounds: int, number: int) -> int:
    """Keeps one core busy, with the lock of the interpreter held."""
    total = 0
    for one in range(rounds):
        total += one * number % 7
    return total


def same(shared: object, task: object) -> object:
    """Gives back what it was given."""
    return task


def noted(folder: str, number: int) -> int:
    """Says who works, in the name of a file, and works for a minute."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)
    return number


def device(seconds: float, number: int) -> str | None:
    """Which device a worker sees."""
    time.sleep(seconds)
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def threads(shared: object, number: int) -> str | None:
    """How many threads a worker is to use."""
    return os.environ.get("OMP_NUM_THREADS")


def told_by(wrapped: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """The work that is wrapped, and what it is given."""
    work, shared, prepare = wrapped
    return work, prepare(shared) if prepare is not None else shared


def with_pid(ready: tuple[Any, Any], task: Any) -> tuple[int, Any]:
    """What the wrapped work gives, and which process did it."""
    work, given = ready
    return os.getpid(), work(given, task)


def in_parts(folder: str, number: int) -> Iterator[int]:
    """Ten times the number, one more, and so on; the first worker at 3 is killed after two of them."""
    for part in range(4):
        yield number * 10 + part
        mark = Path(folder) / "killed"
        if number == 3 and part == 1 and not mark.exists():
            time.sleep(0.3)  # what was given is on its way
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
