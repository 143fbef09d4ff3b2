"""One prompt, several ways to go on: the prompt is computed once, and each way is a row of one batch.

Two uses: the states at different next tokens (what tells "(A" from "(B"), and the probability of an answer's
first token under many different edits of the last prompt token at once (which layer to steer).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import groupby

import torch
from torch import Tensor

from leadline.engine.attention import padding_for
from leadline.engine.blocks import Batch
from leadline.engine.capture import at_site
from leadline.engine.edits import Edit, Site, edited
from leadline.engine.lm import CausalLM
from leadline.engine.passes import afresh
from leadline.engine.plain import plan_equal_lengths
from leadline.engine.plan import Limits, PlannedBatch, plan
from leadline.engine.trunk import Trunk
from leadline.errors import UsageError

# Rows at once: the states of all layers, or edits of all layers for each row, are held together.
_LIMITS = Limits(max_rows=192, token_budget=20_000)


def states_at(
    lm: CausalLM, prompts: Sequence[tuple[int, ...]], nexts: Sequence[tuple[int, ...]], site: Site
) -> Tensor:
    """States at each of the tokens `nexts[i]` after `prompts[i]`, all with as many as the first:
    `[prompts, nexts, layers, width of the site]`, float32, on the CPU."""
    ways = len(nexts[0])
    found: Tensor | None = None
    with closing(_trunks(lm, prompts, ways)) as trunks:
        for trunk, prompt, way in trunks:
            tokens = torch.tensor(
                [nexts[p][w] for p, w in zip(prompt.tolist(), way.tolist(), strict=True)], device=lm.device
            )
            with at_site(lm.anatomy, site) as state:
                trunk.step(tokens)
                states = [state(layer)[: len(tokens), -1].float().cpu() for layer in range(lm.layers)]
            read = torch.stack(states, 1)
            if found is None:
                found = read.new_zeros(len(prompts), ways, *read.shape[1:])
            found[prompt, way] = read
    assert found is not None
    return found


def answer_probabilities(
    lm: CausalLM,
    prompts: Sequence[tuple[int, ...]],
    answers: Sequence[int],
    variants: Sequence[Sequence[Edit]],
) -> Tensor:
    """Probability that `answers[i]` follows `prompts[i]`, under each of several sets of edits of the last
    prompt token: `[prompts, variants]`. No edits: the model as it is. `Edit.positions` is not looked at.

    Raises UsageError for a prompt of fewer than two tokens.
    """
    found = torch.zeros(len(prompts), len(variants))
    table = _Table(variants)
    with closing(_trunks(lm, [ids[:-1] for ids in prompts], len(variants))) as trunks:
        for trunk, prompt, way in trunks:
            picked = prompt.tolist()
            tokens = torch.tensor([prompts[at][-1] for at in picked], device=lm.device)
            wanted = torch.tensor([answers[at] for at in picked], device=lm.device)
            extra = padding_for(len(way)) if isinstance(trunk.batch, Batch) else 0
            with edited(lm.anatomy, table.edits(way, extra)):
                logits = trunk.step(tokens).logits
            likely = logits.float().softmax(-1).gather(1, wanted.to(logits.device)[:, None])[:, 0]
            found[prompt, way] = likely.cpu()
    return found


class _Table:
    """The edits of all variants by place, so that each row of a batch gets those of its own variant."""

    def __init__(self, variants: Sequence[Sequence[Edit]]) -> None:
        self.variants = len(variants)
        flat = [
            (edit.site, edit.layer, number, edit) for number, some in enumerate(variants) for edit in some
        ]
        self.places: dict[tuple[Site, int], dict[int, Edit]] = {}
        for (site, layer), group in groupby(
            sorted(flat, key=lambda each: each[:3]), key=lambda each: each[:2]
        ):
            members = list(group)
            own = {number: edit for _, _, number, edit in members}
            if len(own) != len(members):
                raise ValueError("a variant has two edits at one place")
            self.places[site, layer] = own

    def edits(self, way: Tensor, extra: int) -> list[Edit]:
        """For rows of the variants `way` `[rows]`, and the `extra` rows that the engine adds."""
        made = []
        for (site, layer), own in self.places.items():
            vectors: list[Tensor | None] = []
            for name in ("shift", "scale"):
                given = {
                    number: vector
                    for number, edit in own.items()
                    if (vector := getattr(edit, name)) is not None
                }
                if not given:
                    vectors.append(None)
                    continue
                width = next(iter(given.values())).shape[-1]
                table = torch.zeros(self.variants, width)
                for number, vector in given.items():
                    table[number] = vector.float().cpu()
                vectors.append(torch.nn.functional.pad(table[way], (0, 0, 0, extra))[:, None])
            made.append(Edit(site, layer, vectors[0], vectors[1]))
        return made


def _trunks(
    lm: CausalLM, prompts: Sequence[tuple[int, ...]], ways: int
) -> Generator[tuple[Trunk, Tensor, Tensor], None, None]:
    """The prompts, computed, with `ways` rows each: the trunk, and of each of its rows the prompt and the
    way, `[rows]`."""
    shortest, longest = min(map(len, prompts)), max(map(len, prompts))
    if shortest < 1 or longest + 1 > lm.context_length:
        raise UsageError(
            f"a technique cannot be fitted on prompts of {shortest + 1} to {longest + 1} tokens",
            fix=f"{lm.name} reads 2 to {lm.context_length}",
        )
    for in_blocks in (True, False):
        asked = [at for at, ids in enumerate(prompts) if lm.takes_blocks(len(ids) + 1) == in_blocks]
        rows = [(at, way) for at in asked for way in range(ways)]
        planner = plan if in_blocks else plan_equal_lengths
        for batch in planner([prompts[at] for at, _ in rows], [1] * len(rows), _LIMITS):
            held = [(number, rows[row]) for number, group in enumerate(batch.requests) for row in group]
            planned = PlannedBatch(batch.prefix, batch.prompts, batch.requests)
            with afresh(), lm.running(in_blocks):
                yield (
                    Trunk(lm, planned, [number for number, _ in held], in_blocks=in_blocks),
                    torch.tensor([at for _, (at, _) in held]),
                    torch.tensor([way for _, (_, way) in held]),
                )
