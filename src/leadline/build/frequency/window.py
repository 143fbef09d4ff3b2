"""The months over which page views are summed, and which files of views lie in them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UsageError

# pageviews-20230320-user.bz2 of a day, pageviews-202303-user.bz2 of a month; people's views, not programs'.
_NAME = re.compile(r"pageviews-(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?-(user|spider|automated)\b")
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


@dataclass(frozen=True)
class Window:
    """First and last month, both included, as "2021-03"; "" is open."""

    start: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        for month in (self.start, self.end):
            if month and not _MONTH.fullmatch(month):
                raise UsageError(f"not a month: {month!r}", where="frequency", fix="such as 2021-03")
        if self.start and self.end and self.start > self.end:
            raise UsageError(f"ends ({self.end}) before it begins ({self.start})", where="frequency")

    def holds(self, month: str) -> bool:
        """Whether a month lies in it."""
        return (not self.start or self.start <= month) and (not self.end or month <= self.end)

    def months(self) -> tuple[str, ...]:
        """All its months; none where an end is open.

        >>> Window("2021-11", "2022-02").months()
        ('2021-11', '2021-12', '2022-01', '2022-02')
        """
        if not (self.start and self.end):
            return ()
        return tuple(_months(self.start, self.end))

    def __str__(self) -> str:
        return f"{self.start or '…'} to {self.end or '…'}"


@dataclass(frozen=True)
class Chosen:
    """The files whose rows are summed, and what was noticed about the others.

    `days`: how many days the files count, of how many in the window (an open window has the months that there
    are files of); None where a file's name says no date.
    """

    files: tuple[Path, ...]
    months: tuple[str, ...]
    notes: tuple[str, ...] = ()
    days: tuple[int, int] | None = None


def choose(paths: Iterable[Path], window: Window) -> Chosen:
    """The files that lie in the window.

    Files of other months, and of views by programs ("spider", "automated"), are left out with a note; so are
    names without a date, unless the window is open at both ends. Months of the window without a file or with
    only some of their days get a note, since those views are missing from every sum. Raises UsageError where
    a month comes both whole and in days, or twice, which would count views twice, and where no file is left.
    """
    notes: list[str] = []
    files: list[Path] = []
    days: dict[str, dict[str, Path]] = {}  # month -> day or "" -> file
    for path in paths:
        found = _NAME.search(path.name)
        if found is None:
            if window.start or window.end:
                notes.append(f"{path.name} left out: its name says no date")
            else:
                files.append(path)
            continue
        month, day, agent = f"{found[1]}-{found[2]}", found[3] or "", found[4]
        if agent != "user":
            notes.append(f"{path.name} left out: views by programs, not by people")
        elif not window.holds(month):
            notes.append(f"{path.name} left out: not in the window {window}")
        else:
            held = days.setdefault(month, {})
            if other := held.get(day) or (
                held.get("") or (next(iter(held.values()), None) if not day else None)
            ):
                what = f"counts what {other.name} counts as well"
                raise UsageError(what, where=str(path), fix="name either the month or its days, once")
            held[day] = path
            files.append(path)
    months = window.months() or tuple(sorted(days))
    counted = {month: _days(month) if "" in held else len(held) for month, held in days.items()}
    for month in months:
        if month not in days:
            notes.append(f"no file of {month}: its views are missing")
        elif lacking := _days(month) - counted[month]:
            missing = f"the views of {lacking} are missing"
            notes.append(f"files of {counted[month]} of the {_days(month)} days of {month}: {missing}")
    if not files:
        raise UsageError(
            f"no file of page views lies in the window {window}",
            where="frequency.pageviews",
            fix="; ".join(notes[:2]) or "name files such as pageviews-202103-user.bz2",
        )
    dated = sum(len(held) for held in days.values()) == len(files)
    whole = (sum(counted.values()), sum(map(_days, months)))
    return Chosen(tuple(files), tuple(sorted(days)), tuple(notes), whole if dated else None)


def _days(month: str) -> int:
    return calendar.monthrange(int(month[:4]), int(month[5:]))[1]


def _months(start: str, end: str) -> Iterator[str]:
    year, month = int(start[:4]), int(start[5:])
    while (name := f"{year:04d}-{month:02d}") <= end:
        yield name
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
