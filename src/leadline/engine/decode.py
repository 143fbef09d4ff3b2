"""The decode loop: prefill each prompt once, fork it into its samples, step, and let finished rows go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.attention import MINIMUM_ROWS, padding_for
from leadline.engine.blocks import Batch
from leadline.engine.draw import SumTree, tree_depth
from leadline.engine.keyed import uniforms
from leadline.engine.lm import CausalLM
from leadline.engine.plan import Limits, PlannedBatch, plan
from leadline.engine.rank import token_ranks
from leadline.engine.request import Failure, Generation, GoldProbe, Request
from leadline.engine.stops import StopWatch

# Rows that have finished go on being computed until they are this share of the batch: taking them out copies
# the keys and values of the others.
_COMPACT_AT = 0.06

# Tokens prefilled at once. More makes no product faster, and the activations outgrow the processor's cache.
_PREFILL_TOKENS = 1536


@dataclass
class _Row:
    """A sequence being written."""

    request: int
    stop: StopWatch
    limit: int
    ids: list[int] = field(default_factory=list)


def generate(
    lm: CausalLM, requests: Sequence[Request], limits: Limits | None = None
) -> Iterator[tuple[int, Generation | Failure]]:
    """Answer requests, batch by batch: yields (index of the request, generation) as rows finish.

    What a request gives does not depend on the other requests, on their order or on `limits`. A prompt that
    leaves no room for its answer in the model's context is a `Failure`. Greedy requests that are the same in
    all but their key are computed once.
    """
    texts = [lm.text_of(request.prompt) for request in requests]
    encoded = _encode(lm, requests, texts)
    twins: dict[int, list[int]] = {}  # the request that is computed → those that get the same answer
    first: dict[object, int] = {}
    for index, (request, ids) in enumerate(zip(requests, encoded, strict=True)):
        if len(ids) + request.sampling.max_tokens > lm.context_length:
            needed = f"{len(ids)} tokens of prompt and {request.sampling.max_tokens} of answer"
            yield index, Failure("too_long", f"{needed} do not fit into {lm.context_length}")
            continue
        same: object = (ids, request.sampling, request.gold) if request.sampling.temperature == 0 else index
        twins.setdefault(first.setdefault(same, index), []).append(index)
    limits = limits or Limits()
    total = {index: len(encoded[index]) + requests[index].sampling.max_tokens for index in twins}
    for in_blocks, planner in ((True, plan), (False, plain.plan_equal_lengths)):
        asked = [index for index in twins if lm.takes_blocks(total[index]) == in_blocks]
        lengths = [requests[i].sampling.max_tokens for i in asked]
        for batch in planner([encoded[i] for i in asked], lengths, limits):
            groups = tuple(tuple(asked[i] for i in group) for group in batch.requests)
            planned = PlannedBatch(batch.prefix, batch.prompts, groups)
            with lm.running(in_blocks):
                for index, generation in _run(lm, requests, texts, planned, in_blocks):
                    for twin in twins[index]:
                        yield twin, generation


def _encode(lm: CausalLM, requests: Sequence[Request], texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Token ids of each request; the K samples of one prompt are tokenised once."""
    known: dict[tuple[str, bool], tuple[int, ...]] = {}
    for request, text in zip(requests, texts, strict=True):
        key = (text, request.prompt.text is not None)
        if key not in known:
            known[key] = tuple(lm.encode(*key))
    return [
        known[text, request.prompt.text is not None] for request, text in zip(requests, texts, strict=True)
    ]


def _prefill(lm: CausalLM, planned: PlannedBatch) -> tuple[Batch, Tensor]:
    """Keys and values of all prompts, and the logits after each: `[prompts, vocabulary]`."""
    device = lm.device
    rest = [prompt[planned.prefix :] for prompt in planned.prompts]
    lengths = torch.tensor([len(ids) for ids in planned.prompts], device=device)
    counts = torch.tensor([len(group) for group in planned.requests], device=device)
    row_prompt = torch.repeat_interleave(torch.arange(len(rest), device=device), counts)
    batch = lm.new_batch(planned.prefix, lengths, row_prompt)
    if planned.prefix:
        ids = torch.tensor([planned.prompts[0][: planned.prefix]], device=device)
        lm.forward(batch, "prefix", ids, torch.arange(planned.prefix, device=device)[None], None)
        batch.seal_prefix()
    parts, logits = [], []
    for start, stop in _slices([len(ids) for ids in rest]):
        part = batch.part(start, stop)
        # Padded on the right: a causal model never looks there. Widths are multiples of 8 so that every
        # matrix product has at least MINIMUM_ROWS rows.
        width = -(-max(len(ids) for ids in rest[start:stop]) // MINIMUM_ROWS) * MINIMUM_ROWS
        padded = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in rest[start:stop]], device=device)
        # Padding stays within the model's table of positions, and short of where frequencies change.
        positions = torch.arange(planned.prefix, planned.prefix + width, device=device)
        positions = positions.clamp(max=lm.block_context - 1).expand(stop - start, width)
        found = lm.forward(part, "prompt", padded, positions, part.rows.prompt_length - 1 - planned.prefix)
        assert found is not None
        logits.append(found)
        parts.append(part)
    batch.join(parts)
    return batch, torch.cat(logits)


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


def _probes(
    lm: CausalLM, requests: Sequence[Request], texts: Sequence[str], planned: PlannedBatch, logits: Tensor
) -> list[tuple[GoldProbe, ...]]:
    """Rank and log-probability of the first token of each gold answer, per prompt: read off the prefill."""
    wanted: list[tuple[int, str, int]] = []
    for prompt, group in enumerate(planned.requests):
        answers = dict.fromkeys(answer for index in group for answer in requests[index].gold)
        wanted += [(prompt, answer, lm.first_token(texts[group[0]], answer)) for answer in answers]
    probes: list[list[GoldProbe]] = [[] for _ in planned.prompts]
    if not wanted:
        return [()] * len(planned.prompts)
    for start in range(0, len(wanted), 256):  # a slice at a time: each row is a whole distribution
        part = wanted[start : start + 256]
        rows = torch.tensor([prompt for prompt, _, _ in part], device=logits.device)
        tokens = torch.tensor([token for _, _, token in part], device=logits.device)
        ranks, logprobs, masked = (found.tolist() for found in token_ranks(logits[rows], tokens))
        for (prompt, answer, token), rank, logprob, out in zip(part, ranks, logprobs, masked, strict=True):
            probes[prompt].append(GoldProbe(answer, token, lm.pieces[token], rank, logprob, out))
    return [tuple(found) for found in probes]


def _run(
    lm: CausalLM, requests: Sequence[Request], texts: Sequence[str], planned: PlannedBatch, in_blocks: bool
) -> Iterator[tuple[int, Generation]]:
    batch: Batch | plain.PlainBatch
    batch, logits = _prefill(lm, planned) if in_blocks else plain.prefill(lm.model, planned, lm.device)
    probes = _probes(lm, requests, texts, planned, logits)
    prompt_of = {index: at for at, group in enumerate(planned.requests) for index in group}
    rows = [_row(lm, index, requests[index]) for group in planned.requests for index in group]
    chooser = _Chooser(lm, requests, rows)
    forks = [at for at, group in enumerate(planned.requests) for _ in group]
    logits = logits[torch.tensor(forks, device=lm.device)]  # a sample starts from its prompt's distribution
    live = list(range(len(rows)))  # rows[live[i]] is row i of the batch
    open_rows = set(live)
    for step in range(max(row.limit for row in rows)):
        tokens = chooser.choose(logits, live, step)
        for at, token in zip(live, tokens.tolist(), strict=True):
            if at not in open_rows:
                continue
            row = rows[at]
            row.ids.append(token)
            text = row.stop.cut(row.ids)
            ended = token in lm.end_tokens
            if text is not None or ended or len(row.ids) >= row.limit:
                open_rows.remove(at)
                request = row.request
                prompt = prompt_of[request]
                yield (
                    request,
                    Generation(
                        text=lm.decode(row.ids[:-1] if ended else row.ids) if text is None else text,
                        finish="stop" if text is not None or ended else "length",
                        prompt_tokens=len(planned.prompts[prompt]),
                        token_ids=tuple(row.ids),
                        probes=_for(requests[request], probes[prompt]),
                    ),
                )
        if not open_rows:
            return
        if len(live) - len(open_rows) >= max(1, _COMPACT_AT * len(live)):
            kept = [i for i, at in enumerate(live) if at in open_rows]
            index = torch.tensor(kept, device=lm.device)
            batch.keep(index)
            tokens, live = tokens[index], [live[i] for i in kept]
        if isinstance(batch, plain.PlainBatch):
            logits = plain.step(lm.model, batch, tokens)
        else:
            logits = _step(lm, batch, tokens)


def _row(lm: CausalLM, index: int, request: Request) -> _Row:
    ends = frozenset(stop[-1] for stop in request.sampling.stop)
    may_stop = _stop_tokens(lm, ends) if ends else frozenset()
    return _Row(index, StopWatch(request.sampling.stop, may_stop, lm.decode), request.sampling.max_tokens)


def _stop_tokens(lm: CausalLM, ends: frozenset[str]) -> frozenset[int]:
    """As `lm.tokens_with`, remembered: there are few different sets of stop strings."""
    known: dict[frozenset[str], frozenset[int]] = lm.__dict__.setdefault("_stop_tokens", {})
    if ends not in known:
        known[ends] = lm.tokens_with(ends)
    return known[ends]


def _for(request: Request, probes: tuple[GoldProbe, ...]) -> tuple[GoldProbe, ...]:
    """The probes that this request asked for, in its order."""
    by_answer = {probe.answer: probe for probe in probes}
    return tuple(by_answer[answer] for answer in request.gold)


def _step(lm: CausalLM, batch: Batch, tokens: Tensor) -> Tensor:
    """Feed each row its newest token: `[rows]` → logits `[rows, vocabulary]`."""
    rows = batch.rows
    count = tokens.shape[0]
    # Rows that have finished may stand beyond the last position; nobody reads what they compute.
    positions = (rows.prompt_length[rows.row_prompt] + rows.generated).clamp(max=lm.block_context - 1)
    extra = padding_for(count)
    tokens, positions = (torch.nn.functional.pad(each, (0, extra)) for each in (tokens, positions))
    first = torch.zeros(count + extra, dtype=torch.long, device=lm.device)
    logits = lm.forward(batch, "decode", tokens[:, None], positions[:, None], first)
    assert logits is not None
    rows.generated += 1
    return logits[:count]


class _Chooser:
    """Picks the next token of every row: argmax at temperature 0, else a keyed draw."""

    def __init__(self, lm: CausalLM, requests: Sequence[Request], rows: Sequence[_Row]) -> None:
        depth = tree_depth(lm.vocabulary)
        self.temperatures = [requests[row.request].sampling.temperature for row in rows]
        self.tables = [
            uniforms(requests[row.request].key, row.limit, depth) if temperature > 0 else None
            for row, temperature in zip(rows, self.temperatures, strict=True)
        ]
        self.depth = depth

    def choose(self, logits: Tensor, live: Sequence[int], step: int) -> Tensor:
        """`logits` `[rows, vocabulary]`; `live` names each row → `[rows]` token ids."""
        tokens = torch.empty(len(live), dtype=torch.long, device=logits.device)
        for temperature in dict.fromkeys(self.temperatures[at] for at in live):
            where = [i for i, at in enumerate(live) if self.temperatures[at] == temperature]
            whole = len(where) == len(live)
            index = torch.tensor(where, device=logits.device)
            part = logits if whole else logits[index]
            if temperature > 0:
                table = np.zeros((len(where), self.depth))
                for i, at in enumerate(where):
                    uniform = self.tables[live[at]]
                    # A row past its limit has finished and only waits to be taken out.
                    if uniform is not None and step < len(uniform):
                        table[i] = uniform[step]
                chosen = SumTree(part, temperature).draw(torch.from_numpy(table).to(logits.device))
            else:
                chosen = part.argmax(-1)
            tokens[index] = chosen
        return tokens
