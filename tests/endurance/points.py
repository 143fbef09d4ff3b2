"""Processes of `leadline` that kill themselves at a given point of what they do with files and databases.

A moment that is drawn seldom hits the first write or the last one. A point does: opening a file to write,
renaming or removing one, and every statement that changes a SQLite database is one, counted from 1 in the
order in which a process comes to them, within one folder.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.study.forks import Forks, Process, serve

# What tells of files besides opening them to write.
_TOLD = frozenset(("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"))
_READS = ("SELECT", "PRAGMA QUICK_CHECK", "PRAGMA USER_VERSION;", "PRAGMA SCHEMA_VERSION", "EXPLAIN", "--")


@dataclass
class Points:
    """Counts the points of this process, and kills it at one. `point` 0: it is only counted."""

    within: str
    point: int
    counted: int
    seen: int = 0

    def touch(self) -> None:
        """Here is a point."""
        self.seen += 1
        os.pwrite(self.counted, b"%d" % self.seen, 0)
        if self.seen == self.point:
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(self, text: str) -> None:
        """A statement that a database is about to do."""
        if not text.lstrip().upper().startswith(_READS):
            self.touch()

    def watch(self, event: str, given: tuple[Any, ...]) -> None:
        """As an audit hook."""
        writes = event == "open" and isinstance(given[2], int) and given[2] & (os.O_CREAT | os.O_TRUNC)
        if (writes or event in _TOLD) and self.within in str(given[0]):
            self.touch()


def arm(asked: Mapping[str, Any]) -> None:
    """Count, and kill at, the points that what started this process names."""
    if "counted" in asked:
        handle = os.open(asked["counted"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        points = Points(asked["within"], asked["point"], handle)
        sys.addaudithook(points.watch)
        connect = sqlite3.connect

        def traced(*given: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*given, **named)
            connection.set_trace_callback(points.statement)
            return connection

        sqlite3.connect = traced  # type: ignore[assignment]


class Killable(Forks):
    """Starts them."""

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch, "tests.endurance.points")
        self._counts = scratch

    def start_at(self, point: int, within: Path, *arguments: str | Path) -> Process:
        """`leadline` with these arguments, killed at a point in the folder `within`; 0: not at all."""
        counted = self._counts / f"{self._count + 1}.points"
        return self.start(*arguments, within=str(within), point=point, counted=str(counted))


def points_of(process: Process) -> int:
    """To how many points a process came that was started with `start_at`."""
    return int(process.out.with_suffix(".points").read_text() or 0)


if __name__ == "__main__":
    import inspect_ai.model  # noqa: F401

    from leadline.build import run  # noqa: F401
    from leadline.bundle import release  # noqa: F401
    from leadline.review import start as review_start  # noqa: F401
    from leadline.serving import start as serving_start  # noqa: F401

    serve(arm)
