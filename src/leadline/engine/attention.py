"""Attention over a batch whose shared parts are kept once, summed block by block in a fixed order.

Registered with `transformers` as the attention implementation "leadline"; any model that takes its attention
from that registry runs through it. Two properties matter:

* The keys of a shared prefix, or of a prompt with K samples, are multiplied once with the queries of all rows
  that share them: one matrix product instead of one per sample, and the keys are read from memory once.
* A row's result does not depend on its batch. Every product has the shape [queries × head_dim × BLOCK] or
  [queries × BLOCK × head_dim], masked slots weigh exactly 0, and blocks are added in order of position.
  Common BLAS kernels compute a row of such a product the same way whatever the number of rows, once there are
  a few (see `MINIMUM_ROWS`), so logits come out bit for bit the same in a batch of 1, 7 or 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from transformers import AttentionInterface

from leadline.engine.blocks import BLOCK, OWN_BLOCK, Batch, Part, Rows

IMPLEMENTATION = "leadline"

# Matrix products with fewer rows go through other kernels (a matrix-vector product for one row), which add in
# another order. With at least this many rows, in multiples of four, a row's bits are the same in any batch.
MINIMUM_ROWS = 8

# Queries of a long prompt are taken in slices so that the scores of one slice stay near 64 MB.
_SCORES_AT_ONCE = 16 * 2**20


def padding_for(count: int) -> int:
    """How many rows to add to `count` rows so that matrix products over them do not depend on the count."""
    return max(MINIMUM_ROWS, -(-count // 4) * 4) - count


_current: ContextVar[Batch] = ContextVar("leadline_batch")


@contextmanager
def attending_to(batch: Batch) -> Iterator[None]:
    """Within this context the attention of a forward pass reads the keys and values of `batch`."""
    token = _current.set(batch)
    try:
        yield
    finally:
        _current.reset(token)


@dataclass(frozen=True)
class _Source:
    """One part as seen by the queries of a pass, which are at home in `[n, kv_heads, m, …]`.

    `arrange` brings a tensor from home to `[owners, kv_heads, queries, …]`, the layout in which one product
    serves all queries of an owner; `restore` brings one back. `mask` broadcasts to the scores
    `[owners, kv_heads, blocks, queries, block]`, True = visible. `fixed`: the number of queries per owner
    never depends on the batch, so no rows need to be added to it.
    """

    part: Part
    arrange: Callable[[Tensor], Tensor]
    restore: Callable[[Tensor], Tensor]
    mask: Tensor | None
    fixed: bool = False

    def scores(self, query: Tensor, scale: float, softcap: float | None) -> tuple[Tensor, int]:
        """Scores of `query` (at home) against this part's keys, float32, −inf where masked; and how many of
        the queries are real (the others were added, see `padding_for`)."""
        queries = self.arrange(query)
        count = queries.shape[2]
        if missing := 0 if self.fixed else padding_for(count):
            queries = torch.nn.functional.pad(queries, (0, 0, 0, missing))
        scores = torch.matmul(queries.unsqueeze(2), self.part.keys.transpose(-1, -2)).float().mul_(scale)
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if self.mask is not None:
            mask = self.mask
            if missing and mask.shape[-2] != 1:
                mask = torch.nn.functional.pad(mask, (0, 0, 0, missing), value=True)
            scores.masked_fill_(~mask, -torch.inf)
        return scores, count


def _merged(
    query: Tensor, sources: list[_Source], scale: float, softcap: float | None, sinks: Tensor | None
) -> Tensor:
    """Softmax attention of `query` `[n, kv_heads, m, head_dim]` over all sources, in order of position.

    `sinks`, broadcast to `[n, kv_heads, m]`, are logits of a key without a value.
    """
    scored = [source.scores(query, scale, softcap) for source in sources]
    tops = []
    for source, (scores, queries) in zip(sources, scored, strict=True):
        tops.append(source.restore(scores.amax((2, 4))[:, :, :queries]))
    maximum = tops[0]
    for top in tops[1:]:
        maximum = torch.maximum(maximum, top)
    if sinks is not None:
        maximum = torch.maximum(maximum, sinks)
    total: Tensor | None = None
    mixed: Tensor | None = None
    for source, (scores, queries) in zip(sources, scored, strict=True):
        shift = source.arrange(maximum)
        if missing := scores.shape[3] - queries:
            shift = torch.nn.functional.pad(shift, (0, missing))
        weights = scores.sub_(shift[:, :, None, :, None]).exp_()
        values = source.part.values
        out = torch.matmul(weights.to(values.dtype), values).float()[:, :, :, :queries]
        # Blocks become a trailing dimension, so that going home takes one step for all of them.
        outs = source.restore(out.transpose(2, 3))  # [n, kv, m, blocks, head_dim]
        sums = source.restore(weights.sum(-1)[:, :, :, :queries].transpose(2, 3))  # [n, kv, m, blocks]
        for block in range(outs.shape[3]):
            total = sums[..., block] if total is None else total + sums[..., block]
            mixed = outs[..., block, :] if mixed is None else mixed + outs[..., block, :]
    assert total is not None and mixed is not None
    if sinks is not None:
        total = total + (sinks - maximum).exp()
    return (mixed / total[..., None]).to(query.dtype)


def _prompt_attention(
    batch: Batch,
    layer: int,
    query: Tensor,
    scale: float,
    window: int | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Queries of prompt (or prefix) tokens: `[prompts, heads, length, head_dim]` → the same shape."""
    held = batch.layers[layer]
    own = held.prefix if batch.phase == "prefix" else held.prompt
    assert own is not None
    prefix = None if batch.phase == "prefix" else held.prefix
    before = (
        batch.rows.prefix_length if prefix is not None else 0
    )  # position of the first slot of the own part
    begin = 0 if batch.phase == "prefix" else batch.rows.prefix_tokens  # position of the first query
    prompts, heads, length, width = query.shape
    kv = own.keys.shape[1]
    group = heads // kv
    slots = own.keys.shape[2] * BLOCK + before
    step = max(1, _SCORES_AT_ONCE // max(1, prompts * heads * slots))
    slices = []
    for start in range(0, length, step):
        part = query[:, :, start : start + step]
        n = part.shape[2]
        # At home: [prompts, kv, queries × group, head_dim], the query heads of a kv head side by side.
        home = (
            part.reshape(prompts, kv, group, n, width).transpose(2, 3).reshape(prompts, kv, n * group, width)
        )
        masks = _prompt_masks(batch, window, group, (begin + start, n), before, own.keys.shape[2])
        sources = [_Source(own, _same, _same, masks[1])]
        if prefix is not None and prefix.keys.shape[2]:
            sources.insert(0, _Source(prefix, _flat, partial(_unflat, owners=prompts), masks[0]))
        sink = (
            None
            if sinks is None
            else sinks.float().reshape(1, kv, 1, group).expand(1, kv, n, group).flatten(2)
        )
        done = _merged(home, sources, scale, softcap, sink)
        slices.append(done.reshape(prompts, kv, n, group, -1).transpose(2, 3).reshape(prompts, heads, n, -1))
    return slices[0] if len(slices) == 1 else torch.cat(slices, 2)


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _flat(tensor: Tensor) -> Tensor:
    """`[n, kv, m, …]` → `[1, kv, n × m, …]`: all queries against one shared part."""
    return tensor.transpose(0, 1).flatten(1, 2)[None]


def _unflat(tensor: Tensor, owners: int) -> Tensor:
    """The way back from `_flat`."""
    return tensor[0].unflatten(1, (owners, -1)).transpose(0, 1)


def _visible(first: int, blocks: int, block: int, positions: Tensor, window: int | None) -> Tensor:
    """Which slots a query sees: `[blocks, queries, block]`; slot s is visible to position p when s ≤ p and,
    with a sliding window, s > p − window."""
    slots = torch.arange(first, first + blocks * block, device=positions.device).reshape(blocks, 1, block)
    seen = slots <= positions[None, :, None]
    return seen if window is None else seen & (slots > positions[None, :, None] - window)


def _prompt_masks(
    batch: Batch, window: int | None, group: int, queries: tuple[int, int], before: int, blocks: int
) -> list[Tensor | None]:
    """Masks of (prefix, own part) for `queries` = (first position, count), shared by layers of one window."""
    key = (window, group, queries, before, blocks)
    if key not in batch.masks:
        begin, count = queries
        device = batch.rows.row_prompt.device
        positions = torch.arange(begin, begin + count, device=device).repeat_interleave(group)
        prefix = None
        if window is not None and before and begin + count > window:
            owners = batch.rows.prompt_length.shape[0]
            prefix = _visible(0, before // BLOCK, BLOCK, positions.repeat(owners), window)[None, None]
        batch.masks[key] = [prefix, _visible(before, blocks, BLOCK, positions, window)[None, None]]
    return batch.masks[key]


def _decode_masks(
    batch: Batch, window: int | None, group: int, prompt_blocks: int, own_blocks: int
) -> list[Tensor | None]:
    """Masks of one decode step for (prefix, prompt, own); the same for all layers with this window."""
    key = (window, group, prompt_blocks, own_blocks)
    if key in batch.masks:
        return batch.masks[key]
    rows = batch.rows
    device = rows.row_prompt.device
    length = rows.prompt_length  # [prompts]
    slots = torch.arange(prompt_blocks * BLOCK, device=device)
    position = length[rows.row_prompt] + rows.generated  # [rows]
    prompt_mask = (slots < length[:, None] - rows.prefix_length).reshape(-1, 1, prompt_blocks, 1, BLOCK)
    own_slots = torch.arange(own_blocks * OWN_BLOCK, device=device)
    own_mask: Tensor = (own_slots <= rows.generated).reshape(1, 1, own_blocks, 1, OWN_BLOCK)
    prefix_mask = None
    if window is not None:
        oldest = position - window + 1  # first visible position
        absolute = rows.prefix_length + slots
        table = torch.zeros(length.shape[0] * rows.width, device=device, dtype=oldest.dtype)
        table[rows.row_slot] = oldest
        by_query = table.reshape(-1, rows.width).repeat_interleave(group, 1)  # [prompts, width × group]
        prompt_mask = prompt_mask & (
            absolute.reshape(1, 1, prompt_blocks, 1, BLOCK) >= by_query[:, None, None, :, None]
        )
        begin = length[rows.row_prompt]  # [rows] position of the first generated token
        own_mask = own_mask & (
            (begin[:, None] + own_slots).reshape(-1, 1, own_blocks, 1, OWN_BLOCK)
            >= oldest[:, None, None, None, None]
        )
        if rows.prefix_length:
            before = torch.arange(rows.prefix_length, device=device).reshape(1, 1, -1, 1, BLOCK)
            prefix_mask = before >= oldest.repeat_interleave(group)[None, None, None, :, None]
    batch.masks[key] = [prefix_mask, prompt_mask, own_mask]
    return batch.masks[key]


def _to_table(tensor: Tensor, rows: Rows) -> Tensor:
    """`[rows, kv, group, …]` → `[prompts, kv, width × group, …]`."""
    prompts = rows.prompt_length.shape[0]
    if rows.is_full:
        table = tensor
    else:
        table = tensor.new_zeros(prompts * rows.width, *tensor.shape[1:])
        table[rows.row_slot] = tensor
    return table.unflatten(0, (prompts, rows.width)).transpose(1, 2).flatten(2, 3)


def _from_table(tensor: Tensor, rows: Rows) -> Tensor:
    """The way back from `_to_table`."""
    table = tensor.unflatten(2, (rows.width, -1)).transpose(1, 2).flatten(0, 1)
    return table if rows.is_full else table[rows.row_slot]


def _decode_attention(
    batch: Batch,
    layer: int,
    query: Tensor,
    scale: float,
    window: int | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Queries of one new token per row: `[rows + padding, heads, 1, head_dim]` → the same shape."""
    held, rows = batch.layers[layer], batch.rows
    assert held.prompt is not None and held.own is not None
    padded, heads, _, width = query.shape
    count = rows.row_prompt.shape[0]
    kv = held.prompt.keys.shape[1]
    group = heads // kv
    home = query[:count].reshape(count, kv, group, width)
    masks = _decode_masks(batch, window, group, held.prompt.keys.shape[2], held.own.keys.shape[2])
    sources = [
        _Source(held.prompt, partial(_to_table, rows=rows), partial(_from_table, rows=rows), masks[1]),
        _Source(Part(held.own.keys[:count], held.own.values[:count]), _same, _same, masks[2], fixed=True),
    ]
    if held.prefix is not None and held.prefix.keys.shape[2]:
        sources.insert(0, _Source(held.prefix, _flat, partial(_unflat, owners=count), masks[0]))
    sink = None if sinks is None else sinks.float().reshape(1, kv, group)
    done = _merged(home, sources, scale, softcap, sink).reshape(count, heads, 1, -1)
    return torch.nn.functional.pad(done, (0, 0, 0, 0, 0, 0, 0, padded - count)) if padded > count else done


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: object,
) -> tuple[Tensor, None]:
    """The attention function that a `transformers` layer calls: `[owners, heads, new, head_dim]` queries in,
    `[owners, new, heads, head_dim]` out. Keys and values are in the batch, where the cache has put them."""
    batch = _current.get()
    layer = int(module.layer_idx)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    function = _decode_attention if batch.phase == "decode" else _prompt_attention
    out = function(batch, layer, query, scale, sliding_window, softcap, s_aux)
    return out.transpose(1, 2).contiguous(), None


AttentionInterface.register(IMPLEMENTATION, attend)
