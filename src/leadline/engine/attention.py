"""Attention over a batch whose shared parts are kept once, summed block by block in a fixed order.

Registered with `transformers` as the attention implementation "leadline"; any model that takes its attention
from that registry runs through it. Two properties matter:

* The keys of a shared prefix, or of a prompt with K samples, are multiplied once with the queries of all rows
  that share them: one matrix product instead of one per sample, and the keys are read from memory once.
* A row's result does not depend on its batch. Every product has the shape [queries × head_dim × BLOCK] or
  [queries × BLOCK × head_dim], masked slots weigh exactly 0, and blocks are added in order of position. Common
  BLAS kernels compute a row of such a product the same way whatever the number of rows, once there are a few
  (see `MINIMUM_ROWS`), so logits come out bit for bit the same in a batch of 1, 7 or 64.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from collections.abc import Iterator

import torch
from torch import Tensor
from transformers import AttentionInterface

from leadline.engine.blocks import BLOCK, OWN_BLOCK, Batch, Part

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


class _Pieces:
    """Scores of one part, `[owners, kv_heads, blocks, queries, block]` float32, and the values they weigh."""

    def __init__(
        self,
        queries: Tensor,
        part: Part,
        scale: float,
        softcap: float | None,
        mask: Tensor | None,
        fixed_count: bool = False,
    ) -> None:
        """queries `[owners, kv_heads, queries, head_dim]`; mask broadcasts to the scores, True = visible.

        `fixed_count`: the number of queries never depends on the batch, so no rows need to be added.
        """
        self.count = queries.shape[2]
        self.missing = 0 if fixed_count else padding_for(self.count)
        if self.missing:
            queries = torch.nn.functional.pad(queries, (0, 0, 0, self.missing))
        scores = torch.matmul(queries.unsqueeze(2), part.keys.transpose(-1, -2)).float() * scale
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None:
            shape = mask.shape[-2]
            if shape not in (1, scores.shape[-2]):
                mask = torch.nn.functional.pad(mask, (0, 0, 0, self.missing), value=True)
            scores = scores.masked_fill(~mask, -torch.inf)
        self.scores, self.values = scores, part.values

    def maximum(self) -> Tensor:
        """`[owners, kv_heads, queries]`."""
        return self.scores.amax(-1).amax(2)[..., : self.count]

    def weigh(self, maximum: Tensor) -> tuple[Tensor, Tensor]:
        """Per block: Σ weights `[owners, kv, blocks, queries]` and Σ weights·values `[…, queries, head_dim]`."""
        if self.missing:
            maximum = torch.nn.functional.pad(maximum, (0, self.missing))
        weights = (self.scores - maximum[:, :, None, :, None]).exp_()
        out = torch.matmul(weights.to(self.values.dtype), self.values).float()
        return weights.sum(-1)[..., : self.count], out[..., : self.count, :]


def _prompt_attention(
    batch: Batch, layer: int, query: Tensor, scale: float, window: int | None, softcap: float | None, sinks: Tensor | None
) -> Tensor:
    """Queries of prompt (or prefix) tokens: `[prompts, heads, length, head_dim]` → the same shape."""
    held = batch.layers[layer]
    own = held.prefix if batch.phase == "prefix" else held.prompt
    assert own is not None
    prefix = None if batch.phase == "prefix" else held.prefix
    before = batch.rows.prefix_length if prefix is not None else 0  # position of the first slot of the own part
    begin = 0 if batch.phase == "prefix" else batch.rows.prefix_tokens  # position of the first query
    prompts, heads, length, width = query.shape
    kv = own.keys.shape[1]
    slots = own.keys.shape[2] * BLOCK + before
    step = max(1, _SCORES_AT_ONCE // max(1, prompts * heads * slots))
    out = query.new_empty(prompts, heads, length, own.values.shape[-1])
    for start in range(0, length, step):
        part = query[:, :, start : start + step]
        n = part.shape[2]
        # [prompts, kv, queries × group, head_dim]: the query heads of a kv head lie side by side
        q = part.reshape(prompts, kv, heads // kv, n, width).transpose(2, 3).reshape(prompts, kv, -1, width)
        positions = torch.arange(begin + start, begin + start + n, device=query.device)
        positions = positions.repeat_interleave(heads // kv)
        pieces = []
        if prefix is not None:
            flat = q.transpose(0, 1).reshape(1, kv, -1, width)
            mask = None
            if window is not None and begin + start + n > window:
                mask = _visible(0, prefix.keys.shape[2], BLOCK, positions.repeat(prompts), window)[None, None]
            pieces.append(_Pieces(flat, prefix, scale, softcap, mask))
        mask = _visible(before, own.keys.shape[2], BLOCK, positions, window)[None, None]
        pieces.append(_Pieces(q, own, scale, softcap, mask))

        def rows_of(tensor: Tensor, is_prefix: bool, n: int = n, q: Tensor = q) -> Tensor:
            """[owners, kv, queries, …] of either layout → [prompts, kv, queries, …]"""
            if not is_prefix:
                return tensor
            return tensor[0].reshape(kv, prompts, q.shape[2], *tensor.shape[3:]).transpose(0, 1)

        flags = [True, False] if prefix is not None else [False]
        maximum = torch.stack([rows_of(p.maximum(), f) for p, f in zip(pieces, flags, strict=True)]).amax(0)
        if sinks is not None:
            sink = sinks.float().reshape(kv, 1, heads // kv).expand(kv, n, heads // kv).reshape(1, kv, -1)
            maximum = torch.maximum(maximum, sink)
        total, mixed = torch.zeros_like(maximum), None
        for piece, is_prefix in zip(pieces, flags, strict=True):
            top = maximum.transpose(0, 1).reshape(1, kv, -1) if is_prefix else maximum
            weights, outs = piece.weigh(top)
            for block in range(weights.shape[2]):
                total = total + rows_of(weights[:, :, block], is_prefix)
                add = rows_of(outs[:, :, block], is_prefix)
                mixed = add if mixed is None else mixed + add
        if sinks is not None:
            total = total + (sink - maximum).exp()
        assert mixed is not None
        done = (mixed / total[..., None]).to(query.dtype)
        out[:, :, start : start + n] = done.reshape(prompts, kv, n, heads // kv, -1).transpose(2, 3).reshape(
            prompts, heads, n, -1
        )
    return out


def _visible(first: int, blocks: int, block: int, positions: Tensor, window: int | None) -> Tensor:
    """Which slots a query sees: `[blocks, queries, block]`; slot s is visible to position p when s ≤ p and,
    with a sliding window, s > p − window."""
    slots = torch.arange(first, first + blocks * block, device=positions.device).reshape(blocks, 1, block)
    seen = slots <= positions[None, :, None]
    return seen if window is None else seen & (slots > positions[None, :, None] - window)


def _decode_masks(batch: Batch, window: int | None, group: int, prompt_blocks: int, own_blocks: int) -> list[Tensor | None]:
    """Masks of one decode step for (prefix, prompt, own); they are the same for all layers with this window."""
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
        table = torch.full((length.shape[0] * rows.width,), 0, device=device, dtype=oldest.dtype)
        table[rows.row_slot] = oldest
        by_query = table.reshape(-1, rows.width).repeat_interleave(group, 1)  # [prompts, width × group]
        prompt_mask = prompt_mask & (absolute.reshape(1, 1, prompt_blocks, 1, BLOCK) >= by_query[:, None, None, :, None])
        begin = length[rows.row_prompt]  # [rows] position of the first generated token
        own_mask = own_mask & (
            (begin[:, None] + own_slots).reshape(-1, 1, own_blocks, 1, OWN_BLOCK) >= oldest[:, None, None, None, None]
        )
        if rows.prefix_length:
            before = torch.arange(rows.prefix_length, device=device).reshape(1, 1, -1, 1, BLOCK)
            prefix_mask = before >= oldest.repeat_interleave(group)[None, None, None, :, None]
    return [prefix_mask, prompt_mask, own_mask]


def _decode_attention(
    batch: Batch, layer: int, query: Tensor, scale: float, window: int | None, softcap: float | None, sinks: Tensor | None
) -> Tensor:
    """Queries of one new token per row: `[rows + padding, heads, 1, head_dim]` → the same shape."""
    held, rows = batch.layers[layer], batch.rows
    assert held.prompt is not None and held.own is not None
    padded, heads, _, width = query.shape
    count = rows.row_prompt.shape[0]
    query = query[:count]
    kv = held.prompt.keys.shape[1]
    group = heads // kv
    key = (window, held.own.keys.shape[2])
    if key not in batch.masks:
        batch.masks[key] = _decode_masks(batch, window, group, held.prompt.keys.shape[2], held.own.keys.shape[2])  # type: ignore[assignment]
    prefix_mask, prompt_mask, own_mask = batch.masks[key]
    by_row = query.reshape(count, kv, group, width)
    prompts = rows.prompt_length.shape[0]

    def to_table(tensor: Tensor) -> Tensor:
        """[rows, kv, group, …] → [prompts, kv, width × group, …]"""
        table = tensor.new_zeros(prompts * rows.width, *tensor.shape[1:])
        table[rows.row_slot] = tensor
        shape = (prompts, rows.width, *tensor.shape[1:])
        return table.reshape(shape).transpose(1, 2).reshape(prompts, kv, rows.width * group, *tensor.shape[3:])

    def from_table(tensor: Tensor) -> Tensor:
        """[prompts, kv, width × group, …] → [rows, kv, group, …]"""
        shape = (prompts, kv, rows.width, group, *tensor.shape[3:])
        return tensor.reshape(shape).transpose(1, 2).reshape(-1, kv, group, *tensor.shape[3:])[rows.row_slot]

    def to_flat(tensor: Tensor) -> Tensor:
        """[rows, kv, group, …] → [1, kv, rows × group, …]"""
        return tensor.transpose(0, 1).reshape(1, kv, count * group, *tensor.shape[3:])

    def from_flat(tensor: Tensor) -> Tensor:
        return tensor[0].reshape(kv, count, group, *tensor.shape[3:]).transpose(0, 1)

    def same(tensor: Tensor) -> Tensor:
        return tensor

    layouts = [(held.prompt, to_table, from_table, prompt_mask), (held.own, same, same, own_mask)]
    if held.prefix is not None:
        layouts.insert(0, (held.prefix, to_flat, from_flat, prefix_mask))
    pieces = [
        _Pieces(into(by_row), part, scale, softcap, mask, fixed_count=part is held.own)
        for part, into, _, mask in layouts
    ]
    maximum = torch.stack(
        [back(piece.maximum()) for piece, (_, _, back, _) in zip(pieces, layouts, strict=True)]
    ).amax(0)  # [rows, kv, group]
    if sinks is not None:
        maximum = torch.maximum(maximum, sinks.float().reshape(1, kv, group))
    total, mixed = torch.zeros_like(maximum), None
    for piece, (_, into, back, _) in zip(pieces, layouts, strict=True):
        weights, outs = piece.weigh(into(maximum))
        for block in range(weights.shape[2]):
            total = total + back(weights[:, :, block])
            add = back(outs[:, :, block])
            mixed = add if mixed is None else mixed + add
    if sinks is not None:
        total = total + (sinks.float().reshape(1, kv, group) - maximum).exp()
    assert mixed is not None
    done = (mixed / total[..., None]).to(query.dtype).reshape(count, heads, 1, -1)
    return torch.nn.functional.pad(done, (0, 0, 0, 0, 0, 0, 0, padded - count))


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
    `[owners, new, heads, head_dim]` out. Keys and values come from the batch, where the cache has put them."""
    batch = _current.get()
    layer = int(module.layer_idx)  # type: ignore[arg-type]
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    function = _decode_attention if batch.phase == "decode" else _prompt_attention
    out = function(batch, layer, query, scale, sliding_window, softcap, s_aux)
    return out.transpose(1, 2).contiguous(), None


AttentionInterface.register(IMPLEMENTATION, attend)
