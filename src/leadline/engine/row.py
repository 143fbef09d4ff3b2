"""One sequence while it is written: its tokens, its text as far as it is certain, and where it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.engine.detokenise import Detokeniser
from leadline.engine.lm import CausalLM
from leadline.engine.request import Generation, GoldProbe, Request, TokenLogprob
from leadline.engine.stops import StopWatch, held_back
from leadline.engine.token_bytes import TokenBytes
from leadline.errors import LeadlineError

# Of a token: its log-probability, and the likeliest tokens with theirs.
Logprob = tuple[float, tuple[tuple[int, float], ...]]


@dataclass
class Row:
    """`answers` are the requests that this row answers: more than one where they would come out the same.

    `unfolding` is there where the text is told as it comes, or told token by token.
    """

    lm: CausalLM
    request: Request
    answers: list[int]
    prompt_tokens: int
    stop: StopWatch
    unfolding: Detokeniser | None
    probes: tuple[GoldProbe, ...] = ()
    ids: list[int] = field(default_factory=list)
    details: dict[str, list[Any]] = field(default_factory=dict)
    logprobs: list[Logprob] = field(default_factory=list)
    _told: int = 0  # characters
    _told_tokens: int = 0

    def add(self, token: int, logprob: Logprob | None, details: Mapping[str, Any]) -> Generation | None:
        """The newest token, and what was decided about it. Gives the generation if it ends with it."""
        self.ids.append(token)
        for name, entry in details.items():
            self.details.setdefault(name, []).append(entry)
        if logprob is not None:
            self.logprobs.append(logprob)
        ended = token in self.lm.end_tokens
        if self.unfolding is not None and not ended:
            self.unfolding.push(token)
        cut = self.stop.cut(self.ids)
        if cut is None and not ended and len(self.ids) < self.request.sampling.max_tokens:
            return None
        text = cut
        if text is None:
            text = self.lm.decode(self.ids[:-1] if ended else self.ids)
        return self._generation(text, "stop" if cut is not None or ended else "length", self.details)

    def certain(self) -> tuple[str, tuple[TokenLogprob, ...]]:
        """What has become certain of the text since this was last asked, and the tokens that are all told."""
        assert self.unfolding is not None
        text = self.unfolding.text
        held = held_back(text, self.request.sampling.stop)
        begin, self._told = self._told, len(text) - held
        ends, first = self.unfolding.ends, self._told_tokens
        last = first
        while last < self.unfolding.settled and ends[last] <= self._told:
            last += 1
        self._told_tokens = last
        starts = [ends[first - 1] if first else 0, *ends[first:last]]
        pieces = [text[start:end] for start, end in zip(starts, ends[first:last], strict=False)]
        return text[begin : self._told], self._spelt(pieces, first)

    def rest(self, whole: Generation) -> tuple[str, tuple[TokenLogprob, ...]]:
        """What `certain` has not told of the `whole`."""
        assert self.unfolding is not None
        if not whole.text.startswith(self.unfolding.text[: self._told]):
            raise LeadlineError(
                "this tokenizer's text cannot be told token by token",
                where=self.lm.name,
                fix="ask for whole answers (no streaming)",
            )
        return whole.text[self._told :], whole.logprobs[self._told_tokens :]

    def cancelled(self) -> Generation:
        """As it stands: the text that was told."""
        assert self.unfolding is not None
        details = {name: list(entries) for name, entries in self.details.items()}
        return self._generation(self.unfolding.text[: self._told], "cancelled", details)

    def _generation(self, text: str, finish: str, details: dict[str, list[Any]]) -> Generation:
        pieces: list[str] = []
        if self.logprobs and self.unfolding is not None:
            pieces = self.unfolding.pieces(text)
            pieces += [""] * (len(self.ids) - len(pieces))  # the token that ended the text
        return Generation(
            text=text,
            finish=finish,
            prompt_tokens=self.prompt_tokens,
            token_ids=tuple(self.ids),
            probes=self.probes,
            details=details,
            logprobs=self._spelt(pieces, 0),
        )

    def _spelt(self, pieces: Sequence[str], first: int) -> tuple[TokenLogprob, ...]:
        """The tokens from `first` on, one for each of `pieces`."""
        if not self.logprobs:
            return ()
        spelling = self.lm.token_bytes
        return tuple(
            spelt(spelling, self.ids[at], piece, self.logprobs[at]) for at, piece in enumerate(pieces, first)
        )


def spelt(spelling: TokenBytes, token: int, piece: str, found: Logprob) -> TokenLogprob:
    """A token's log-probability as it is handed out. A special token adds no byte to a text."""
    own = b"" if token in spelling.special and not piece else spelling.of(token)
    logprob, top = found
    best = tuple(
        (spelling.of(each).decode("utf-8", "replace"), spelling.of(each), value) for each, value in top
    )
    return TokenLogprob(token, piece, own, logprob, best)
