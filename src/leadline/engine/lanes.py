"""The rows of a batch under a technique: one or two forward passes per step, and the scores made of them.

A technique that contrasts two passes of the same model (masked heads; another prompt) runs both as rows of
one batch, so the weights are read once for both. Another model has a batch of its own. Both advance with the
tokens that were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from leadline.engine.decoding import Decoding, Scores, Seen
from leadline.engine.lm import CausalLM
from leadline.engine.plan import PlannedBatch, common_prefix
from leadline.engine.trunk import Look, Trunk


class Lanes:
    """Decodes the rows of a planned batch: `first()` scores, then `step(tokens)` after each choice.

    `others` are the prompts of the second lane, one per row, where it has prompts of its own; all of one
    length where the model does not run in blocks.
    """

    def __init__(
        self,
        lm: CausalLM,
        planned: PlannedBatch,
        decoding: Decoding | None,
        in_blocks: bool,
        others: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.lm, self.decoding = lm, decoding
        self.row_prompt = [at for at, group in enumerate(planned.requests) for _ in group]
        self.contexts: list[Tensor] = []
        self.second: Trunk | None = None
        # Where both lanes are rows of one trunk: the rows of the first, and those of the second.
        self.main_rows = torch.arange(len(self.row_prompt), device=lm.device)
        self.lane_rows: Tensor | None = None
        self.pending: Tensor | None = None  # the last prompt token, where it is the first step
        lane = decoding.lane if decoding else None
        reads: dict[str, Any] = {"in_blocks": in_blocks}
        if decoding is not None:
            reads |= {"places": decoding.places, "context": decoding.context}
        if lane is None or lane.amateur is not None:
            self.trunk = Trunk(lm, planned, self.row_prompt, **reads)
            if lane is not None:
                amateur: CausalLM = lane.amateur
                self.second = Trunk(amateur, planned, self.row_prompt, in_blocks=amateur.in_blocks)
        elif lane.mask is not None and lane.everywhere:
            self.trunk = Trunk(lm, planned, self.row_prompt, **reads)
            rows = [True] * len(self.row_prompt)
            self.second = Trunk(
                lm, planned, self.row_prompt, in_blocks=in_blocks, masked=rows, masked_prompt=True
            )
        elif lane.mask is not None:
            self._two_rows_each(planned, reads)
        else:
            assert others is not None
            if in_blocks:
                self._two_prompts_each(planned, others, reads)
            else:  # whose prompts have to be of one length
                self.trunk = Trunk(lm, planned, self.row_prompt, **reads)
                apart = PlannedBatch(0, tuple(others), tuple((row,) for row in range(len(others))))
                self.second = Trunk(lm, apart, range(len(others)), in_blocks=False)

    def _two_rows_each(self, planned: PlannedBatch, reads: dict[str, Any]) -> None:
        """Both lanes share the prompt but for its last token, which is the first that they see apart."""
        shorter = tuple(prompt[:-1] for prompt in planned.prompts)
        order = [(prompt, lane, row) for lane in (0, 1) for row, prompt in enumerate(self.row_prompt)]
        order.sort()
        self.trunk = Trunk(
            self.lm,
            PlannedBatch(common_prefix(shorter), shorter, planned.requests),
            [prompt for prompt, _, _ in order],
            masked=[lane == 1 for _, lane, _ in order],
            **reads,
        )
        self._lay_out(order)
        last = [planned.prompts[prompt][-1] for prompt in self.row_prompt]
        self.pending = torch.tensor(last, device=self.lm.device)

    def _two_prompts_each(
        self, planned: PlannedBatch, others: Sequence[tuple[int, ...]], reads: dict[str, Any]
    ) -> None:
        prompts = list(dict.fromkeys([*planned.prompts, *others]))
        prompts.sort(key=lambda prompt: (len(prompt), prompt))
        number = {prompt: at for at, prompt in enumerate(prompts)}
        own = [planned.prompts[prompt] for prompt in self.row_prompt]
        order = [
            (number[prompt], lane, row)
            for lane, prompts_of_rows in enumerate((own, others))
            for row, prompt in enumerate(prompts_of_rows)
        ]
        order.sort()
        together = PlannedBatch(common_prefix(prompts), tuple(prompts), planned.requests)
        self.trunk = Trunk(self.lm, together, [prompt for prompt, _, _ in order], **reads)
        self._lay_out(order)

    def _lay_out(self, order: Sequence[tuple[int, int, int]]) -> None:
        where = {(lane, row): at for at, (_, lane, row) in enumerate(order)}
        rows = range(len(self.row_prompt))
        self.main_rows = torch.tensor([where[0, row] for row in rows], device=self.lm.device)
        self.lane_rows = torch.tensor([where[1, row] for row in rows], device=self.lm.device)

    def __len__(self) -> int:
        """Rows."""
        return len(self.row_prompt)

    def first(self) -> Scores:
        """Scores of each row's first token."""
        if self.pending is not None:
            return self.step(self.pending)
        look = self.trunk.prompt.rows(self.trunk.row_prompt)
        second = None if self.second is None else self.second.prompt.rows(self.second.row_prompt)
        return self._scored(look, second)

    def step(self, tokens: Tensor) -> Scores:
        """Feed each row its newest token: `[rows]` → scores of the next."""
        if self.lane_rows is not None:
            both = torch.empty(2 * tokens.shape[0], dtype=tokens.dtype, device=tokens.device)
            both[self.main_rows] = tokens
            both[self.lane_rows] = tokens
            tokens = both
        look = self.trunk.step(tokens)
        second = None if self.second is None else self.second.step(tokens.to(self.second.lm.device))
        return self._scored(look, second)

    def keep(self, kept: Tensor) -> None:
        """Drop finished rows: `kept` are indices into the present rows, ascending."""
        if self.lane_rows is None:
            self.trunk.keep(kept)
        else:
            main, lane = self.main_rows[kept], self.lane_rows[kept]
            remaining, where = torch.sort(torch.cat([main, lane]))
            self.trunk.keep(remaining)
            place = torch.empty_like(where)
            place[where] = torch.arange(where.shape[0], device=where.device)
            self.main_rows, self.lane_rows = place[: kept.shape[0]], place[kept.shape[0] :]
        if self.second is not None:
            self.second.keep(kept.to(self.second.lm.device))
        self.row_prompt = [self.row_prompt[row] for row in kept.tolist()]

    def fork(self, parents: Tensor) -> None:
        """Add a row for each of `parents` `[new rows]`, indices into the present rows, with its state."""
        before, new = len(self.row_prompt), parents.shape[0]
        if self.lane_rows is None:
            self.trunk.fork(parents)
        else:
            self.trunk.fork(torch.cat([self.main_rows[parents], self.lane_rows[parents]]))
            added = torch.arange(2 * before, 2 * (before + new), device=self.lm.device)
            self.main_rows = torch.cat([self.main_rows, added[:new]])
            self.lane_rows = torch.cat([self.lane_rows, added[new:]])
        if self.second is not None:
            self.second.fork(parents.to(self.second.lm.device))
        self.row_prompt += [self.row_prompt[row] for row in parents.tolist()]

    def _scored(self, look: Look, second: Look | None) -> Scores:
        if self.decoding is None:
            return Scores(look.logits)
        lane = None if second is None else second.logits.to(look.logits.device).float()
        if self.lane_rows is not None:
            lane = look.logits[self.lane_rows].float()
            look = look.rows(self.main_rows)
        contexts = [self.trunk.contexts[prompt] for prompt in self.row_prompt] if self.trunk.contexts else ()
        seen = Seen(self.lm.anatomy, look.logits.float(), look.residuals, contexts, lane)
        return self.decoding.scores(seen)
