"""One model decoding one batch: prompts are computed once, rows fork from them, step, and leave.

Hides whether the model runs in blocks or with its own cache (`plain.py`), and reads off the residual stream
what a decoding technique asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.attention import MINIMUM_ROWS, padding_for
from leadline.engine.blocks import Batch
from leadline.engine.capture import picked, residuals
from leadline.engine.lm import CausalLM
from leadline.engine.passes import Pass, passing
from leadline.engine.plan import PlannedBatch

# Tokens prefilled at once. More makes no product faster, and the activations outgrow the processor's cache.
_PREFILL_TOKENS = 1536


@dataclass
class Look:
    """What a pass gave at the positions that count: `logits` `[n, vocabulary]`, and by place of the residual
    stream `[n, hidden]`."""

    logits: Tensor
    residuals: dict[int, Tensor] = field(default_factory=dict)

    def rows(self, index: Tensor) -> Look:
        """The same of some rows."""
        return Look(
            self.logits[index], {at: state[index.to(state.device)] for at, state in self.residuals.items()}
        )


class Trunk:
    """The rows of one batch in one model.

    `prompt` is the look after each prompt; `contexts` per prompt the states `[tokens, hidden]` at place
    `context`. `row_prompt` names the prompt of each row, ascending; `masked` the rows whose heads are masked,
    `masked_prompt` says that they are masked throughout the prompts too.
    """

    def __init__(
        self,
        lm: CausalLM,
        planned: PlannedBatch,
        row_prompt: Sequence[int],
        *,
        in_blocks: bool,
        places: Sequence[int] = (),
        context: int | None = None,
        masked: Sequence[bool] | None = None,
        masked_prompt: bool = False,
    ) -> None:
        self.lm = lm
        self.places = tuple(places)
        self.context = context
        self.masked = None if masked is None else torch.tensor(masked, device=lm.device)
        self.masked_prompt = masked_prompt
        self.contexts: list[Tensor] = []
        self.row_prompt = torch.tensor(row_prompt, device=lm.device)
        self.batch: Batch | plain.PlainBatch
        if in_blocks:
            self.batch, self.prompt = self._prefill(planned)
        else:
            self.batch, self.prompt = self._plain_prefill(planned)

    def keep(self, kept: Tensor) -> None:
        """Drop finished rows: `kept` are indices into the present rows, ascending."""
        self.batch.keep(kept)
        self.row_prompt = self.row_prompt[kept]
        if self.masked is not None:
            self.masked = self.masked[kept]

    def fork(self, parents: Tensor) -> None:
        """Add a row for each of `parents` `[new rows]`, indices into the present rows, with its state."""
        self.batch.fork(parents)
        self.row_prompt = torch.cat([self.row_prompt, self.row_prompt[parents]])
        if self.masked is not None:
            self.masked = torch.cat([self.masked, self.masked[parents]])

    def step(self, tokens: Tensor) -> Look:
        """Feed each row its newest token: `[rows]` → the look at each row."""
        batch, lm = self.batch, self.lm
        count = tokens.shape[0]
        masked = self.masked
        with residuals(lm.anatomy, self.places) if self.places else _nothing() as found:
            if isinstance(batch, plain.PlainBatch):
                with passing(Pass(decoding=True, masked=masked)):
                    logits = plain.step(lm.model, batch, tokens)
                # A model that starts afresh at a change of frequencies has gone through all tokens again.
                return Look(logits, {place: found[place][:, -1] for place in self.places})
            rows = batch.rows
            # Rows that have finished may stand beyond the last position; nobody reads what they compute.
            positions = (rows.prompt_length[rows.row_prompt] + rows.generated).clamp(max=lm.block_context - 1)
            extra = padding_for(count)
            tokens, positions = (torch.nn.functional.pad(each, (0, extra)) for each in (tokens, positions))
            if masked is not None:
                masked = torch.nn.functional.pad(masked, (0, extra))
            first = torch.zeros(count + extra, dtype=torch.long, device=lm.device)
            with passing(Pass(decoding=True, masked=masked)):
                full = lm.forward(batch, "decode", tokens[:, None], positions[:, None], first)
            assert full is not None
            rows.generated += 1
            return Look(full[:count], {place: found[place][:count, 0] for place in self.places})

    def _prompt_pass(self, last: Tensor | None, owners: int) -> Pass:
        masked = torch.ones(owners, dtype=torch.bool, device=self.lm.device) if self.masked_prompt else None
        return Pass(last, masked=masked, everywhere=self.masked_prompt)

    def _watched(self) -> tuple[int, ...]:
        return self.places if self.context is None else tuple({*self.places, self.context})

    def _plain_prefill(self, planned: PlannedBatch) -> tuple[plain.PlainBatch, Look]:
        lm = self.lm
        length = len(planned.prompts[0])
        last = torch.full((len(planned.prompts),), length - 1, device=lm.device)
        with residuals(lm.anatomy, self._watched()) if self._watched() else _nothing() as found:
            with passing(self._prompt_pass(last, len(last))):
                batch, logits = plain.prefill(lm.model, planned, lm.device, self.row_prompt)
            look = Look(logits, {place: found[place][:, -1] for place in self.places})
            if self.context is not None:
                self.contexts = list(found[self.context])
        return batch, look

    def _prefill(self, planned: PlannedBatch) -> tuple[Batch, Look]:
        lm = self.lm
        device = lm.device
        rest = [prompt[planned.prefix :] for prompt in planned.prompts]
        lengths = torch.tensor([len(ids) for ids in planned.prompts], device=device)
        batch = lm.new_batch(planned.prefix, lengths, self.row_prompt)
        watched = self._watched()
        before: Tensor | None = None
        parts: list[Batch] = []
        looks: list[Look] = []
        with residuals(lm.anatomy, watched) if watched else _nothing() as found:
            if planned.prefix:
                ids = torch.tensor([planned.prompts[0][: planned.prefix]], device=device)
                with passing(self._prompt_pass(None, 1)):
                    lm.forward(batch, "prefix", ids, torch.arange(planned.prefix, device=device)[None], None)
                batch.seal_prefix()
                if self.context is not None:
                    before = found[self.context][0]
            for start, stop in _slices([len(ids) for ids in rest]):
                part = batch.part(start, stop)
                # Padded on the right: a causal model never looks there. Widths are multiples of 8 so that
                # every matrix product has at least MINIMUM_ROWS rows.
                width = -(-max(len(ids) for ids in rest[start:stop]) // MINIMUM_ROWS) * MINIMUM_ROWS
                padded = torch.tensor(
                    [[*ids, *[0] * (width - len(ids))] for ids in rest[start:stop]], device=device
                )
                # Padding stays within the model's table of positions, and short of where frequencies change.
                positions = torch.arange(planned.prefix, planned.prefix + width, device=device)
                positions = positions.clamp(max=lm.block_context - 1).expand(stop - start, width)
                last = part.rows.prompt_length - 1 - planned.prefix
                with passing(self._prompt_pass(last, stop - start)):
                    logits = lm.forward(part, "prompt", padded, positions, last)
                assert logits is not None
                looks.append(Look(logits, {place: picked(found[place], last) for place in self.places}))
                if self.context is not None:
                    for ids_here, states in zip(rest[start:stop], found[self.context], strict=True):
                        own = states[: len(ids_here)]
                        self.contexts.append(own.clone() if before is None else torch.cat([before, own]))
                parts.append(part)
        batch.join(parts)
        return batch, _joined(looks)


def _joined(looks: Sequence[Look]) -> Look:
    places = looks[0].residuals
    return Look(
        torch.cat([look.logits for look in looks]),
        {place: torch.cat([look.residuals[place] for look in looks]) for place in places},
    )


def _slices(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Cut prompts, which come in order of length, into slices that are prefilled together: of about equal
    length (padding is computed too), and few enough tokens that a layer's activations stay in the cache."""
    start = 0
    for stop in range(1, len(lengths) + 1):
        if stop == len(lengths):
            yield start, stop
            return
        longest = lengths[stop]
        grown = longest * (stop + 1 - start)
        if grown > _PREFILL_TOKENS or longest > lengths[start] * 1.15 + MINIMUM_ROWS:
            yield start, stop
            start = stop


class _nothing:  # noqa: N801 - reads as a value
    """A context in which nothing is captured."""

    def __enter__(self) -> dict[int, Tensor]:
        return {}

    def __exit__(self, *exc: object) -> None:
        return None
