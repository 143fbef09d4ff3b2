"""Keys and values of a batch, kept in blocks by position, with every shared part kept once.

A batch is prompts, each with several rows (its samples). Three parts hold the keys and values of one layer:

    prefix   tokens that all prompts of the batch begin with       [1, kv_heads, blocks, BLOCK, head_dim]
    prompt   the rest of each prompt                               [prompts, kv_heads, blocks, BLOCK, head_dim]
    own      what each row has generated                           [rows, kv_heads, blocks, OWN_BLOCK, head_dim]

Forking a prompt into K samples copies nothing, and a finished row takes only its own few tokens with it.
Blocks begin at fixed positions, so a row's attention is summed over the same blocks in the same order whatever
it is batched with (see `attention.py`).
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
    """The three parts of one layer."""

    prefix: Part | None = None
    prompt: Part | None = None
    own: Part | None = None


@dataclass
class Rows:
    """Which row belongs to which prompt, and where it stands. Shared by all layers.

    prompt_length: `[prompts]` tokens after the prefix. row_prompt: `[rows]` index of each row's prompt.
    row_slot: `[rows]` index of the row within a table of [prompts × width].
    """

    prefix_length: int
    prompt_length: Tensor
    row_prompt: Tensor
    row_slot: Tensor
    width: int
    generated: int = 0

    @staticmethod
    def of(prefix_length: int, prompt_length: Tensor, row_prompt: Tensor, generated: int = 0) -> Rows:
        """Lay out rows (sorted by prompt) in a [prompts × width] table, so that one product serves all prompts."""
        prompts = prompt_length.shape[0]
        counts = torch.bincount(row_prompt, minlength=prompts)
        width = int(counts.max())
        first = torch.cumsum(counts, 0) - counts
        within = torch.arange(row_prompt.shape[0], device=row_prompt.device) - first[row_prompt]
        return Rows(prefix_length, prompt_length, row_prompt, row_prompt * width + within, width, generated)


@dataclass
class Batch:
    """State of one batch: its rows, its layers, and which phase the forward pass is in."""

    layers: list[Layer]
    rows: Rows
    phase: str = "prefix"  # "prefix" | "prompt" | "decode"
    masks: dict[object, Tensor] = field(default_factory=dict)  # rebuilt at every forward pass

    def begin(self, phase: str) -> None:
        """Start a forward pass."""
        self.phase = phase
        self.masks.clear()

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
        self.rows = Rows.of(self.rows.prefix_length, prompt_length, row_prompt, self.rows.generated)


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
            layer.prefix = Part(to_blocks(key_states[:1]), to_blocks(value_states[:1]))
        else:
            layer.prompt = Part(to_blocks(key_states), to_blocks(value_states))
        return key_states, value_states

    def _append(self, layer: Layer, key_states: Tensor, value_states: Tensor) -> None:
        rows = self.batch.rows.row_prompt.shape[0]
        key_states, value_states = key_states[:rows], value_states[:rows]  # rows added as padding are not kept
        heads, width = key_states.shape[1], key_states.shape[3]
        at = self.batch.rows.generated
        if layer.own is None or at == layer.own.keys.shape[2] * OWN_BLOCK:
            block = key_states.new_zeros(rows, heads, 1, OWN_BLOCK, width)
            vblock = value_states.new_zeros(rows, heads, 1, OWN_BLOCK, value_states.shape[-1])
            if layer.own is None:
                layer.own = Part(block, vblock)
            else:
                layer.own = Part(torch.cat([layer.own.keys, block], 2), torch.cat([layer.own.values, vblock], 2))
        layer.own.keys[:, :, at // OWN_BLOCK, at % OWN_BLOCK] = key_states[:, :, 0]
        layer.own.values[:, :, at // OWN_BLOCK, at % OWN_BLOCK] = value_states[:, :, 0]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Tokens before this forward pass. Positions are always given explicitly; this only informs."""
        return self.batch.rows.prefix_length if self.batch.phase == "prompt" else 0

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """As `get_seq_length`."""
        return self.get_seq_length(layer_idx)
