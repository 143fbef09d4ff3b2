"""The most that a request can cost, before it is sent, and the seed that goes with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.engine import Prompt, Request

# Chat templates lay a few tokens around each message, and some add a system message of their own.
_FOR_THE_PROMPT = 64
_FOR_A_MESSAGE = 16


@dataclass
class PromptBound:
    """How many tokens a prompt can have at most: a token of a byte-level tokenizer stands for a byte or more.

    Where a provider counts more than that (a long system message of its own), later bounds are raised by as
    much. `beyond` is what was seen so far.

    >>> bound = PromptBound()
    >>> bound.of(Prompt(text="abc"))
    67
    >>> bound.learn(Prompt(text="abc"), 100); bound.of(Prompt(text="abcd"))
    101
    """

    beyond: int = 0

    def of(self, prompt: Prompt) -> int:
        """The bound, in tokens."""
        return _bytes_of(prompt) + self.beyond

    def learn(self, prompt: Prompt, tokens: int) -> None:
        """A provider counted `tokens` in `prompt`."""
        self.beyond = max(self.beyond, tokens - _bytes_of(prompt))


def _bytes_of(prompt: Prompt) -> int:
    if prompt.messages is not None:
        size = sum(len(content.encode()) + _FOR_A_MESSAGE for _, content in prompt.messages)
    elif prompt.text is not None:
        size = len(prompt.text.encode())
    else:
        size = len(prompt.tokens or ())
    return size + _FOR_THE_PROMPT


def most_generated(request: Request, options: Mapping[str, Any]) -> int:
    """The most tokens that `request` lets a model generate. Tokens of reasoning that were asked for come on
    top of the answer's with some providers."""
    extra = options.get("reasoning_tokens")
    return request.sampling.max_tokens + (extra if isinstance(extra, int) else 0)


def key_text(key: tuple[int | str, ...]) -> str:
    """A request's key as a text that no other key has.

    >>> key_text((0, "q1", 2, "answer"))
    '[0, "q1", 2, "answer"]'
    """
    return json.dumps(list(key), ensure_ascii=False)


def seed_of(key: tuple[int | str, ...]) -> int:
    """31 bits that belong to `key`: what providers take as a seed. Another sample has another one.

    >>> seed_of((0, "q1", 0)) == seed_of((0, "q1", 1))
    False
    """
    return int.from_bytes(hashlib.sha256(key_text(key).encode()).digest()[:4], "big") >> 1
