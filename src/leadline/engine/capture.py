"""Reading the residual stream and the heads of a model while it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from leadline.engine.anatomy import Anatomy
from leadline.engine.edits import Site


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
    with _inputs({layer: anatomy.output_projection(layer) for layer in layers}) as found:
        yield found


@contextmanager
def neurons(anatomy: Anatomy, layers: Iterable[int]) -> Iterator[dict[int, Tensor]]:
    """As `head_outputs`, what neurons hand to the down projection: `[rows, tokens, intermediate_size]`."""
    with _inputs({layer: anatomy.down_projection(layer) for layer in layers}) as found:
        yield found


@contextmanager
def at_site(anatomy: Anatomy, site: Site) -> Iterator[Callable[[int], Tensor]]:
    """Within this context each forward pass leaves, by layer, what lies at a site that can be edited:
    `[rows, tokens, width of the site]`."""
    layers = range(anatomy.layers)
    if site == "residual":  # a block's output enters the next part
        with residuals(anatomy, (layer + 1 for layer in layers)) as found:
            yield lambda layer: found[layer + 1]
        return
    with (head_outputs if site == "heads" else neurons)(anatomy, layers) as found:
        yield found.__getitem__


@contextmanager
def _inputs(parts: Mapping[int, nn.Module]) -> Iterator[dict[int, Tensor]]:
    found: dict[int, Tensor] = {}
    handles = []
    try:
        for layer, part in parts.items():

            def keep(module: nn.Module, inputs: tuple[Any, ...], layer: int = layer) -> None:
                found[layer] = inputs[0]

            handles.append(part.register_forward_pre_hook(keep))
        yield found
    finally:
        for handle in handles:
            handle.remove()


def picked(states: Tensor, last: Tensor) -> Tensor:
    """`states` `[rows, tokens, hidden]` at index `last` `[rows]`: `[rows, hidden]`."""
    index = last.to(states.device)
    return states[torch.arange(states.shape[0], device=states.device), index]
