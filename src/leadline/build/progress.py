"""How far a build is: bars on a terminal, lines now and then in a log, nothing when quiet. On stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self


def shown(line: str) -> str:
    """`line` as one line that a terminal does not obey: names of files and pages may hold anything.

    >>> print(shown("shard\\x1b[2J\\n.gz: broken 1"))
    shard\\x1b[2J\\n.gz: broken 1
    """
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)


class Progress(Protocol):
    """What a build tells of itself. Units are what the stage counts: pages, facts, bytes."""

    def note(self, line: str) -> None:
        """Something that the user should know."""

    def begin(self, stage: str, total: int | None, unit: str) -> None:
        """A stage begins; `total` is None where it is not known."""

    def advance(self, done: int) -> None:
        """So many units more are done."""

    def end(self, line: str) -> None:
        """The stage has ended; `line` says what came out."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Quiet:
    """Says nothing."""

    def note(self, line: str) -> None: ...

    def begin(self, stage: str, total: int | None, unit: str) -> None: ...

    def advance(self, done: int) -> None: ...

    def end(self, line: str) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...


class Log(Quiet):
    """A line when a stage ends, and one every `interval` seconds in between, with rate and time left."""

    def __init__(self, interval: float = 10.0) -> None:
        self._interval = interval
        self._stage, self._unit, self._total, self._done = "", "", 0, 0
        self._started = self._said = 0.0

    def note(self, line: str) -> None:
        print(shown(line), file=sys.stderr, flush=True)

    def begin(self, stage: str, total: int | None, unit: str) -> None:
        self._stage, self._unit, self._total, self._done = stage, unit, total or 0, 0
        self._started = self._said = time.monotonic()

    def advance(self, done: int) -> None:
        self._done += done
        now = time.monotonic()
        if now - self._said >= self._interval:
            self._said = now
            rate = self._done / max(now - self._started, 1e-9)
            of = f" of {self._total:,}" if self._total else ""
            left = f", about {(self._total - self._done) / rate:,.0f} s left" if self._total and rate else ""
            self.note(f"{self._stage}: {self._done:,}{of} {self._unit}, {rate:,.0f} a second{left}")

    def end(self, line: str) -> None:
        self.note(f"{self._stage}: {line} ({time.monotonic() - self._started:,.1f} s)")


class Bars(Quiet):
    """One bar for each stage, with its rate."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[rate]}", style="dim"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: object = None
        self._stage, self._unit, self._done, self._started = "", "", 0, 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._progress.stop()

    def note(self, line: str) -> None:
        self._progress.console.print(shown(line), style="dim", markup=False, highlight=False)

    def begin(self, stage: str, total: int | None, unit: str) -> None:
        if self._task is not None:  # a stage may count one thing after another
            self._progress.remove_task(self._task)  # type: ignore[arg-type]
        self._stage, self._unit, self._done, self._started = stage, unit, 0, time.monotonic()
        self._task = self._progress.add_task(stage, total=total, rate="")

    def advance(self, done: int) -> None:
        self._done += done
        rate = self._done / max(time.monotonic() - self._started, 1e-9)
        words = f"{self._done:,} {self._unit}, {rate:,.0f}/s"
        self._progress.update(self._task, advance=done, rate=words)  # type: ignore[arg-type]

    def end(self, line: str) -> None:
        self._progress.remove_task(self._task)  # type: ignore[arg-type]
        self._task = None
        self.note(f"{self._stage}: {line} ({time.monotonic() - self._started:,.1f} s)")


def progress(quiet: bool) -> Progress:
    """What fits this process's standard error."""
    if quiet:
        return Quiet()
    return Bars() if sys.stderr.isatty() else Log()
