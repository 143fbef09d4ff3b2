"""Ctrl-C while requests are under way: no new ones, and those that are paid for are waited for a moment."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

# Within this many seconds a second Ctrl-C is the same one.
_MOMENT = 0.5


@dataclass
class Interrupt:
    """Whether somebody pressed Ctrl-C, and when (`time.monotonic`)."""

    at: float | None = None


@contextmanager
def interrupts(wake: Callable[[], None]) -> Iterator[Interrupt]:
    """Within this context the first Ctrl-C is noted, and `wake` called; the second one interrupts as always.

    Where signals do not come (another thread than the first, a script in the background), nothing is changed.
    """
    noted = Interrupt()
    before: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield noted
        return

    def handle(number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if noted.at is None:
            noted.at = now
            wake()
        elif now - noted.at >= _MOMENT:
            before(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
