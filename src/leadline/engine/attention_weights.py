"""What a model attends to while it writes: the weights of every head, for the newest token alone.

Fast attention never holds its weights, so a model gives none under it. The prompt is computed with it all the
same; only the steps after it run with the attention that has weights, and the model's own is put back after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.lm import CausalLM
from leadline.engine.plan import PlannedBatch
from leadline.errors import UsageError


@contextmanager
def with_weights(model: Any) -> Iterator[None]:
    """Within this context `model` computes its attention so that its weights can be read."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def attended(
    lm: CausalLM, prompt: Sequence[int], limit: int, ends: frozenset[int]
) -> tuple[list[int], Tensor]:
    """Writes greedily after `prompt` (at least two tokens), up to `limit` tokens or one of `ends`.

    Returns the tokens and `[tokens, layers, heads]`: the position in the text, from 0, to which each head
    attended most when it predicted that token. The prompt but for its last token is computed once, without
    weights, and each token after it once, with them; one step's weights are held at a time. Raises UsageError
    for a model with layers that have none.
    """
    model = lm.model
    written: list[int] = []
    looked: list[Tensor] = []
    first = torch.zeros(1, dtype=torch.long, device=lm.device)
    with lm.running(in_blocks=False):
        batch, _ = plain.prefill(
            model, PlannedBatch(0, (tuple(prompt[:-1]),), ((0,),)), lm.device, row_prompt=first
        )
        token = torch.tensor([prompt[-1]], device=lm.device)
        with with_weights(model):
            while len(written) < limit and not (written and written[-1] in ends):
                logits, weights = plain.step_with_weights(model, batch, token)
                if len(weights) != lm.layers or any(layer is None for layer in weights):
                    raise UsageError(
                        f"{type(model).__name__} has layers without attention weights",
                        where=lm.name,
                        fix="no retrieval heads can be found in it; name heads, or let them be drawn",
                    )
                token = logits.argmax(-1)
                written.append(int(token[0]))
                # A layer with a window holds its last keys only, so positions count from the end.
                here = batch.ids.shape[1]
                top = [here - layer.shape[-1] + layer[0, :, -1].argmax(-1).cpu() for layer in weights]
                looked.append(torch.stack(top))
    return written, torch.stack(looked)
