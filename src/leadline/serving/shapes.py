"""Answers as the two APIs write them: whole, and in the chunks of a stream."""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from leadline.engine import TokenLogprob
from leadline.serving import logprobs
from leadline.serving.asking import Asked
from leadline.serving.offer import Offer
from leadline.serving.work import Outcome, Piece

_FINISH = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


def finish_of(outcome: Outcome) -> str:
    """Why a text ended, in the API's words."""
    return _FINISH.get(outcome.finish, "stop")


def usage(asked: Asked, outcomes: Sequence[Outcome]) -> dict[str, int]:
    """What a request cost, in tokens: each prompt once, however many answers it was given."""
    own = sum(outcome.tokens_in for outcome in outcomes)
    prompt = own if asked.prompt_tokens is None else asked.prompt_tokens
    written = sum(outcome.tokens_out for outcome in outcomes)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


class Shape(ABC):
    """The form of one answer."""

    prefix: ClassVar[str]
    whole_object: ClassVar[str]
    chunk_object: ClassVar[str]

    def __init__(self, offer: Offer, asked: Asked, tells_logprobs: bool) -> None:
        self.asked, self.tells_logprobs = asked, tells_logprobs
        self.id = f"{self.prefix}-{uuid.uuid4().hex}"
        self._about = {
            "created": int(time.time()),
            "model": offer.name,
            "system_fingerprint": offer.fingerprint,
        }

    def whole(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The answer to a request that does not stream."""
        choices = [self._choice(outcome) for outcome in sorted(outcomes, key=lambda each: each.choice)]
        about = {"id": self.id, "object": self.whole_object, **self._about}
        return {**about, "choices": choices, "usage": usage(self.asked, outcomes)}

    def opening(self, choice: int) -> dict[str, Any] | None:
        """The chunk that a choice begins with, if any."""
        return None

    @abstractmethod
    def piece(self, piece: Piece) -> dict[str, Any]:
        """A chunk with text."""

    @abstractmethod
    def last(self, outcome: Outcome) -> dict[str, Any]:
        """A choice's last chunk: why it ended."""

    def spent(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The chunk that tells what all of it cost."""
        return {**self._chunk([]), "usage": usage(self.asked, outcomes)}

    @abstractmethod
    def _choice(self, outcome: Outcome) -> dict[str, Any]: ...

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "object": self.chunk_object, **self._about, "choices": choices}


class ChatShape(Shape):
    """chat.completion and chat.completion.chunk."""

    prefix = "chatcmpl"
    whole_object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def opening(self, choice: int) -> dict[str, Any]:
        """Who speaks."""
        return self._delta(choice, {"role": "assistant", "content": ""})

    def piece(self, piece: Piece) -> dict[str, Any]:
        """As `Shape.piece`."""
        found = logprobs.of_chat(piece.logprobs) if self.tells_logprobs else None
        return self._delta(piece.choice, {"content": piece.text}, found)

    def last(self, outcome: Outcome) -> dict[str, Any]:
        """As `Shape.last`."""
        return self._delta(outcome.choice, {}, finish=finish_of(outcome))

    def _delta(
        self,
        choice: int,
        delta: dict[str, Any],
        found: dict[str, Any] | None = None,
        finish: str | None = None,
    ) -> dict[str, Any]:
        return self._chunk([{"index": choice, "delta": delta, "logprobs": found, "finish_reason": finish}])

    def _choice(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "index": outcome.choice,
            "message": {"role": "assistant", "content": outcome.text, "refusal": None},
            "logprobs": logprobs.of_chat(outcome.logprobs) if self.tells_logprobs else None,
            "finish_reason": finish_of(outcome),
        }


class CompletionShape(Shape):
    """text_completion, whole and in chunks."""

    prefix = "cmpl"
    whole_object = "text_completion"
    chunk_object = "text_completion"

    def __init__(self, offer: Offer, asked: Asked, tells_logprobs: bool) -> None:
        super().__init__(offer, asked, tells_logprobs)
        self._told = [len(echo) for echo in asked.echoes]

    def opening(self, choice: int) -> dict[str, Any] | None:
        """The prompt, where it is to be repeated."""
        echo = self.asked.echoes[choice]
        return self._chunk([self._text(choice, echo)]) if echo else None

    def piece(self, piece: Piece) -> dict[str, Any]:
        """As `Shape.piece`."""
        found = self._logprobs(piece.logprobs, self._told[piece.choice]) if self.tells_logprobs else None
        self._told[piece.choice] += len(piece.text)
        return self._chunk([self._text(piece.choice, piece.text, found)])

    def last(self, outcome: Outcome) -> dict[str, Any]:
        """As `Shape.last`."""
        return self._chunk([self._text(outcome.choice, "", finish=finish_of(outcome))])

    def _choice(self, outcome: Outcome) -> dict[str, Any]:
        echo = self.asked.echoes[outcome.choice]
        found = None
        if self.tells_logprobs:
            # Harnesses that score texts ask for one token more and leave the last entry away, so with `echo`
            # every token is told, one that ends the text too.
            written = outcome.logprobs if echo else logprobs.with_text(outcome.logprobs)
            first = echo[: len(echo) - sum(len(one.piece) for one in outcome.scores if one is not None)]
            found = self._logprobs((*outcome.scores, *written), 0, first)
        return self._text(outcome.choice, echo + outcome.text, found, finish_of(outcome))

    def _logprobs(self, found: Sequence[TokenLogprob | None], offset: int, first: str = "") -> dict[str, Any]:
        """`first`: the text of a prompt's first token, which is all that the others leave of the prompt."""
        pieces = [first if one is None else one.piece for one in found]
        return logprobs.of_completion(found, pieces, offset)

    def _text(
        self, choice: int, text: str, found: dict[str, Any] | None = None, finish: str | None = None
    ) -> dict[str, Any]:
        return {"index": choice, "text": text, "logprobs": found, "finish_reason": finish}
