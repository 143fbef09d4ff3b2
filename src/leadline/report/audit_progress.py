"""How far an audit is: a bar on a terminal, a line now and then in a log, nothing when quiet. On stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Seconds between two lines in a log.
_INTERVAL = 10.0


@contextmanager
def audit_progress(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Gives what `audit` calls with the number of further items that are finished; None when quiet.

    A benchmark is read as it streams, so nobody knows beforehand how many items there will be.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _log()


def _bar() -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("auditing: {task.completed:,.0f} items"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda more: bar.advance(task, more)


def _log() -> Callable[[int], None]:
    done, said = 0, time.monotonic()

    def advance(more: int) -> None:
        nonlocal done, said
        done += more
        if time.monotonic() - said >= _INTERVAL:
            said = time.monotonic()
            print(f"auditing: {done:,} items", file=sys.stderr, flush=True)

    return advance
