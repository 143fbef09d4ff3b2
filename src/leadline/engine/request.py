"""What is asked of a model, and what comes back. Plain data: any kind of model can answer it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Prompt:
    """Text for a model: either one raw `text`, or `messages` for the model's own chat template.

    `messages` are (role, content) pairs. A raw text is shown to the model as it stands.
    """

    text: str | None = None
    messages: tuple[tuple[str, str], ...] | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.messages is None):
            raise ValueError("a prompt is either a text or messages")


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy; else the full distribution is drawn from."""

    temperature: float = 0.0
    max_tokens: int = 32
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf") or self.max_tokens < 1 or "" in self.stop:
            raise ValueError(f"not a way to choose tokens: {self}")


@dataclass(frozen=True)
class Request:
    """One generation.

    `key` names the randomness: (seed, item, sample, stage). Equal keys draw equal random numbers, whatever
    else is in the batch. `gold` are the answers whose first token is looked up in the distribution at the
    first generated position (see `GoldProbe`).
    """

    prompt: Prompt
    sampling: Sampling
    key: tuple[int | str, ...]
    gold: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Failure:
    """A request that could not be answered: the kind of failure in a word, and what happened."""

    kind: str
    message: str


@dataclass(frozen=True)
class Generation:
    """What one request gave: the raw text (stop string cut off), why it ended, and what it cost.

    `finish`: "stop" (a stop string or the end-of-text token) or "length" (`max_tokens` reached).
    `token_ids` include the token that ended the text.
    """

    text: str
    finish: str
    prompt_tokens: int
    token_ids: tuple[int, ...]
    probes: tuple[GoldProbe, ...] = field(default=())
