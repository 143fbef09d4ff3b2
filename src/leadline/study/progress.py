"""How far a run is: bars on a terminal, lines now and then in a log, nothing when quiet. Always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from rich.progress import Progress

# One answer in so many must be there before the time that is left is told.
_ENOUGH = 20


class Reporter(Protocol):
    """What a run tells of itself."""

    def note(self, line: str) -> None:
        """Something that the user should know."""

    def begin(self, label: str, total: int, done: int) -> None:
        """A configuration begins: `total` answers, of which `done` are there from before."""

    def advance(self, answers: int, tokens: int) -> None:
        """`answers` more are stored, which took `tokens` generated tokens."""

    def spent(self, words: str) -> None:
        """What asking took so far, where that is counted: requests, tokens, money."""

    def end(self) -> None:
        """The configuration is complete."""

    def beside(self) -> Reporter:
        """A reporter for a configuration that is asked at the same time."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Quiet:
    """Says nothing."""

    def note(self, line: str) -> None: ...

    def begin(self, label: str, total: int, done: int) -> None: ...

    def advance(self, answers: int, tokens: int) -> None: ...

    def spent(self, words: str) -> None: ...

    def end(self) -> None: ...

    def beside(self) -> Reporter:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...


class Log(Quiet):
    """Plain lines: one when a configuration begins and ends, and one every `interval` seconds in between."""

    def __init__(self, interval: float = 10.0) -> None:
        self._interval = interval
        self._label, self._total, self._done = "", 0, 0
        self._spent = ""
        self._before = self._tokens = 0
        self._started = self._said = 0.0

    def note(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def begin(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._done, self._before, self._tokens = label, total, done, done, 0
        self._started = self._said = time.monotonic()
        if done == total:
            self.note(f"{label}: {total:,} answers are there")
        elif done:
            self.note(f"{label}: {done:,} of {total:,} answers are there, going on")

    def advance(self, answers: int, tokens: int) -> None:
        self._done += answers
        self._tokens += tokens
        self._tell()

    def spent(self, words: str) -> None:
        self._spent = words
        self._tell()

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._said >= self._interval and self._done < self._total:
            self._said = now
            elapsed = now - self._started
            drawn = self._done - self._before
            # Answers of a batch come together at its end: the first few say nothing of the rate.
            enough = drawn * _ENOUGH >= self._total - self._before
            left = f", about {elapsed / drawn * (self._total - self._done):,.0f} s left" if enough else ""
            self.note(
                f"{self._label}: {self._done:,} of {self._total:,} answers, "
                f"{self._tokens / elapsed:,.0f} tokens/s{left}{self._so_far}"
            )

    def end(self) -> None:
        if self._done > self._before:
            elapsed = time.monotonic() - self._started
            self.note(
                f"{self._label}: {self._done - self._before:,} answers in {elapsed:,.1f} s, "
                f"{self._tokens / max(elapsed, 1e-9):,.0f} tokens/s{self._so_far}"
            )

    def beside(self) -> Reporter:
        return Log(self._interval)

    @property
    def _so_far(self) -> str:
        return f"; so far {self._spent}" if self._spent else ""


class Bars(Quiet):
    """One bar per configuration, with rate and time left; those of others stand `among` them."""

    def __init__(self, among: Progress | None = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._progress = among or Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", style="dim"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: object = None
        self._started, self._tokens = 0.0, 0
        self._spent = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._progress.stop()

    def note(self, line: str) -> None:
        self._progress.console.print(line, style="dim", markup=False, highlight=False)

    def begin(self, label: str, total: int, done: int) -> None:
        self._task = self._progress.add_task(label, total=total, completed=done, rate="")
        self._started, self._tokens = time.monotonic(), 0

    def advance(self, answers: int, tokens: int) -> None:
        self._tokens += tokens
        self._show(answers)

    def spent(self, words: str) -> None:
        self._spent = f" · {words}"
        if self._task is not None:
            self._show(0)

    def _show(self, answers: int) -> None:
        rate = self._tokens / max(time.monotonic() - self._started, 1e-9)
        words = f"{rate:,.0f} tok/s{self._spent}"
        self._progress.update(self._task, advance=answers, rate=words)  # type: ignore[arg-type]

    def end(self) -> None:
        self._progress.refresh()

    def beside(self) -> Reporter:
        return Bars(self._progress)


def reporter(quiet: bool) -> Reporter:
    """The reporter that fits this process's standard error."""
    if quiet:
        return Quiet()
    return Bars() if sys.stderr.isatty() else Log()
