"""What is asked of a model, and what comes back. Plain data: any kind of model can answer it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Prompt:
    """Text for a model: one raw `text`, `messages` for the model's own chat template, or token ids.

    `messages` are (role, content) pairs. A raw text is shown to the model as it stands, and so are `tokens`.
    """

    text: str | None = None
    messages: tuple[tuple[str, str], ...] | None = None
    tokens: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if (self.text, self.messages, self.tokens).count(None) != 2:
            raise ValueError("a prompt is either a text, messages or tokens")


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy; else the full distribution is drawn from.

    repetition_penalty: scores of tokens that stand in the prompt or in what was written are divided by it
    where positive and multiplied where negative (Keskar et al. 2019); 1 leaves them alone. top_p: only the
    smallest set of most likely tokens is drawn from whose probability at this temperature reaches it
    (Holtzman et al. 2020); 1 is the full distribution. logprobs: how many alternatives are told beside each
    token that was chosen (see `TokenLogprob`); None tells nothing, 0 the chosen token alone.
    """

    temperature: float = 0.0
    max_tokens: int = 32
    stop: tuple[str, ...] = ()
    repetition_penalty: float = 1.0
    top_p: float = 1.0
    logprobs: int | None = None

    def __post_init__(self) -> None:
        if (
            not 0 <= self.temperature < float("inf")
            or self.max_tokens < 1
            or "" in self.stop
            or not 0 < self.repetition_penalty < float("inf")
            or not 0 <= self.top_p <= 1
            or (self.logprobs is not None and self.logprobs < 0)
        ):
            raise ValueError(f"not a way to choose tokens: {self}")


@dataclass(frozen=True)
class Request:
    """One generation.

    `key` names the randomness: (seed, item, sample, stage). Equal keys draw equal random numbers, whatever
    else is in the batch. `gold` are the answers whose first token is looked up in the distribution at the
    first generated position (see `GoldProbe`). `without` is the prompt without its context, for a technique
    that contrasts the two.
    """

    prompt: Prompt
    sampling: Sampling
    key: tuple[int | str, ...]
    gold: tuple[str, ...] = ()
    without: Prompt | None = None


@dataclass(frozen=True)
class GoldProbe:
    """Where the first token of a gold answer stands in the distribution at the first generated position.

    `rank` is 1 for the most likely token and ties share the best rank; `logprob` is natural. `masked` says
    that a technique had ruled the token out (score −inf): then `rank` is the number of finite scores + 1,
    which all such tokens share.
    """

    answer: str
    token: int
    piece: str
    rank: int
    logprob: float
    masked: bool = False


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely a token was, and what else was likely in its place.

    Natural logarithms, of the scores that the token was chosen from (a technique's and a repetition penalty's
    included) at temperature 1 and without `top_p`. `piece` is what of the text came with this token: nothing
    for the first half of a character, all of it for the last; pieces joined are the text. `bytes` are those
    that the token stands for. `top`: (text, bytes, log-probability) of the most likely tokens, in descending
    order; tokens that a technique rules out are not among them.
    """

    token: int
    piece: str
    bytes: builtins.bytes
    logprob: float
    top: tuple[tuple[str, builtins.bytes, float], ...] = ()


# Told at each token of a request: its index; the text that has become certain since it was last told, perhaps
# none; the log-probabilities of the tokens that this text came with, if asked for. Returning False cancels.
OnText = Callable[[int, str, tuple[TokenLogprob, ...]], bool | None]


@dataclass(frozen=True)
class Failure:
    """A request that could not be answered: the kind of failure in a word, and what happened."""

    kind: str
    message: str


@dataclass(frozen=True)
class Generation:
    """What one request gave: the raw text (stop string cut off), why it ended, and what it cost.

    `finish`: "stop" (a stop string or the end-of-text token), "length" (`max_tokens` reached), "cancelled"
    (by whoever was told of the text as it came; `text` is what was told) or "content_filter" (a provider's).
    `token_ids` include the token that ended the text. `details`: what a decoding technique decided at each
    step (see its `scores`), by name. `logprobs`: one for each of `token_ids`, where they were asked for.
    `generated`: how many tokens, where only their number is known.
    """

    text: str
    finish: str
    prompt_tokens: int
    token_ids: tuple[int, ...]
    probes: tuple[GoldProbe, ...] = field(default=())
    details: dict[str, list[Any]] = field(default_factory=dict)
    logprobs: tuple[TokenLogprob, ...] = ()
    generated: int | None = None

    @property
    def tokens_out(self) -> int:
        """How many tokens were generated, or 0 where nobody said."""
        return len(self.token_ids) if self.generated is None else self.generated
