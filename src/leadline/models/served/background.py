"""The thread in which requests are under way: an event loop that does single attempts and reports them.

What is asked, when, and what follows from an answer is decided by the caller's thread alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# What `take` gives when it was woken, not told of anything.
WOKEN = -1


class Background:
    """Runs coroutines by ticket; each puts (ticket, its result or its exception) where `take` finds it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # Its `put` may be called in a signal handler that interrupted a `get`.
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._thread = threading.Thread(target=self._run, name="served-model", daemon=True)
        self._thread.start()

    def do(self, function: Callable[[], T]) -> T:
        """Call `function` in the thread and wait for it."""

        async def call() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()

    def start(self, ticket: int, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Set `coroutine` going."""
        self._loop.call_soon_threadsafe(self._start, ticket, coroutine)

    def take(self, timeout: float | None) -> tuple[int, Any] | None:
        """The next result; None after `timeout` seconds without one."""
        try:
            return self._done.get(timeout=timeout)
        except queue.Empty:
            return None

    def wake(self) -> None:
        """Make `take` return (WOKEN, None)."""
        self._done.put((WOKEN, None))

    def cancel(self, tickets: list[int]) -> None:
        """Break off what is under way; nothing is heard of it again."""

        async def cancel() -> None:
            tasks = [task for ticket in tickets if (task := self._tasks.pop(ticket, None)) is not None]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=2) if tasks else None

        if tickets and self._thread.is_alive():
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(cancel(), self._loop).result(timeout=5)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Break everything off, run `last`, and end the thread. May be called twice."""
        if not self._thread.is_alive():
            return
        self.cancel(list(self._tasks))

        async def end() -> None:
            if last is not None:
                # A connection that does not close in order is closed by the end of the process.
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(last(), 2)
            await self._loop.shutdown_asyncgens()

        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _start(self, ticket: int, coroutine: Coroutine[Any, Any, Any]) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks[ticket] = task
        task.add_done_callback(lambda done: self._finished(ticket, done))

    def _finished(self, ticket: int, task: asyncio.Task[Any]) -> None:
        if self._tasks.pop(ticket, None) is None or task.cancelled():
            return
        self._done.put((ticket, task.exception() or task.result()))
