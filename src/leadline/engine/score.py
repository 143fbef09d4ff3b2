"""How likely given texts are, token by token, under a model and what a technique does to it."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.engine.intervention import NOTHING, Intervention
from leadline.engine.lm import CausalLM
from leadline.engine.request import TokenLogprob


def score(
    lm: CausalLM,
    texts: Sequence[tuple[int, ...]],
    intervention: Intervention = NOTHING,
    prompts: Sequence[int] = (),
    top: int = 0,
) -> list[tuple[TokenLogprob | None, ...]]:
    """Log-probabilities of the tokens of `texts`: per text one for each token, None for the first."""
    raise NotImplementedError
