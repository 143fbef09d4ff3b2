"""What a forward pass is about: which of its positions predict answers, and which rows have heads masked.

Hooks on a model's parts cannot see this themselves. Whoever calls the model says it: the engine in
`lm.forward`, and `session.py` for a model that is called the ordinary way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

# From the last prompt token on (it predicts the first answer token) | generated tokens only | every token.
Positions = Literal["last", "generated", "all"]


@dataclass(frozen=True)
class Pass:
    """One forward pass over `[rows, tokens]`.

    answer_from: `[rows]` index within the pass from which on positions predict an answer: that of the last
    prompt token. None: this pass holds no such position (a prefix). decoding: the pass feeds generated tokens
    back, so every position is one. real: `[rows, tokens]` False where padded; None: nothing is padded on the
    left. masked: `[rows]` rows whose listed heads are masked; None: none. everywhere: those heads are masked
    at every position, not only from `answer_from` on.
    """

    answer_from: Tensor | None = None
    decoding: bool = False
    real: Tensor | None = None
    masked: Tensor | None = None
    everywhere: bool = False

    def chosen(self, positions: Positions, tokens: int) -> Tensor | bool:
        """Which positions are meant: `[rows, tokens]`, or True for all and False for none."""
        if self.decoding or positions == "all":
            return True if self.real is None or self.decoding else self.real
        if self.answer_from is None:
            return False
        after = 1 if positions == "generated" else 0
        index = torch.arange(tokens, device=self.answer_from.device)
        found = index >= self.answer_from[:, None] + after
        return found if self.real is None else found & self.real


_current: ContextVar[Pass] = ContextVar("leadline_pass")


@contextmanager
def passing(this: Pass) -> Iterator[None]:
    """Within this context the model's hooks see `this` pass."""
    token = _current.set(this)
    try:
        yield
    finally:
        _current.reset(token)


def current_pass() -> Pass | None:
    """The pass that is going on, if anybody said."""
    return _current.get(None)


_world: ContextVar[object] = ContextVar("leadline_world", default=None)


@contextmanager
def afresh() -> Iterator[None]:
    """Within this context the model computes as it is, whatever has been applied to it outside: techniques
    are fitted to the model and not to what others have made of it."""
    token = _world.set(object())
    try:
        yield
    finally:
        _world.reset(token)


def world() -> object:
    """What is applied here acts only where this is the same object."""
    return _world.get()
