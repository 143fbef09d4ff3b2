"""Reading the residual stream and the heads of a model while it computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from leadline.engine.anatomy import Anatomy


@contextmanager
def residuals(anatomy: Anatomy, places: Iterable[int]) -> Iterator[dict[int, Tensor]]:
    """Within this context each forward pass leaves, by place, the residual stream `[rows, tokens, hidden]`.

    Place l (see `anatomy`) is read where it enters the next part, so whatever changes a block's output, by
    hooks installed earlier or later, is seen.
    """
    found: dict[int, Tensor] = {}
    handles = []
    try:
        for place in dict.fromkeys(places):
            part = anatomy.final_norm if place == anatomy.layers else anatomy.blocks[place]

            def keep(module: nn.Module, args: Any, kwargs: Any, place: int = place) -> None:
                found[place] = args[0] if args else kwargs["hidden_states"]

            handles.append(part.register_forward_pre_hook(keep, with_kwargs=True))
        yield found
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def head_outputs(anatomy: Anatomy, layers: Iterable[int]) -> Iterator[dict[int, Tensor]]:
    """Within this context each forward pass leaves, by layer, what the heads hand to the output projection:
    `[rows, tokens, heads × head_dim]`. Enter it after whatever steers: hooks run in order of installation."""
    found: dict[int, Tensor] = {}
    handles = []
    try:
        for layer in layers:

            def keep(module: nn.Module, inputs: tuple[Any, ...], layer: int = layer) -> None:
                found[layer] = inputs[0]

            handles.append(anatomy.output_projection(layer).register_forward_pre_hook(keep))
        yield found
    finally:
        for handle in handles:
            handle.remove()


def picked(states: Tensor, last: Tensor) -> Tensor:
    """`states` `[rows, tokens, hidden]` at index `last` `[rows]`: `[rows, hidden]`."""
    index = last.to(states.device)
    return states[torch.arange(states.shape[0], device=states.device), index]
