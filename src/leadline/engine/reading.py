"""What a model computes over given texts: its states at the last token, for techniques that are fitted.

Texts that begin alike share that part's computation. The model's own attention is used, so any architecture
whose parts can be found will do. Texts are padded on the right, where a causal model never looks.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from leadline.engine.capture import at_site, picked
from leadline.engine.edits import Site
from leadline.engine.lm import CausalLM
from leadline.engine.passes import afresh
from leadline.errors import UsageError

Text = tuple[int, ...]

# More makes no product faster, and the states of all layers are held at once.
_TOKENS_AT_ONCE = 1536


def last_states(lm: CausalLM, groups: Sequence[Sequence[Text]], site: Site) -> Tensor:
    """States at the last token of each text, `[texts, layers, width of the site]`, float32, on the CPU.

    The texts of a group (a question's answers) begin alike; the result has the texts in order, group after
    group. Raises UsageError for a text that is longer than the model's context, or empty.
    """
    _check(lm, [text for group in groups for text in group])
    starts = [sum(len(group) for group in groups[:at]) for at in range(len(groups))]
    shared = [_shared(group) for group in groups]
    found: Tensor | None = None
    by_length: dict[int, list[int]] = {}
    for at in range(len(groups)):
        by_length.setdefault(shared[at], []).append(at)
    with afresh(), lm.running(in_blocks=False), at_site(lm.anatomy, site) as state:
        for length, members in sorted(by_length.items()):
            step = max(1, _TOKENS_AT_ONCE // max(length, 1))
            for begin in range(0, len(members), step):
                part = members[begin : begin + step]
                cache = _cache(lm)
                if length:
                    _run(lm, [groups[at][0][:length] for at in part], cache)
                rest = [
                    (row, starts[at] + number, text[length:])
                    for row, at in enumerate(part)
                    for number, text in enumerate(groups[at])
                ]
                for some in _slices(sorted(rest, key=lambda each: len(each[2]))):
                    rows = torch.tensor([row for row, _, _ in some], device=lm.device)
                    own = copy.deepcopy(cache)
                    if length:
                        own.reorder_cache(rows)
                    _run(lm, [ids for _, _, ids in some], own)
                    last = torch.tensor([len(ids) - 1 for _, _, ids in some])
                    read = _stacked(lm, [picked(state(layer), last) for layer in range(lm.layers)])
                    if found is None:
                        found = read.new_zeros(starts[-1] + len(groups[-1]), *read.shape[1:])
                    found[torch.tensor([number for _, number, _ in some])] = read
    assert found is not None
    return found


def last_and_mean_states(lm: CausalLM, texts: Sequence[Text], site: Site) -> tuple[Tensor, Tensor]:
    """States at the last token of each text, and their mean over its positions without the first, each
    `[texts, layers, width of the site]`, float32, on the CPU.

    The first position is left out of the mean: in most models it serves as a sink of attention, and its
    state is many times longer than any other. As `last_states` otherwise.
    """
    _check(lm, texts)
    lasts: list[Tensor] = []
    means: list[Tensor] = []
    order: list[int] = []
    with afresh(), lm.running(in_blocks=False), at_site(lm.anatomy, site) as state:
        numbered = sorted(((0, at, text) for at, text in enumerate(texts)), key=lambda each: len(each[2]))
        for some in _slices(numbered):
            _run(lm, [ids for _, _, ids in some], _cache(lm))
            length = torch.tensor([len(ids) for _, _, ids in some])
            lasts.append(_stacked(lm, [picked(state(layer), length - 1) for layer in range(lm.layers)]))
            index = torch.arange(int(length.max()))
            inside = (index < length[:, None]) & ((index > 0) | (length[:, None] == 1))
            weight = inside / inside.sum(1, keepdim=True)  # [rows, tokens]
            means.append(
                _stacked(
                    lm,
                    [
                        torch.einsum("rt,rtw->rw", weight.to(state(layer).device), state(layer).float())
                        for layer in range(lm.layers)
                    ],
                )
            )
            order += [at for _, at, _ in some]
    back = torch.tensor(order).argsort()
    return torch.cat(lasts)[back], torch.cat(means)[back]


def _check(lm: CausalLM, texts: Sequence[Text]) -> None:
    longest = max(map(len, texts), default=0)
    if longest > lm.context_length or min(map(len, texts), default=0) == 0:
        raise UsageError(
            f"a technique cannot be fitted on texts of 0 or {longest} tokens",
            fix=f"{lm.name} reads 1 to {lm.context_length}",
        )


def _shared(group: Sequence[Text]) -> int:
    """How many tokens all texts of a group begin with, leaving each its last."""
    if len(group) < 2:
        return 0
    low, high = min(group), max(group)
    same = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return min(same, min(map(len, group)) - 1)


def _slices(rows: Sequence[tuple[int, int, Text]]) -> Iterator[Sequence[tuple[int, int, Text]]]:
    """Rows, which come in order of length, in slices of few enough tokens and of about one length (padding is
    computed too)."""
    begin = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows):
            longest = len(rows[end][2])
            fits = longest * (end + 1 - begin) <= _TOKENS_AT_ONCE
            if fits and longest <= 1.2 * len(rows[begin][2]) + 2:
                continue
        yield rows[begin:end]
        begin = end


def _cache(lm: CausalLM) -> Any:
    return DynamicCache(config=lm.text_config)


def _run(lm: CausalLM, rows: Sequence[Text], cache: Any) -> None:
    """One pass of the blocks over `rows`, padded on the right, after what `cache` holds."""
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=lm.device)
    decoder = lm.anatomy.decoder
    name = "cache" if "cache" in inspect.signature(decoder.forward).parameters else "past_key_values"
    decoder(input_ids=ids, use_cache=True, return_dict=True, **{name: cache})


def _stacked(lm: CausalLM, states: Sequence[Tensor]) -> Tensor:
    """`[rows, layers, width]` of one state `[rows, width]` per layer, wherever it was computed."""
    if len({state.shape[-1] for state in states}) > 1:
        raise UsageError(f"{type(lm.model).__name__}: its layers are not of one width")
    return torch.stack([state.float().cpu() for state in states], 1)
