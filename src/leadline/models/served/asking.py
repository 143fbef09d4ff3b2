"""Asks many requests side by side: which one next, which one again, and when to stop.

All of this happens in the caller's thread, between one answer and the next, so that every decision is made,
and every row of the ledger written, in one order.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.engine import Failure, Generation, Request
from leadline.models.served.answer_cache import AnswerCache
from leadline.models.served.attempt import Reply, attempt, read_result
from leadline.models.served.background import WOKEN, Background
from leadline.models.served.backoff import LONGEST_WISH, Backoff, Pause
from leadline.models.served.interrupt import Interrupt
from leadline.models.served.ledger import BudgetExhausted, Ledger
from leadline.models.served.settings import ServedSettings
from leadline.models.served.standing import ProviderFailed, Standing
from leadline.models.served.worst_case import PromptBound, most_generated

# After Ctrl-C, answers that are under way have so long to come.
_GRACE = 10.0
Outcome = tuple[int, Generation | Failure]


@dataclass(frozen=True)
class Asker:
    """What asking needs of the model."""

    settings: ServedSettings
    api: Any
    ledger: Ledger
    background: Background
    standing: Standing
    bound: PromptBound
    backoff: Backoff
    cache: AnswerCache | None
    note: Callable[[str], None]
    # A request as inspect-ai's messages and GenerateConfig.
    prepared: Callable[[Request], tuple[list[Any], Any]]


@dataclass
class _Flight:
    index: int
    row: int
    messages: list[Any]
    config: Any


@dataclass
class Asking:
    """One call of `generate`: its requests, and where each stands."""

    asker: Asker
    requests: Sequence[Request]
    interrupt: Interrupt
    ready: deque[int] = field(init=False)
    later: list[tuple[float, int]] = field(default_factory=list)
    flying: dict[int, _Flight] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    pause: Pause = field(default_factory=Pause)
    # Why nothing more is asked. The budget's reason falls away where an answer cost less than it might have.
    ending: BudgetExhausted | ProviderFailed | None = None
    waiting_told: bool = False
    _ticket: int = 0

    def __post_init__(self) -> None:
        self.ready = deque(range(len(self.requests)))

    def run(self) -> Iterator[Outcome]:
        """Answers and failures as they come. Raises what ended the asking, once all in flight came."""
        try:
            while self.ready or self.later or self.flying:
                if not self._is_ending:
                    yield from self._send()
                if not self.flying and (self._is_ending or not (self.ready or self.later)):
                    break  # the rest was in the cache, or is not asked
                if (done := self.asker.background.take(self._patience())) is None or done[0] == WOKEN:
                    if self._out_of_patience:
                        break
                    continue
                yield from self._landed(*done)
        finally:
            self._break_off()
        if self.interrupt.at is not None:
            raise KeyboardInterrupt
        if self.ending is not None:
            raise self.ending

    @property
    def _is_ending(self) -> bool:
        if self.interrupt.at is not None and self.flying and not self.waiting_told:
            self.waiting_told = True
            number = len(self.flying)
            answers = "1 answer" if number == 1 else f"{number:,} answers"
            self.asker.note(f"interrupted: waiting for {answers} on the way (Ctrl-C again: at once)")
        return self.ending is not None or self.interrupt.at is not None

    @property
    def _out_of_patience(self) -> bool:
        return self.interrupt.at is not None and time.monotonic() >= self.interrupt.at + _GRACE

    def _send(self) -> Iterator[Outcome]:
        """Send what may be sent now. Answers from the cache come at once."""
        while self.later and self.later[0][0] <= time.monotonic():
            self.ready.appendleft(heapq.heappop(self.later)[1])
        while self.ready and len(self.flying) < self.asker.settings.connections:
            if self.interrupt.at is not None or time.monotonic() < self.pause.until:
                return
            index = self.ready[0]
            if index not in self.attempts and self._others_wait:
                return
            request = self.requests[index]
            messages, config = self.asker.prepared(request)
            if (known := self._from_cache(request, messages, config)) is not None:
                self.ready.popleft()
                yield index, known
                continue
            try:
                row = self.asker.ledger.open(
                    request.key,
                    requests=1,
                    tokens_in=self.asker.bound.of(request.prompt),
                    tokens_out=most_generated(request, self.asker.settings.options),
                    price=self.asker.settings.price,
                )
            except BudgetExhausted as exhausted:
                if not self.flying:
                    self.ending = exhausted
                return
            self.ready.popleft()
            self._ticket += 1
            self.flying[self._ticket] = _Flight(index, row, messages, config)
            self.asker.background.start(
                self._ticket, attempt(self.asker.api, messages, config, self.asker.settings.timeout)
            )

    @property
    def _others_wait(self) -> bool:
        """Whether so many requests wait for another attempt that no new one should fall into the same hole. A
        server that never answered is tried with as many requests as there are connections, and no more."""
        waiting = len(self.later)
        if self.asker.standing.answered == 0:
            waiting += len(self.flying)
        return waiting >= self.asker.settings.connections

    def _patience(self) -> float | None:
        """Seconds until something is to be done even if nothing comes."""
        until = []
        if self.interrupt.at is not None:
            until.append(self.interrupt.at + _GRACE)
        elif not self._is_ending:
            if self.later and len(self.flying) < self.asker.settings.connections:
                until.append(max(self.later[0][0], self.pause.until))
            if self.ready and self.pause.until > time.monotonic():
                until.append(self.pause.until)
        return max(0.0, min(until) - time.monotonic()) if until else None

    def _landed(self, ticket: int, result: Reply | BaseException) -> Iterator[Outcome]:
        """An attempt came to its end."""
        flight = self.flying.pop(ticket)
        if isinstance(result, BaseException):  # a fault of ours: attempts turn all others into replies
            self.asker.ledger.close(flight.row, outcome="cancelled")
            raise result
        request = self.requests[flight.index]
        self.attempts[flight.index] = self.attempts.get(flight.index, 0) + 1
        if result.trouble is not None:
            yield from self._failed(flight, result)
            return
        self._close(flight.row, result)
        self.pause.answered()
        self.asker.standing.answer(result)
        if result.tokens_in is not None:
            self.asker.bound.learn(request.prompt, result.tokens_in)
        if self.asker.cache is not None and result.output is not None:
            self.asker.cache.put(request.key, flight.messages, flight.config, result.output)
        yield flight.index, _generation(result)

    def _failed(self, flight: _Flight, reply: Reply) -> Iterator[Outcome]:
        trouble = reply.trouble
        assert trouble is not None
        self._close(flight.row, reply)
        number = self.attempts[flight.index]
        patient = trouble.wait is None or trouble.wait <= LONGEST_WISH
        again = trouble.passes and patient and number <= self.asker.settings.retries
        if self._is_ending:
            # As at any other time, but nothing is tried again, and nothing more is said of the provider.
            if again or self.asker.standing.is_about_all(trouble):
                return  # neither an answer nor a failure: a later run asks it
        elif (stop := self.asker.standing.stop(trouble, given_up=not again)) is not None:
            self.ending = stop
            if self.asker.standing.is_about_all(trouble):
                return
        if again and self.ending is None:
            seconds = self.asker.backoff.wait(number, trouble.wait)
            heapq.heappush(self.later, (time.monotonic() + seconds, flight.index))
            if trouble.kind == "rate_limited":
                self.pause.limited(seconds)
            return
        message = trouble.message
        if number > 1:
            message += f" ({number} attempts)"
        elif not patient:
            message += f" (and wants {trouble.wait:,.0f} s of patience)"
        yield flight.index, Failure(trouble.kind, message)

    def _close(self, row: int, reply: Reply) -> None:
        trouble, price = reply.trouble, self.asker.settings.price
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        if trouble is not None and (trouble.status is not None or trouble.unsent):
            tokens_in = tokens_out = 0  # refused or never there: a provider charges for what it generates
        cost = None
        if price is None:
            cost = 0.0
        elif tokens_in is not None and tokens_out is not None:
            cost = price.of(tokens_in, tokens_out)
        self.asker.ledger.close(
            row,
            outcome="answer" if trouble is None else trouble.kind,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost,
            model=reply.model,
            fingerprint=reply.fingerprint,
            finish=reply.raw_finish,
            seconds=reply.seconds,
        )

    def _from_cache(self, request: Request, messages: list[Any], config: Any) -> Generation | None:
        cache = self.asker.cache
        output = cache.get(request.key, messages, config) if cache is not None else None
        if output is None or not output.choices:
            return None
        reply = read_result(output, self.asker.api, 0.0)
        row = self.asker.ledger.open(request.key, requests=0, tokens_in=0, tokens_out=0, price=None)
        self.asker.ledger.close(
            row,
            outcome="answer",
            tokens_in=0,
            tokens_out=0,
            cost=0.0,
            model=reply.model,
            finish=reply.raw_finish,
            cached=True,
        )
        return _generation(reply)

    def _break_off(self) -> None:
        """What is still under way when everything ends: nobody hears of it; it may have cost its worst."""
        self.asker.background.cancel(list(self.flying))
        for flight in self.flying.values():
            self.asker.ledger.close(flight.row, outcome="cancelled")
        self.flying.clear()


def _generation(reply: Reply) -> Generation:
    return Generation(
        text=reply.text,
        finish=reply.finish,
        prompt_tokens=reply.tokens_in or 0,
        token_ids=(),
        generated=reply.tokens_out or 0,
    )
