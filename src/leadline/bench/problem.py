"""What is wrong with a benchmark, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from leadline.errors import UsageError

# Somebody who has a thousand problems has one problem a thousand times; the rest would only hide it.
MAX_PROBLEMS = 1000


@dataclass(frozen=True)
class Problem:
    """One fault. `where` is "file:line" or "file:line:column", from 1; `rule` is the rule that found it."""

    where: str
    message: str
    item: str | None = None
    fix: str = ""
    rule: str = "format"
    severity: Literal["error", "warning"] = "error"

    def line(self) -> str:
        """`file:line: error: item ID: message (fix)`, the form that editors and terminals make clickable."""
        item = f"item {self.item}: " if self.item else ""
        fix = f" ({self.fix})" if self.fix else ""
        return f"{self.where}: {self.severity}: {item}{self.message}{fix}"


class TooManyProblemsError(Exception):
    """The list is full: reading on would not help anybody."""


@dataclass
class Problems:
    """Collects problems up to `MAX_PROBLEMS`, then stops the reading with `TooManyProblemsError`.

    `left_out` counts the rows that are no items, by reason, and `notes` what else is worth saying, by what it
    is: neither is a fault.
    """

    found: list[Problem] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, where: str, message: str, *, item: str | None = None, fix: str = "") -> None:
        """Note one fault of the file format."""
        self.found.append(Problem(where=where, message=message, item=item, fix=fix))
        if len(self.found) >= MAX_PROBLEMS:
            raise TooManyProblemsError

    def cut_short(self) -> None:
        """Called after the problem that ended a file: its other rows were not seen."""


class FirstProblem(Problems):
    """Raises UsageError at the first problem: for whoever cannot go on with a faulty benchmark."""

    def add(self, where: str, message: str, *, item: str | None = None, fix: str = "") -> None:
        """Raise it."""
        raise UsageError(f"item {item}: {message}" if item else message, where=where, fix=fix)


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """A hint towards the known word that is nearest to `word`, or `otherwise`."""
    near = difflib.get_close_matches(word[:100], list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def shortened(text: str, limit: int = 40) -> str:
    """`text` as a short quoted word for a message: escaped, never longer than `limit` characters or so."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
