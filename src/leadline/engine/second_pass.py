"""The second forward pass of a contrasting technique on an ordinary `transformers` model.

It has its own cache, which is filled once with the prompt and then advances with the chosen tokens; nothing
is ever computed again from the start.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from leadline.engine.anatomy import Anatomy
from leadline.engine.decoding import Decoding, Lane
from leadline.engine.passes import Pass, passing
from leadline.errors import UsageError


class SecondPass:
    """One lane of one generation. `call` is the model's own forward, without the technique."""

    def __init__(self, anatomy: Anatomy, lane: Lane, call: Any) -> None:
        self.lane = lane
        self.model = anatomy.model if lane.amateur is None else lane.amateur.model
        self.call = call if lane.amateur is None else self.model.forward
        self.names = frozenset(inspect.signature(self.call).parameters)
        self.cache: Any = None
        self.mask: Tensor | None = None  # [rows, tokens so far]

    def logits(
        self, decoding: Decoding, given: dict[str, Any], this: Pass, positions: Tensor, uses_cache: bool
    ) -> Tensor:
        """Logits of this pass at `positions`: `[rows, kept, vocabulary]`."""
        ids = given.get("input_ids")
        if ids is None:
            raise UsageError("this technique needs input_ids, not inputs_embeds")
        weight = self.model.get_input_embeddings().weight
        device = ids.device if weight.is_meta else weight.device  # what is offloaded moves its inputs itself
        ids = ids.to(device)
        if this.decoding:
            assert self.mask is not None
            new = torch.ones_like(ids)
        else:
            new = torch.ones_like(ids) if this.real is None else this.real.to(device, ids.dtype)
            if self.lane.mask is None and self.lane.amateur is None:
                ids, new, this = self._without(decoding, ids, new, this)
        self.mask = new if self.mask is None else torch.cat([self.mask, new], 1)
        if uses_cache and self.cache is None:
            self.cache = DynamicCache(config=self.model.config.get_text_config())
        passed: dict[str, Any] = {"input_ids": ids, "return_dict": True, "use_cache": uses_cache}
        if not bool(self.mask.all()):
            passed["attention_mask"] = self.mask
        if "position_ids" in self.names:
            passed["position_ids"] = (self.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        if uses_cache:
            passed["cache" if "cache" in self.names else "past_key_values"] = self.cache
        # Positions count from the end: another prompt need not be as long as the model's own.
        tokens = given["input_ids"].shape[1]
        from_end = (tokens - positions).to(device)
        reach = int(from_end.max())
        if "logits_to_keep" in self.names:
            passed["logits_to_keep"] = min(reach, ids.shape[1])
        masked = None if self.lane.mask is None else torch.ones(ids.shape[0], dtype=torch.bool, device=device)
        pass_ = Pass(this.answer_from, this.decoding, this.real, masked, self.lane.everywhere)
        with torch.no_grad(), passing(pass_):
            out: Tensor = self.call(**passed).logits
        if out.shape[1] < reach:  # beyond the beginning of a shorter text: nothing to contrast with
            out = torch.nn.functional.pad(out, (0, 0, reach - out.shape[1], 0))
        return out[:, out.shape[1] - from_end]

    def _without(
        self, decoding: Decoding, ids: Tensor, real: Tensor, this: Pass
    ) -> tuple[Tensor, Tensor, Pass]:
        """The same rows after their other prompt, left-padded."""
        without = getattr(decoding, "without", None)
        if without is None:
            raise UsageError(
                "this technique contrasts a prompt with the same prompt without its context",
                fix="give on(model, tokenizer, without=...) a function from token ids to token ids",
            )
        rows = [without(row[keep.bool()].tolist()) for row, keep in zip(ids, real, strict=True)]
        width = max(map(len, rows))
        padded = torch.tensor([[0] * (width - len(row)) + row for row in rows], device=ids.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=ids.device)
        moved = None
        if this.answer_from is not None:
            moved = this.answer_from.to(ids.device) + width - ids.shape[1]
        return padded, mask, Pass(moved, real=mask.bool())
