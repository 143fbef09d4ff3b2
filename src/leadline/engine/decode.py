"""The decode loop: prefill each prompt once, fork it into its samples, step, and let finished rows go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.choose import Chooser
from leadline.engine.detokenise import Detokeniser
from leadline.engine.edits import edited
from leadline.engine.intervention import NOTHING, Intervention
from leadline.engine.lanes import Lanes
from leadline.engine.lm import CausalLM
from leadline.engine.plan import Limits, PlannedBatch, plan
from leadline.engine.rank import token_logprobs, token_ranks
from leadline.engine.request import Failure, Generation, GoldProbe, OnText, Request
from leadline.engine.row import Logprob, Row
from leadline.engine.session import is_under_a_technique
from leadline.engine.stops import StopWatch
from leadline.errors import UsageError

# Called with the index of a request and the scores of its first token, `[vocabulary]`.
Watch = Callable[[int, Tensor], None]

# Rows that have finished go on being computed until they are this share of the batch: taking them out copies
# the keys and values of the others.
_COMPACT_AT = 0.06


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

    `on_text` is called at each token of a request with the request's index, the text that has become certain
    since it was last called (perhaps none; never a part of a stop string or of a character), and the
    log-probabilities of the tokens that are told with it, where they are asked for. Joined these are the
    generation's `text` and `logprobs`. A request for which it returns False ends there as "cancelled".
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
                None if on_text is None else _told_of(on_text, asked),
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
                lanes_others = [others[index] for group in groups for index in group] if others else None
                lanes = Lanes(lm, planned, intervention.decoding, in_blocks, lanes_others)
                yield from _run(lm, lanes, planned, _Asked(requests, texts, twins, watch, on_text))


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


def _told_of(on_text: OnText, asked: Sequence[int]) -> OnText:
    return lambda at, text, logprobs: on_text(asked[at], text, logprobs)


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


@dataclass(frozen=True)
class _Asked:
    """What is asked, by the index of a request: `texts` of the prompts, `twins` that get the same answer, and
    who is to be told."""

    requests: Sequence[Request]
    texts: Sequence[str]
    twins: Mapping[int, Sequence[int]]
    watch: Watch | None
    on_text: OnText | None


def _run(
    lm: CausalLM, lanes: Lanes, planned: PlannedBatch, asked: _Asked
) -> Iterator[tuple[int, Generation]]:
    scores = lanes.first()
    logits = scores.values
    rows = _rows(lm, planned, asked, logits)
    chooser = Chooser(lm.vocabulary, [row.request for row in rows])
    before = [planned.prompts[at] for at, group in enumerate(planned.requests) for _ in group]
    live = list(range(len(rows)))  # rows[live[i]] is row i of the batch
    open_rows = set(live)
    for step in range(max(row.request.sampling.max_tokens for row in rows)):
        logits = _penalised(logits, [(rows[at], before[at]) for at in live])
        if asked.watch is not None and step == 0:
            for at in live:
                asked.watch(rows[at].answers[0], logits[at])
        tokens = chooser.choose(logits, live, step)
        logprobs = _logprobs(logits, tokens, [rows[at] if at in open_rows else None for at in live])
        for i, (at, token) in enumerate(zip(live, tokens.tolist(), strict=True)):
            if at not in open_rows:
                continue
            row = rows[at]
            details = {name: entries[i] for name, entries in scores.details.items()}
            whole = row.add(token, logprobs.get(i), details)
            yield from _told(row, whole, asked.on_text)
            if whole is not None or not row.answers:
                open_rows.remove(at)
        if not open_rows:
            return
        if len(live) - len(open_rows) >= max(1, _COMPACT_AT * len(live)):
            kept = [i for i, at in enumerate(live) if at in open_rows]
            index = torch.tensor(kept, device=lm.device)
            lanes.keep(index)
            tokens, live = tokens[index], [live[i] for i in kept]
        scores = lanes.step(tokens)
        logits = scores.values


def _told(row: Row, whole: Generation | None, on_text: OnText | None) -> Iterator[tuple[int, Generation]]:
    """Tells all that this row answers of its new text. Gives those that are over with their answers: all if
    it is `whole`, else those that were cancelled, which the row then answers no more."""
    if on_text is not None:
        new = row.certain() if whole is None else row.rest(whole)
        going_on = [index for index in row.answers if on_text(index, *new) is not False]
    if whole is not None:
        yield from ((index, whole) for index in row.answers)
    elif on_text is not None and len(going_on) < len(row.answers):
        stopped = [index for index in row.answers if index not in going_on]
        row.answers = going_on
        yield from ((index, row.cancelled()) for index in stopped)


def _logprobs(logits: Tensor, tokens: Tensor, rows: Sequence[Row | None]) -> dict[int, Logprob]:
    """By place in the batch, the log-probability of each row's token, where it is asked for."""
    wanted: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        if row is not None and (top := row.request.sampling.logprobs) is not None:
            wanted.setdefault(top, []).append(i)
    found: dict[int, Logprob] = {}
    # Each number of alternatives by itself: among tokens that are equally likely, which come into the list
    # must not depend on how many others ask for.
    for top, places in wanted.items():
        index = torch.tensor(places, device=logits.device)
        found.update(zip(places, token_logprobs(logits[index], tokens[index], top), strict=True))
    return found


def _penalised(scores: Tensor, rows: Sequence[tuple[Row, tuple[int, ...]]]) -> Tensor:
    """`scores` `[rows, vocabulary]` under each request's repetition penalty; `rows` with their prompts."""
    copied = False
    for i, (row, prompt) in enumerate(rows):
        penalty = row.request.sampling.repetition_penalty
        if penalty == 1:
            continue
        seen = torch.tensor(sorted({*prompt, *row.ids}), device=scores.device)
        found = scores[i, seen]
        scores = scores if copied else scores.clone()
        copied = True
        scores[i, seen] = torch.where(found < 0, found * penalty, found / penalty)
    return scores


def _rows(lm: CausalLM, planned: PlannedBatch, asked: _Asked, logits: Tensor) -> list[Row]:
    """The rows of a batch; `logits` `[rows, vocabulary]` are those of their first tokens."""
    firsts = list(accumulate((len(group) for group in planned.requests), initial=0))[:-1]
    first_logits = logits[torch.tensor(firsts, device=logits.device)]
    probes = _probes(lm, asked.requests, asked.texts, planned, first_logits)
    rows = []
    for prompt, group in enumerate(planned.requests):
        for index in group:
            request = asked.requests[index]
            stops = request.sampling.stop
            ends = frozenset(stop[-1] for stop in stops)
            watch = StopWatch(stops, lm.tokens_with(ends) if ends else frozenset(), lm.decode)
            is_unfolded = asked.on_text is not None or request.sampling.logprobs is not None
            unfolding = Detokeniser(lm.decode, lm.token_bytes) if is_unfolded else None
            length, own = len(planned.prompts[prompt]), _for(request, probes[prompt])
            rows.append(Row(lm, request, list(asked.twins[index]), length, watch, unfolding, own))
    return rows


def _for(request: Request, probes: tuple[GoldProbe, ...]) -> tuple[GoldProbe, ...]:
    """The probes that this request asked for, in its order."""
    by_answer = {probe.answer: probe for probe in probes}
    return tuple(by_answer[answer] for answer in request.gold)
