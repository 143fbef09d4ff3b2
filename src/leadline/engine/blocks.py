"""Keys and values of a batch, kept in blocks by position, with every shared part kept once.

A batch is prompts, each with several rows (its samples). Three parts hold the keys and values of one layer:

    prefix   whole blocks that all prompts begin with  [1, kv_heads, blocks, BLOCK, head_dim]
    prompt   the rest of each prompt                   [prompts, kv_heads, blocks, BLOCK, head_dim]
    own      what each row has generated               [rows, kv_heads, blocks, OWN_BLOCK, head_dim]

Forking a prompt into K samples copies nothing, forking a row copies what it has generated, and a finished row
takes only its own few tokens with it.
Blocks begin at fixed positions, so a row's attention is summed over the same blocks in the same order
whatever it is batched with (see `attention.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers.cache_utils import Cache

# Long enough for efficient matrix products, short enough that padding a prompt to whole blocks costs little.
BLOCK = 64
# Answers are short: a row's own part starts small and grows.
OWN_BLOCK = 32


@dataclass
class Part:
    """Keys and values of one part of one layer: `[owners, kv_heads, blocks, block, head_dim]`."""

    keys: Tensor
    values: Tensor


@dataclass
class Layer:
    """The three parts of one layer, and `tail`: what the prefix has beyond whole blocks,
    `[1, kv_heads, tokens, head_dim]`, to be copied into each prompt's first block. `own` may have room for
    more rows than there are."""

    prefix: Part | None = None
    tail: Part | None = None
    prompt: Part | None = None
    own: Part | None = None


@dataclass
class Rows:
    """Which row belongs to which prompt, and where it stands. Shared by all layers.

    prefix_tokens: what all prompts begin with; computed once. Of these, `prefix_length` fill whole blocks and
    are kept once; the others are copied to the first block of each prompt. prompt_length: `[prompts]` all
    tokens of a prompt. row_prompt: `[rows]` index of each row's prompt. row_slot: `[rows]` index of the row
    within a table of [prompts × width]. is_full: the rows, in their order, are that table.
    """

    prefix_tokens: int
    prompt_length: Tensor
    row_prompt: Tensor
    row_slot: Tensor
    width: int
    is_full: bool
    generated: int = 0

    @staticmethod
    def of(prefix_tokens: int, prompt_length: Tensor, row_prompt: Tensor, generated: int = 0) -> Rows:
        """Lay out rows, in any order, in a [prompts × width] table: one product serves all prompts."""
        prompts, rows = prompt_length.shape[0], row_prompt.shape[0]
        counts = torch.bincount(row_prompt, minlength=prompts)
        width = int(counts.max())
        first = torch.cumsum(counts, 0) - counts
        places = torch.arange(rows, device=row_prompt.device)
        ranked = torch.argsort(row_prompt, stable=True)
        within = torch.empty_like(places)
        within[ranked] = places - first[row_prompt[ranked]]
        slot = row_prompt * width + within
        is_full = rows == width * prompts and bool((slot == places).all())
        return Rows(prefix_tokens, prompt_length, row_prompt, slot, width, is_full, generated)

    @property
    def prefix_length(self) -> int:
        """Tokens of the prefix that fill whole blocks."""
        return self.prefix_tokens // BLOCK * BLOCK


@dataclass
class Batch:
    """State of one batch: its rows, its layers, and which phase the forward pass is in."""

    layers: list[Layer]
    rows: Rows
    phase: str = "prefix"  # "prefix" | "prompt" | "decode"
    masks: dict[object, list[Tensor | None]] = field(default_factory=dict)  # rebuilt at every forward pass

    def begin(self, phase: str) -> None:
        """Start a forward pass."""
        self.phase = phase
        self.masks.clear()

    def seal_prefix(self) -> None:
        """After the prefix was computed: keep its whole blocks, and set the rest aside as the tail."""
        filled, rest = divmod(self.rows.prefix_tokens, BLOCK)
        for layer in self.layers:
            assert layer.prefix is not None
            keys, values = layer.prefix.keys, layer.prefix.values
            if rest:
                layer.tail = Part(keys[:, :, filled, :rest], values[:, :, filled, :rest])
            layer.prefix = Part(keys[:, :, :filled], values[:, :, :filled])

    def part(self, start: int, stop: int) -> Batch:
        """A batch of prompts `start` to `stop` alone, one row each, on the same prefix: to prefill them."""
        lengths = self.rows.prompt_length[start:stop]
        rows = Rows.of(self.rows.prefix_tokens, lengths, torch.arange(stop - start, device=lengths.device))
        return Batch([Layer(prefix=layer.prefix, tail=layer.tail) for layer in self.layers], rows)

    def join(self, parts: list[Batch]) -> None:
        """Take over the prompts of `parts`, in order, each padded to the same number of blocks."""
        for number, layer in enumerate(self.layers):
            found = [part.layers[number].prompt for part in parts]
            layer.prompt = Part(
                _stacked([part.keys for part in found if part is not None]),
                _stacked([part.values for part in found if part is not None]),
            )
            for part in parts:  # let go at once: two copies of all layers would be twice the memory
                part.layers[number].prompt = None

    def fork(self, parents: Tensor) -> None:
        """Add a row for each of `parents` `[new rows]`, indices into the present rows: it has generated what
        its parent has."""
        before = self.rows.row_prompt.shape[0]
        after = before + parents.shape[0]
        for layer in self.layers:
            if layer.own is not None:
                if layer.own.keys.shape[0] < after:
                    room = after + after // 2
                    layer.own = Part(_with_room(layer.own.keys, room), _with_room(layer.own.values, room))
                for held in (layer.own.keys, layer.own.values):
                    blocks, rest = divmod(self.rows.generated, OWN_BLOCK)
                    held[before:after, :, :blocks] = held[parents, :, :blocks]
                    if rest:
                        held[before:after, :, blocks, :rest] = held[parents, :, blocks, :rest]
                        held[before:after, :, blocks, rest:] = 0  # weighs nothing, but must be a number
        row_prompt = torch.cat([self.rows.row_prompt, self.rows.row_prompt[parents]])
        self.rows = Rows.of(self.rows.prefix_tokens, self.rows.prompt_length, row_prompt, self.rows.generated)

    def keep(self, kept: Tensor) -> None:
        """Drop finished rows: `kept` `[kept rows]` are indices into the present rows, ascending."""
        row_prompt = self.rows.row_prompt[kept]
        for layer in self.layers:
            if layer.own is not None:
                layer.own = Part(layer.own.keys[kept], layer.own.values[kept])
        alive = torch.unique(row_prompt)
        if alive.shape[0] * 2 <= self.rows.prompt_length.shape[0]:  # prompts without rows are dead weight
            for layer in self.layers:
                assert layer.prompt is not None
                layer.prompt = Part(layer.prompt.keys[alive], layer.prompt.values[alive])
            renumber = torch.zeros_like(self.rows.prompt_length)
            renumber[alive] = torch.arange(alive.shape[0], device=alive.device)
            row_prompt = renumber[row_prompt]
            prompt_length = self.rows.prompt_length[alive]
        else:
            prompt_length = self.rows.prompt_length
        self.rows = Rows.of(self.rows.prefix_tokens, prompt_length, row_prompt, self.rows.generated)


def _with_room(held: Tensor, rows: int) -> Tensor:
    """The same with room for `rows`, in which nothing is written yet."""
    out = held.new_empty(rows, *held.shape[1:])
    out[: held.shape[0]] = held
    return out


def _stacked(parts: list[Tensor]) -> Tensor:
    """`[owners, kv_heads, blocks, block, head_dim]` one after the other, each as long as the longest."""
    if len(parts) == 1:
        return parts[0]
    blocks = max(part.shape[2] for part in parts)
    owners = sum(part.shape[0] for part in parts)
    out = parts[0].new_zeros(owners, parts[0].shape[1], blocks, *parts[0].shape[3:])
    start = 0
    for part in parts:
        out[start : start + part.shape[0], :, : part.shape[2]] = part
        start += part.shape[0]
    return out


def to_blocks(states: Tensor, block: int = BLOCK) -> Tensor:
    """`[owners, kv_heads, length, head_dim]` → `[owners, kv_heads, blocks, block, head_dim]`, zero-padded."""
    owners, heads, length, width = states.shape
    blocks = -(-length // block)
    if blocks * block != length:
        states = torch.nn.functional.pad(states, (0, 0, 0, blocks * block - length))
    return states.reshape(owners, heads, blocks, block, width)


class BlockCache(Cache):
    """The cache object that `transformers` models see. It stores, and hands the new keys and values through:
    `attention.attend` finds the stored ones in `batch`."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(layers=[])
        self.batch = batch

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        """Store what the layer computed for the new tokens: `[owners, kv_heads, new, head_dim]`."""
        layer = self.batch.layers[layer_idx]
        if self.batch.phase == "decode":
            self._append(layer, key_states, value_states)
        elif self.batch.phase == "prefix":
            layer.prefix = Part(to_blocks(key_states), to_blocks(value_states))
        else:
            if layer.tail is not None:
                prompts = key_states.shape[0]
                key_states = torch.cat([layer.tail.keys.expand(prompts, -1, -1, -1), key_states], 2)
                value_states = torch.cat([layer.tail.values.expand(prompts, -1, -1, -1), value_states], 2)
            layer.prompt = Part(to_blocks(key_states), to_blocks(value_states))
        return key_states, value_states

    def _append(self, layer: Layer, key_states: Tensor, value_states: Tensor) -> None:
        rows = self.batch.rows.row_prompt.shape[0]
        # Rows that were added as padding are not kept.
        key_states, value_states = key_states[:rows], value_states[:rows]
        at = self.batch.rows.generated
        if layer.own is None or at == layer.own.keys.shape[2] * OWN_BLOCK:
            held = layer.own
            owners = rows if held is None else held.keys.shape[0]
            new = [
                each.new_zeros(owners, each.shape[1], 1, OWN_BLOCK, each.shape[3])
                for each in (key_states, value_states)
            ]
            if held is not None:
                new = [torch.cat([held.keys, new[0]], 2), torch.cat([held.values, new[1]], 2)]
            layer.own = Part(*new)
        layer.own.keys[:rows, :, at // OWN_BLOCK, at % OWN_BLOCK] = key_states[:, :, 0]
        layer.own.values[:rows, :, at // OWN_BLOCK, at % OWN_BLOCK] = value_states[:, :, 0]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Tokens before this forward pass. Positions are always given explicitly; this only informs."""
        return self.batch.rows.prefix_tokens if self.batch.phase == "prompt" else 0

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """As `get_seq_length`."""
        return self.get_seq_length(layer_idx)
