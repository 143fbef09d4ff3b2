"""Telling the user what a long step is doing: on stderr, and never in the way of results on stdout."""

from __future__ import annotations

import sys
from typing import Protocol


class Progress(Protocol):
    """Where `resolve` reports to."""

    def step(self, line: str) -> None:
        """A step that may take a while begins, or something happened that the user should know."""


class Silent:
    """Reports nothing."""

    def step(self, line: str) -> None:
        pass


class PlainLines:
    """One line per step, for logs and pipes."""

    def step(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class Terminal:
    """One dim line per step, for a person at a terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)

    def step(self, line: str) -> None:
        self._console.print(line, style="dim", markup=False, soft_wrap=True)


def on_stderr() -> Progress:
    """The reporter that fits the standard error of this process."""
    return Terminal() if sys.stderr.isatty() else PlainLines()
