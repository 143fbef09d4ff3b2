"""The way for models that blocks cannot serve: state spaces, linear, chunked or otherwise special attention.

They keep the cache and the attention that `transformers` gives them. Prompts of equal length run together, so
nothing is padded; a prompt's state is repeated for each of its samples, and finished rows are selected away.
Results are the same as those of the blocks, but a row's logits may differ by rounding from one batch to
another (draws and greedy choices hardly ever do, see `draw.py`), and the K samples of a prompt cost K times
its memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from leadline.engine.plan import Limits, PlannedBatch
from leadline.errors import UsageError


@dataclass
class PlainBatch:
    """Rows with the model's own cache. `ids` `[rows, tokens]`: everything before the newest token."""

    cache: Any
    ids: Tensor

    def keep(self, kept: Tensor) -> None:
        """Drop finished rows: `kept` `[kept rows]` are indices into the present rows."""
        self.cache.reorder_cache(kept)
        self.ids = self.ids[kept]

    def fork(self, parents: Tensor) -> None:
        """Add a row for each of `parents` `[new rows]`, indices into the present rows, with its state."""
        self.keep(torch.cat([torch.arange(self.ids.shape[0], device=parents.device), parents]))


def plan_equal_lengths(
    prompts: Sequence[tuple[int, ...]], max_tokens: Sequence[int], limits: Limits
) -> list[PlannedBatch]:
    """As `plan.plan`: every request once; all prompts of a batch have the same length, and each sample counts
    with its whole prompt, because it holds a copy of the prompt's state."""
    order = sorted(range(len(prompts)), key=lambda index: (len(prompts[index]), prompts[index]))
    batches: list[list[int]] = []
    tokens = 0
    for index in order:
        cost = len(prompts[index]) + max_tokens[index]
        fits = (
            batches
            and len(prompts[batches[-1][0]]) == len(prompts[index])
            and len(batches[-1]) < limits.max_rows
            and tokens + cost <= limits.token_budget
        )
        if fits:
            batches[-1].append(index)
            tokens += cost
        else:
            batches.append([index])
            tokens = cost
    planned = []
    for batch in batches:
        by_prompt: dict[tuple[int, ...], list[int]] = {}
        for index in batch:
            by_prompt.setdefault(prompts[index], []).append(index)
        planned.append(PlannedBatch(0, tuple(by_prompt), tuple(map(tuple, by_prompt.values()))))
    return planned


def check_support(model: Any, name: str) -> None:
    """Raises UsageError, naming the architecture, for a model that cannot be continued token by token with a
    cache of `transformers`' common kind."""
    architecture = type(model).__name__
    if getattr(model.config, "is_encoder_decoder", False):
        raise UsageError(
            f"{architecture} is an encoder-decoder model",
            where=name,
            fix="only causal language models can answer",
        )
    if not _arguments(model) & {"cache", "past_key_values"} or model.get_output_embeddings() is None:
        raise UsageError(
            f"the architecture {architecture} keeps its state in a way of its own, which is not supported",
            where=name,
            fix="only models that take a transformers Cache can answer",
        )


def _arguments(model: Any) -> frozenset[str]:
    return _names(type(model).forward)


@cache
def _names(forward: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(forward).parameters)


def prefill(
    model: Any, planned: PlannedBatch, device: torch.device, row_prompt: Tensor
) -> tuple[PlainBatch, Tensor]:
    """The state after each prompt, repeated for its rows (`row_prompt` `[rows]`, ascending), and the logits:
    `[prompts, vocabulary]`."""
    ids = torch.tensor(planned.prompts, device=device)
    state = DynamicCache(config=model.config.get_text_config())
    logits = _forward(model, state, ids, 0)
    batch = PlainBatch(state, ids)
    if len(row_prompt) != len(ids):
        batch.keep(row_prompt)
    return batch, logits


def step(model: Any, batch: PlainBatch, tokens: Tensor) -> Tensor:
    """Feed each row its newest token: `[rows]` → logits `[rows, vocabulary]`."""
    before = batch.ids.shape[1]
    batch.ids = torch.cat([batch.ids, tokens[:, None]], 1)
    if before == rope_switch(model.config.get_text_config()):
        # The rotary frequencies change with this token: the keys that are held were turned by the old ones.
        batch.cache = DynamicCache(config=model.config.get_text_config())
        return _forward(model, batch.cache, batch.ids, 0)
    return _forward(model, batch.cache, tokens[:, None], before)


def step_with_weights(model: Any, batch: PlainBatch, tokens: Tensor) -> tuple[Tensor, tuple[Any, ...]]:
    """As `step`; and each layer's attention weights `[rows, heads, 1, keys]`, where its attention has them
    (else None). Not for texts beyond `rope_switch`."""
    before = batch.ids.shape[1]
    batch.ids = torch.cat([batch.ids, tokens[:, None]], 1)
    out = _output(model, batch.cache, tokens[:, None], before, output_attentions=True)
    return out.logits[:, -1], tuple(out.attentions or ())


def _forward(model: Any, state: Any, new: Tensor, before: int) -> Tensor:
    logits: Tensor = _output(model, state, new, before).logits
    return logits[:, -1]


def _output(model: Any, state: Any, new: Tensor, before: int, **asked: Any) -> Any:
    known = _arguments(model)
    rows, count = new.shape
    given: dict[str, Any] = {"cache" if "cache" in known else "past_key_values": state}
    # No attention mask: nothing is padded, and a state-space model would take a mask as long as the text for
    # one of the new token alone, and multiply.
    if "position_ids" in known:
        given["position_ids"] = torch.arange(before, before + count, device=new.device).expand(rows, count)
    if "logits_to_keep" in known:
        given["logits_to_keep"] = 1
    return model(input_ids=new, use_cache=True, return_dict=True, **given, **asked)


def rope_switch(config: Any) -> int | None:
    """The length beyond which a model with "longrope" turns all its positions by other frequencies, or None.

    From there on every earlier key is another one, so prompts on both sides of it cannot share a pass.
    """
    parameters = getattr(config, "rope_parameters", None) or {}
    kinds = [parameters, *(value for value in parameters.values() if isinstance(value, dict))]
    name = "original_max_position_embeddings"
    lengths = [
        kind.get(name) or getattr(config, name, None) for kind in kinds if kind.get("rope_type") == "longrope"
    ]
    return min((int(length) for length in lengths if length), default=None)
