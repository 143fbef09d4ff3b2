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
    lm: CausalLM, prompts: Sequence[Sequence[int]], limit: int, ends: frozenset[int]
) -> list[tuple[list[int], Tensor]]:
    """Writes greedily after each of `prompts`, which are of one length (at least two tokens): up to `limit`
    tokens or one of `ends`.

    Returns per prompt the tokens and `[tokens, layers, heads]`: the position in the text, from 0, to which
    each head attended most when it predicted that token. Prompts but for their last token are computed once,
    without weights, and each token after that once, with them; one step's weights are held at a time. Raises
    UsageError for a model with layers that have none.
    """
    rows = torch.arange(len(prompts), device=lm.device)
    shorter = tuple(tuple(prompt[:-1]) for prompt in prompts)
    written: list[Tensor] = []
    looked: list[Tensor] = []
    over = torch.zeros(len(prompts), dtype=torch.bool, device=lm.device)
    last = torch.tensor(sorted(ends), dtype=torch.long, device=lm.device)
    with lm.running(in_blocks=False):
        planned = PlannedBatch(0, shorter, tuple((row,) for row in range(len(prompts))))
        batch, _ = plain.prefill(lm.model, planned, lm.device, rows)
        tokens = torch.tensor([prompt[-1] for prompt in prompts], device=lm.device)
        with with_weights(lm.model):
            while len(written) < limit and not bool(over.all()):
                logits, weights = plain.step_with_weights(lm.model, batch, tokens)
                looked.append(_tops(lm, weights, batch.ids.shape[1]))
                tokens = logits.argmax(-1)
                written.append(tokens)
                over |= torch.isin(tokens, last)
    found = []
    for texts, tops in zip(torch.stack(written, 1).tolist(), torch.stack(looked, 1), strict=True):
        end = next((at + 1 for at, token in enumerate(texts) if token in ends), len(texts))
        found.append((texts[:end], tops[:end]))
    return found


def _tops(lm: CausalLM, weights: Sequence[Tensor | None], tokens: int) -> Tensor:
    """Where each head attends most, `[rows, layers, heads]`, in a text of so many tokens."""
    tops = []
    for layer in weights:
        if layer is None:
            continue
        # A layer with a window holds its last keys only, so positions count from the end.
        tops.append(tokens - layer.shape[-1] + layer[:, :, -1].argmax(-1).cpu())
    if len(tops) != lm.layers:
        raise UsageError(
            f"{type(lm.model).__name__} has layers without attention weights",
            where=lm.name,
            fix="no retrieval heads can be found in it; name heads, or let them be drawn",
        )
    return torch.stack(tops, 1)
