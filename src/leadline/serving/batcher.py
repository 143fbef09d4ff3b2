"""Requests that wait are answered together: one thread owns the model and takes what is there, in batches.

A batch runs to its end; what comes meanwhile waits for the next one. Of each request in turn one choice is
taken, so that nobody who asks for a hundred choices keeps the others waiting. Choices under the same
intervention run together. What a choice gives does not depend on its company (see `engine/decode.py`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
import uuid
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from typing import Any

from leadline.engine import Failure, Generation, TokenLogprob
from leadline.errors import LeadlineError
from leadline.models.memory import OUT_OF_MEMORY, is_out_of_memory
from leadline.serving.asking import Asked, Call, Scoring
from leadline.serving.offer import Offer
from leadline.serving.problem import TOO_LONG, ProblemError, busy, ending, failed, too_large
from leadline.serving.work import Outcome, Piece, Row, Scores, Work

logger = logging.getLogger("leadline.serving")

# Requests that are sent at the same moment come some milliseconds apart: an idle server waits for them.
_GATHER_SECONDS = 0.004
# How long the end of a server waits for the thread that computes.
_JOIN_SECONDS = 20.0


class Batcher:
    """Answers what is submitted, on a thread of its own between `start` and `close`."""

    def __init__(self, offer: Offer, *, max_batch: int = 64, max_waiting: int = 256) -> None:
        """At most `max_batch` choices run at once; more than `max_waiting` waiting requests are refused."""
        self.offer = offer
        self.max_batch, self.max_waiting = max_batch, max_waiting
        self.running = 0
        self._waiting: deque[Work] = deque()
        self._changed = threading.Condition()
        self._closed = self._draining = False
        self._seconds = 1.0  # that a batch takes, smoothed
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to answer."""
        if self._thread is None:
            self._closed = self._draining = False
            self._thread = threading.Thread(target=self._serve, name="leadline-batcher", daemon=True)
            self._thread.start()

    def drain(self) -> None:
        """Refuse what comes and what waits; what has begun goes on."""
        with self._changed:
            self._draining = True
            refused = [work for work in self._waiting if not work.started]
            self._waiting = deque(work for work in self._waiting if work.started)
        for work in refused:
            work.tell(ending())

    def cut(self) -> None:
        """Stop: what runs ends at its next token, and its client is told. Waits for nothing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Stop: what runs is cut short, what waits is refused."""
        self.cut()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
            self._thread = None

    @property
    def waiting(self) -> int:
        """Requests of which nothing has been computed yet."""
        with self._changed:
            return sum(not work.started for work in self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        with self._changed:
            return not self._waiting and not self.running

    def submit(self, asked: Asked, streams: bool) -> Work:
        """Have it answered; called from the thread of an event loop, which the events then reach.

        Raises ProblemError: 429 where enough is waiting, 503 at the end.
        """
        work = Work(streams, asyncio.get_running_loop())
        for number, choice in enumerate(asked.choices):
            step = next(choice.talk, None)
            if step is None:  # nothing is to be computed: no tokens are wanted
                work.tell(Outcome(number, "", "length", 0, 0))
            else:
                work.pending.append(Row(work, number, choice, step))
        with self._changed:
            if self._closed or self._draining:
                raise ending()
            if sum(not each.started for each in self._waiting) >= self.max_waiting:
                raise busy(self._wait())
            if work.pending:
                self._waiting.append(work)
                self._changed.notify_all()
        return work

    def forget(self, work: Work) -> None:
        """The client has gone or heard enough: what waits is dropped, what runs ends at its next token."""
        with self._changed:
            work.gone = True
            with suppress(ValueError):
                self._waiting.remove(work)

    def _wait(self) -> int:
        """Seconds until what is waiting now has probably been answered."""
        rows = sum(len(work.pending) for work in self._waiting)
        return max(1, min(60, math.ceil(self._seconds * (1 + rows / self.max_batch))))

    # What follows runs on the batcher's own thread.

    def _serve(self) -> None:
        while batch := self._take():
            begun = time.monotonic()
            self._answer(batch)
            self.running = 0
            self._seconds += 0.3 * (time.monotonic() - begun - self._seconds)
        with self._changed:
            for work in self._waiting:
                work.tell(ending())
            self._waiting.clear()

    def _take(self) -> list[Row]:
        """The next batch; none at the end."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                end = time.monotonic() + _GATHER_SECONDS
                while not self._closed and (left := end - time.monotonic()) > 0:
                    self._changed.wait(left)
            if self._closed:
                return []
            batch: list[Row] = []
            kind = self._waiting[0].pending[0].kind
            grown = True
            while grown and len(batch) < self.max_batch:
                grown = False
                for work in self._waiting:
                    if len(batch) < self.max_batch and work.pending and work.pending[0].kind == kind:
                        batch.append(work.pending.popleft())
                        work.started = grown = True
            self._waiting = deque(work for work in self._waiting if work.pending)
            self.running = len(batch)
            return batch

    def _answer(self, batch: Sequence[Row], again: bool = False) -> None:
        """Run a step of each row. What that leaves undone runs `again`, each row alone: it fails for itself,
        and where a text cannot be told as it comes, those who wait for all of it get it."""
        left = dict(enumerate(batch))
        try:
            with closing(self._run(batch, again)) as found:
                for at, answer in found:
                    self._advance(left.pop(at), answer)
        except Exception as error:
            for row in left.values():
                if again:
                    self._fail(row, error)
                else:
                    self._answer([row], again=True)

    def _run(
        self, batch: Sequence[Row], again: bool
    ) -> Generator[tuple[int, Generation | Failure | Scores], None, None]:
        intervention = batch[0].choice.intervention
        if isinstance(batch[0].step, Scoring):
            from leadline.engine.score import score

            texts = [row.step.ids for row in batch if isinstance(row.step, Scoring)]
            yield from enumerate(
                score(self.offer.lm, texts, intervention, [1] * len(texts), batch[0].step.top)
            )
            return
        heard = [0] * len(batch), [0] * len(batch)  # of this run: characters, tokens

        def on_text(at: int, text: str, logprobs: tuple[TokenLogprob, ...]) -> bool:
            row, step = batch[at], batch[at].step
            if row.work.gone or self._closed:
                return False
            if row.work.streams and isinstance(step, Call) and step.shown and (text or logprobs):
                # A row that runs a second time says again what it has said.
                new = text[max(0, row.told - heard[0][at]) :]
                fresh = logprobs[max(0, row.told_tokens - heard[1][at]) :]
                heard[0][at] += len(text)
                heard[1][at] += len(logprobs)
                row.told, row.told_tokens = max(row.told, heard[0][at]), max(row.told_tokens, heard[1][at])
                if new or fresh:
                    row.work.tell(Piece(row.number, new, fresh))
            return True

        requests = [row.step.request for row in batch if isinstance(row.step, Call)]
        whole = again and not batch[0].work.streams
        told = None if whole else on_text
        yield from self.offer.model.generate(requests, intervention, on_text=told)

    def _advance(self, row: Row, answer: Any) -> None:
        """What a row asks next, or how it ends."""
        if row.work.gone:
            row.choice.talk.close()
            return
        if isinstance(answer, Failure):
            if answer.kind == OUT_OF_MEMORY:
                row.work.tell(too_large())
                return
            code = TOO_LONG if answer.kind == "too_long" else answer.kind
            row.work.tell(ProblemError(400, answer.message, code=code))
            return
        if isinstance(answer, Generation):
            if answer.finish == "cancelled":
                row.work.tell(ending())
                return
            row.last = answer
            row.tokens_in += answer.prompt_tokens
            row.tokens_out += len(answer.token_ids)
        else:
            row.scores = answer
        try:
            row.step = row.choice.talk.send(answer)
        except StopIteration:
            row.work.tell(_outcome(row))
            return
        row.told = row.told_tokens = 0
        with self._changed:  # what has begun comes first
            if not row.work.gone:
                row.work.pending.appendleft(row)
                if row.work not in self._waiting:
                    self._waiting.appendleft(row.work)

    def _fail(self, row: Row, error: Exception) -> None:
        if isinstance(error, LeadlineError):  # what the request asks for cannot be: not a bug
            row.work.tell(ProblemError(400, str(error)))
            return
        if is_out_of_memory(error):
            row.work.tell(too_large())
            return
        identifier = f"fault-{uuid.uuid4().hex[:12]}"
        logger.error("%s: a request could not be answered", identifier, exc_info=error)
        row.work.tell(failed(identifier))


def _outcome(row: Row) -> Outcome:
    last = row.last
    if last is None:  # a text was scored, and nothing was written
        return Outcome(row.number, "", "length", 0, 0, scores=row.scores)
    return Outcome(
        row.number, last.text, last.finish, row.tokens_in, row.tokens_out, last.logprobs, row.scores
    )
