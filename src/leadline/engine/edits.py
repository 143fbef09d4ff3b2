"""Changes to activations, and masked heads, as hooks on a model's parts; removed on exit, come what may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from leadline.engine.anatomy import Anatomy
from leadline.engine.passes import Positions, current_pass, world

# The input of a block's output projection | a block's output | the input of a block's down projection.
Site = Literal["heads", "residual", "neurons"]


@dataclass(frozen=True, eq=False)
class Edit:
    """activation ← activation × (1 + scale) + shift, at one site of one layer, at the chosen positions.

    `shift` and `scale` are `[width of the site]`, or None. In passes that feed one token to each row they may
    also be `[rows, 1, width]`: each row has its own.
    """

    site: Site
    layer: int
    shift: Tensor | None = None
    scale: Tensor | None = None
    positions: Positions = "last"


@dataclass(frozen=True)
class HeadMask:
    """Heads, as (layer, head), that are masked in the rows that a pass names.

    "query": the head's query is zero, so it attends uniformly to every key that it can see. "output": its
    output is zero.
    """

    heads: tuple[tuple[int, int], ...]
    how: Literal["query", "output"] = "query"


@contextmanager
def edited(anatomy: Anatomy, edits: Sequence[Edit], mask: HeadMask | None = None) -> Iterator[None]:
    """Within this context the model computes with `edits`, and with `mask` in rows that a pass names."""
    with ExitStack() as hooks:
        for edit in edits:
            hooks.enter_context(_hooked(_edit_hook(anatomy, edit)))
        by_layer: dict[int, list[int]] = {}
        for layer, head in mask.heads if mask else ():
            anatomy.check_layer(layer)
            by_layer.setdefault(layer, []).append(head)
        for layer, heads in by_layer.items():
            assert mask is not None
            hooks.enter_context(_hooked(_mask_hook(anatomy, layer, heads, mask.how)))
        yield


@contextmanager
def _hooked(handle: Any) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


def _edit_hook(anatomy: Anatomy, edit: Edit) -> Any:
    anatomy.check_layer(edit.layer)
    placed = _Placed(edit)
    if edit.site == "residual":

        def after(module: nn.Module, inputs: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (placed.applied(output[0]), *output[1:])
            return placed.applied(output)

        return anatomy.blocks[edit.layer].register_forward_hook(after)
    part = anatomy.output_projection if edit.site == "heads" else anatomy.down_projection

    def before(module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (placed.applied(inputs[0]), *inputs[1:])

    return part(edit.layer).register_forward_pre_hook(before)


class _Placed:
    """An edit with its vectors where its layer computes, in the layer's dtype."""

    def __init__(self, edit: Edit) -> None:
        self.edit = edit
        self.world = world()
        self.ready: tuple[Tensor | None, Tensor | None] | None = None

    def applied(self, hidden: Tensor) -> Tensor:
        """`hidden` `[rows, tokens, width]` with the edit, in a new tensor."""
        if world() is not self.world:
            return hidden
        this = current_pass()
        chosen = True if this is None else this.chosen(self.edit.positions, hidden.shape[1])
        if chosen is False:
            return hidden
        if self.ready is None:
            self.ready = tuple(  # type: ignore[assignment]
                None if vector is None else vector.to(hidden.device, hidden.dtype)
                for vector in (self.edit.shift, self.edit.scale)
            )
        shift, scale = self.ready  # type: ignore[misc]
        if isinstance(chosen, Tensor):
            chosen = chosen.to(hidden.device)
            picked = self._changed(hidden[chosen], shift, scale)
            out = hidden.clone()
            out[chosen] = picked
            return out
        return self._changed(hidden, shift, scale)

    @staticmethod
    def _changed(hidden: Tensor, shift: Tensor | None, scale: Tensor | None) -> Tensor:
        out = hidden
        if scale is not None:
            out = torch.addcmul(out, hidden, scale.expand_as(hidden))
        return out if shift is None else out + shift


def _mask_hook(anatomy: Anatomy, layer: int, heads: Sequence[int], how: str) -> Any:
    if outside := [head for head in heads if not 0 <= head < anatomy.heads]:
        raise anatomy._unknown(f"head {outside[0]} of layer {layer} (it has {anatomy.heads})")
    if how == "output":
        width = anatomy.head_dim(layer)
        columns = torch.tensor([c for head in heads for c in range(head * width, (head + 1) * width)])

        def before(module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            return (_zeroed(inputs[0], columns), *inputs[1:])

        return anatomy.output_projection(layer).register_forward_pre_hook(before)
    place = anatomy.query_place(layer)
    columns = torch.tensor([column for head in heads for column in place.columns(head)])

    def after(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        return _zeroed(output, columns)

    return place.module.register_forward_hook(after)


def _zeroed(states: Tensor, columns: Tensor) -> Tensor:
    """`states` `[rows, tokens, width]` with `columns` zero in the rows and at the positions of the pass."""
    this = current_pass()
    if this is None or this.masked is None:
        return states
    chosen = this.chosen("all" if this.everywhere else "last", states.shape[1])
    if chosen is False:
        return states
    where = this.masked.to(states.device)[:, None].expand(states.shape[:2])
    if isinstance(chosen, Tensor):
        where = where & chosen.to(states.device)
    keep = torch.ones(states.shape[-1], dtype=torch.bool, device=states.device)
    keep[columns.to(states.device)] = False
    return states.masked_fill(where[..., None] & ~keep, 0.0)
