"""The interface of a decoding technique: scores for the next token from what the model computed for it.

The same object serves the engine's own loop (`lanes.py`) and an ordinary `transformers` model
(`session.py`). It holds no state of any generation. This file and `intervention.py` import no torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.anatomy import Anatomy
    from leadline.engine.edits import HeadMask


@dataclass(frozen=True)
class Lane:
    """A second forward pass beside the model's own, fed the same new tokens, with its own cache.

    One of: `mask`, the same model with masked heads; `amateur`, another model (a `CausalLM`); neither: the
    same model after another prompt (`Request.without`).
    """

    mask: HeadMask | None = None
    everywhere: bool = False
    amateur: Any = None


@dataclass
class Seen:
    """What the model computed for the next token of some rows.

    logits: `[rows, vocabulary]` float32. residuals: by place, `[rows, hidden]` (see `anatomy`). contexts: per
    row the residual stream at its prompt's positions, `[tokens, hidden]`. lane: the second pass's logits.
    """

    anatomy: Anatomy
    logits: Tensor
    residuals: dict[int, Tensor] = field(default_factory=dict)
    contexts: Sequence[Tensor] = ()
    lane: Tensor | None = None


@dataclass
class Scores:
    """values: `[rows, vocabulary]`, −inf where a token is ruled out; the greedy choice is the largest, and
    sampling takes them for logits. details: what was decided on the way, one entry per row."""

    values: Tensor
    details: dict[str, list[Any]] = field(default_factory=dict)


class Decoding(ABC):
    """A decoding technique, ready for one model."""

    places: tuple[int, ...] = ()  # of the residual stream, read at each scored position
    context: int | None = None  # place of the residual stream that is kept for all prompt positions
    lane: Lane | None = None

    @abstractmethod
    def scores(self, seen: Seen) -> Scores:
        """Scores of the next token. Each row's depend on that row alone."""
