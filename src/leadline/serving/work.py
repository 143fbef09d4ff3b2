"""A client's request while it is answered: its choices on their way, and what its client is told of them."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

from leadline.engine import Generation, TokenLogprob
from leadline.serving.asking import Call, Choice, Scoring
from leadline.serving.problem import ProblemError

Scores = tuple[TokenLogprob | None, ...]


@dataclass(frozen=True)
class Piece:
    """Text of a choice that has become certain, and the log-probabilities of its tokens if asked for."""

    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...]


@dataclass(frozen=True)
class Outcome:
    """A choice as it ended: its text, why it ended, and the tokens that all its calls took and wrote."""

    choice: int
    text: str
    finish: str
    tokens_in: int
    tokens_out: int
    logprobs: tuple[TokenLogprob, ...] = ()
    scores: Scores = ()


Event = Piece | Outcome | ProblemError


@dataclass(eq=False)
class Row:
    """One choice on its way: what it asks next, and what it has had so far."""

    work: Work
    number: int
    choice: Choice
    step: Call | Scoring
    scores: Scores = ()
    last: Generation | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    told: int = 0  # characters and
    told_tokens: int = 0  # log-probabilities that the client has been sent

    @property
    def kind(self) -> tuple[object, ...]:
        """Rows of one kind can run together."""
        scoring = self.step.top if isinstance(self.step, Scoring) else None
        return id(self.choice.intervention), scoring


@dataclass(eq=False)
class Work:
    """A client's request while it is answered. `events` are for the thread of `loop`."""

    streams: bool
    loop: asyncio.AbstractEventLoop
    events: asyncio.Queue[Event] = field(default_factory=asyncio.Queue)
    pending: deque[Row] = field(default_factory=deque)
    gone: bool = False
    started: bool = False

    def tell(self, event: Event) -> None:
        """From any thread. A loop that has ended has nobody who listens."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.events.put_nowait, event)
