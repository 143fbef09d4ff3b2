"""The decode loop: prefill each prompt once, fork it into its samples, step, and let finished rows go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.draw import SumTree, tree_depth
from leadline.engine.edits import edited
from leadline.engine.intervention import NOTHING, Intervention
from leadline.engine.keyed import uniforms
from leadline.engine.lanes import Lanes
from leadline.engine.lm import CausalLM
from leadline.engine.plan import Limits, PlannedBatch, plan
from leadline.engine.rank import token_ranks
from leadline.engine.request import Failure, Generation, GoldProbe, OnText, Request
from leadline.engine.session import is_under_a_technique
from leadline.engine.stops import StopWatch
from leadline.errors import UsageError

# Called with the index of a request and the scores of its first token, `[vocabulary]`.
Watch = Callable[[int, Tensor], None]

# Rows that have finished go on being computed until they are this share of the batch: taking them out copies
# the keys and values of the others.
_COMPACT_AT = 0.06


@dataclass
class _Row:
    """A sequence being written."""

    request: int
    stop: StopWatch
    limit: int
    ids: list[int] = field(default_factory=list)
    details: dict[str, list[Any]] = field(default_factory=dict)


def generate(
    lm: CausalLM,
    requests: Sequence[Request],
    limits: Limits | None = None,
    intervention: Intervention = NOTHING,
    watch: Watch | None = None,
    on_text: OnText | None = None,
) -> Iterator[tuple[int, Generation | Failure]]:
    """Answer requests, batch by batch: yields (index of the request, generation) as rows finish.

    What a request gives does not depend on the other requests, on their order or on `limits`. A prompt that
    leaves no room for its answer in the model's context is a `Failure`. Greedy requests that are the same in
    all but their key are computed once. `intervention` is what a technique does to the model; `watch` is
    called with the scores of each request's first token.
    """
    if is_under_a_technique(lm.model):
        raise UsageError(
            "the model is under a technique already", fix="leave that context, or call the model itself"
        )
    if _contrasts_prompts(intervention) and (alone := [i for i, r in enumerate(requests) if not r.without]):
        # Where there is no other prompt there is nothing to contrast, and no second lane to pay for.
        for asked, bare in ((alone, True), ([i for i, r in enumerate(requests) if r.without], False)):
            found = generate(
                lm,
                [requests[i] for i in asked],
                limits,
                Intervention(intervention.edits) if bare else intervention,
                _renumbered(watch, asked),
            )
            yield from ((asked[at], generation) for at, generation in found)
        return
    texts = [lm.text_of(request.prompt) for request in requests]
    encoded = _encode(lm, requests)
    others = _others(lm, requests, intervention)
    twins: dict[int, list[int]] = {}  # the request that is computed → those that get the same answer
    first: dict[object, int] = {}
    masks = intervention.decoding.lane if intervention.decoding else None
    for index, (request, ids) in enumerate(zip(requests, encoded, strict=True)):
        room = lm.context_length - request.sampling.max_tokens
        longest = max(len(ids), len(others[index])) if others else len(ids)
        if longest > room:
            needed = f"{longest} tokens of prompt and {request.sampling.max_tokens} of answer"
            yield index, Failure("too_long", f"{needed} do not fit into {lm.context_length}")
            continue
        if masks is not None and masks.mask is not None and len(ids) < 2:
            yield index, Failure("too_short", "heads cannot be masked after a prompt of one token")
            continue
        other = others[index] if others else None
        same: object = (
            (ids, other, request.sampling, request.gold) if request.sampling.temperature == 0 else index
        )
        twins.setdefault(first.setdefault(same, index), []).append(index)
    limits = (limits or Limits()).shared_by(2 if masks is not None else 1)
    total = {index: len(encoded[index]) + requests[index].sampling.max_tokens for index in twins}
    if others:
        total = {index: total[index] + max(0, len(others[index]) - len(encoded[index])) for index in twins}
    mask = masks.mask if masks is not None else None
    for asked, in_blocks in _parts(lm, total, others):
        planner = plan if in_blocks else plain.plan_equal_lengths
        lengths = [requests[i].sampling.max_tokens for i in asked]
        for batch in planner([encoded[i] for i in asked], lengths, limits):
            groups = tuple(tuple(asked[i] for i in group) for group in batch.requests)
            planned = PlannedBatch(batch.prefix, batch.prompts, groups)
            with ExitStack() as stack:
                stack.enter_context(lm.running(in_blocks))
                if masks is not None and masks.amateur is not None:
                    stack.enter_context(masks.amateur.running(masks.amateur.in_blocks))
                if not intervention.is_empty:
                    stack.enter_context(edited(lm.anatomy, intervention.edits, mask))
                for index, generation in _run(
                    lm, requests, texts, planned, in_blocks, intervention, others, watch
                ):
                    for twin in twins[index]:
                        yield twin, generation


def _parts(
    lm: CausalLM, total: Mapping[int, int], others: Sequence[tuple[int, ...]] | None
) -> Iterator[tuple[list[int], bool]]:
    """Requests (`total`: tokens that each needs) that are planned together, and whether they run in blocks.
    Where they do not, their other prompts are of one length too."""
    yield [index for index in total if lm.takes_blocks(total[index])], True
    apart: dict[int, list[int]] = {}
    for index in total:
        if not lm.takes_blocks(total[index]):
            apart.setdefault(len(others[index]) if others else 0, []).append(index)
    for asked in apart.values():
        yield asked, False


def _renumbered(watch: Watch | None, asked: Sequence[int]) -> Watch | None:
    return None if watch is None else lambda at, scores: watch(asked[at], scores)


def _contrasts_prompts(intervention: Intervention) -> bool:
    lane = intervention.decoding.lane if intervention.decoding else None
    return lane is not None and lane.mask is None and lane.amateur is None


def _others(
    lm: CausalLM, requests: Sequence[Request], intervention: Intervention
) -> list[tuple[int, ...]] | None:
    """Token ids of each request's prompt without its context, where the technique contrasts the two."""
    if not _contrasts_prompts(intervention):
        return None
    return [tuple(lm.ids_of(r.without or r.prompt)) for r in requests]


def _encode(lm: CausalLM, requests: Sequence[Request]) -> list[tuple[int, ...]]:
    """Token ids of each request; the K samples of one prompt are tokenised once."""
    known = {prompt: tuple(lm.ids_of(prompt)) for prompt in dict.fromkeys(each.prompt for each in requests)}
    return [known[request.prompt] for request in requests]


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
    lm: CausalLM,
    requests: Sequence[Request],
    texts: Sequence[str],
    planned: PlannedBatch,
    in_blocks: bool,
    intervention: Intervention,
    others: Sequence[tuple[int, ...]] | None,
    watch: Watch | None,
) -> Iterator[tuple[int, Generation]]:
    other = [others[index] for group in planned.requests for index in group] if others else None
    lanes = Lanes(lm, planned, intervention.decoding, in_blocks, other)
    scores = lanes.first()
    logits = scores.values
    rows = [_row(lm, index, requests[index]) for group in planned.requests for index in group]
    firsts = list(accumulate((len(group) for group in planned.requests), initial=0))[:-1]
    probes = _probes(lm, requests, texts, planned, logits[torch.tensor(firsts, device=logits.device)])
    prompt_of = {index: at for at, group in enumerate(planned.requests) for index in group}
    chooser = _Chooser(lm, requests, rows)
    before = {row.request: planned.prompts[prompt_of[row.request]] for row in rows}
    live = list(range(len(rows)))  # rows[live[i]] is row i of the batch
    open_rows = set(live)
    for step in range(max(row.limit for row in rows)):
        logits = _penalised(logits, [rows[at] for at in live], requests, before)
        if watch is not None and step == 0:
            for at in live:
                watch(rows[at].request, logits[at])
        tokens = chooser.choose(logits, live, step)
        for i, (at, token) in enumerate(zip(live, tokens.tolist(), strict=True)):
            if at not in open_rows:
                continue
            row = rows[at]
            row.ids.append(token)
            for name, entries in scores.details.items():
                row.details.setdefault(name, []).append(entries[i])
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
                        details=row.details,
                    ),
                )
        if not open_rows:
            return
        if len(live) - len(open_rows) >= max(1, _COMPACT_AT * len(live)):
            kept = [i for i, at in enumerate(live) if at in open_rows]
            index = torch.tensor(kept, device=lm.device)
            lanes.keep(index)
            tokens, live = tokens[index], [live[i] for i in kept]
        scores = lanes.step(tokens)
        logits = scores.values


def _penalised(
    scores: Tensor,
    rows: Sequence[_Row],
    requests: Sequence[Request],
    before: Mapping[int, tuple[int, ...]],
) -> Tensor:
    """`scores` `[rows, vocabulary]` under each request's repetition penalty."""
    copied = False
    for i, row in enumerate(rows):
        penalty = requests[row.request].sampling.repetition_penalty
        if penalty == 1:
            continue
        seen = torch.tensor(sorted({*before[row.request], *row.ids}), device=scores.device)
        found = scores[i, seen]
        scores = scores if copied else scores.clone()
        copied = True
        scores[i, seen] = torch.where(found < 0, found * penalty, found / penalty)
    return scores


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
