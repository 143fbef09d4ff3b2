"""Takes answers as they come and stores them, whoever gave them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType

from leadline.engine import Failure
from leadline.models.served import LASTING
from leadline.study.progress import Reporter
from leadline.study.store import Key, Store
from leadline.study.wanted import Wanted
from leadline.techniques import Answer

# Answers wait this long at most before they are stored: what a sudden end can lose.
FLUSH_SECONDS = 1.0


@dataclass
class Asked:
    """What became of asking: answers drawn, those that were there, calls that failed, by kind, now and (for
    good) in earlier runs; and answers that took the place of empty ones."""

    drawn: int = 0
    kept: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    refilled: int = 0
    lasting: int = 0


@dataclass
class Shelf:
    """Takes what comes, and stores it: what a provider was paid for at once, else about once a second.

    What is in hand when a batch ends is stored, whatever ends it.
    """

    store: Store
    identifier: str
    run: int
    todo: Wanted
    reporter: Reporter
    found: Asked
    at_once: bool
    ready: list[tuple[Key, Answer]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    first: Failure | None = None
    flushed: float = 0.0

    def __enter__(self) -> None:
        self.flushed = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            # An interrupt may have come after storing a part of it and before forgetting that part.
            there = self.store.answered(self.identifier, self.run)
            self.ready = [pair for pair in self.ready if pair[0] not in there]
        self.flush()

    def put(self, key: Key, answer: Answer | Failure) -> None:
        """Take an answer, or note that there is none."""
        if isinstance(answer, Failure):
            self.store.add_failure(self.identifier, self.run, key, answer.kind, answer.message)
            self.first = self.first or answer
            self.failed[answer.kind] += 1
            self.found.failed[answer.kind] += 1
            # What a provider refused it would refuse again; what failed here is tried again in any case.
            self.found.lasting += self.at_once and answer.kind in LASTING
            return
        self.ready.append((key, answer))
        if self.at_once or time.monotonic() - self.flushed >= FLUSH_SECONDS:
            self.flush()
            self.flushed = time.monotonic()

    def flush(self) -> None:
        """Store what is in hand."""
        if not self.ready:
            return
        again = [pair for pair in self.ready if pair[0] in self.todo.again]
        self.store.add(
            self.identifier, self.run, [pair for pair in self.ready if pair[0] not in self.todo.again]
        )
        self.store.add_again(self.identifier, self.run, again)
        self.found.drawn += len(self.ready)
        self.found.refilled += len(again)
        self.reporter.advance(len(self.ready), sum(answer.tokens_out for _, answer in self.ready))
        self.ready.clear()
