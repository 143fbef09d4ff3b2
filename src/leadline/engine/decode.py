"""The decode loop: prefill each prompt once, step, fork where samples part, and let finished ones go.

Samples of a prompt that have said the same so far are computed once: what a row gives does not depend on its
batch, so it makes no difference to them, and at a temperature of 0.7 it is most of the first tokens.
"""

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

# Stems that have ended go on being computed until they are this share of the batch: taking them out copies
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
                stemmed, stems, lane_others = _stems(planned, others)
                lanes = Lanes(lm, stemmed, intervention.decoding, in_blocks, lane_others)
                yield from _run(lm, lanes, planned, _Asked(requests, texts, twins, watch, on_text), stems)


def _stems(
    planned: PlannedBatch, others: Sequence[tuple[int, ...]] | None
) -> tuple[PlannedBatch, list[int], list[tuple[int, ...]] | None]:
    """The batch with one request of each stem, as which the rows begin; the stem of each row; and the other
    prompt of each stem. Before anything is said, rows are one stem where their prompts are the same."""
    groups: list[tuple[int, ...]] = []
    stems: list[int] = []
    total = 0
    for group in planned.requests:
        first: dict[object, int] = {}
        place: dict[object, int] = {}
        for index in group:
            same = others[index] if others else None
            first.setdefault(same, index)
            stems.append(total + place.setdefault(same, len(place)))
        groups.append(tuple(first.values()))
        total += len(place)
    stemmed = PlannedBatch(planned.prefix, planned.prompts, tuple(groups))
    return stemmed, stems, [others[index] for group in groups for index in group] if others else None


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
    lm: CausalLM, lanes: Lanes, planned: PlannedBatch, asked: _Asked, stems: Sequence[int]
) -> Iterator[tuple[int, Generation]]:
    """Decode a batch. A row is an answer, a stem what several answers have in common so far: the lanes run
    stems, and a stem forks where its rows choose different tokens. `stems`: of each row, the first one."""
    scores = lanes.first()
    rows = _rows(lm, planned, asked, scores.values, stems)
    chooser = Chooser(lm.vocabulary, [row.request for row in rows])
    before = [planned.prompts[at] for at, group in enumerate(planned.requests) for _ in group]
    stem_of = dict(enumerate(stems))  # rows that are not over → their stems
    for step in range(max(row.request.sampling.max_tokens for row in rows)):
        live = list(stem_of)
        logits, sources = _penalised(scores.values, [(rows[at], before[at], stem_of[at]) for at in live])
        if asked.watch is not None and step == 0:
            for at, source in zip(live, sources, strict=True):
                asked.watch(rows[at].answers[0], logits[source])
        tokens = chooser.choose(logits, sources, live, step)
        logprobs = _logprobs(logits, sources, tokens, [rows[at] for at in live])
        branches: dict[tuple[int, int], list[int]] = {}  # the stem and its next token → the rows that go on
        for i, (at, token) in enumerate(zip(live, tokens.tolist(), strict=True)):
            row, stem = rows[at], stem_of[at]
            details = {name: entries[stem] for name, entries in scores.details.items()}
            whole = row.add(token, logprobs.get(i), details)
            yield from _told(row, whole, asked.on_text)
            if whole is None and row.answers:
                branches.setdefault((stem, token), []).append(at)
        if not branches:
            return
        stem_of, fed = _grown(lanes, branches)
        scores = lanes.step(torch.tensor(fed, device=lm.device))


def _grown(
    lanes: Lanes, branches: Mapping[tuple[int, int], Sequence[int]]
) -> tuple[dict[int, int], list[int]]:
    """Fork the stems that go on in several ways, and drop those that do not go on, when they are many. Gives
    the stem of each row, and the token that each stem is fed."""
    going_on = sorted({stem for stem, _ in branches})
    stems = len(lanes)
    if stems - len(going_on) >= max(1, _COMPACT_AT * stems):
        lanes.keep(torch.tensor(going_on, device=lanes.lm.device))
        place = {stem: at for at, stem in enumerate(going_on)}
        stems = len(going_on)
    else:
        place = {stem: stem for stem in going_on}
    fed = [0] * stems  # what a stem without rows is fed, nobody reads
    taken: set[int] = set()
    parents: list[int] = []
    stem_of: dict[int, int] = {}
    for (stem, token), some in branches.items():
        at = place[stem]
        if at in taken:
            parents.append(at)
            at = len(fed)
            fed.append(token)
        else:
            taken.add(at)
            fed[at] = token
        stem_of.update(dict.fromkeys(some, at))
    if parents:
        lanes.fork(torch.tensor(parents, device=lanes.lm.device))
    return dict(sorted(stem_of.items())), fed


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


def _logprobs(
    logits: Tensor, sources: Sequence[int], tokens: Tensor, rows: Sequence[Row]
) -> dict[int, Logprob]:
    """By place in `rows`, the log-probability of each row's token, where it is asked for; `sources` names the
    logits of each row."""
    wanted: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        if (top := row.request.sampling.logprobs) is not None:
            wanted.setdefault(top, []).append(i)
    found: dict[int, Logprob] = {}
    # Each number of alternatives by itself: among tokens that are equally likely, which come into the list
    # must not depend on how many others ask for.
    for top, places in wanted.items():
        own = torch.tensor([sources[i] for i in places], device=logits.device)
        index = torch.tensor(places, device=logits.device)
        found.update(zip(places, token_logprobs(logits[own], tokens[index], top), strict=True))
    return found


def _penalised(scores: Tensor, rows: Sequence[tuple[Row, tuple[int, ...], int]]) -> tuple[Tensor, list[int]]:
    """Scores under each request's repetition penalty: `scores` `[stems, vocabulary]` and, behind them, those
    that a penalty makes others; and of each row which are its own. `rows` with their prompts and stems."""
    added: list[Tensor] = []
    places: dict[tuple[int, float], int] = {}
    sources = []
    for row, prompt, stem in rows:
        penalty = row.request.sampling.repetition_penalty
        if penalty == 1:
            sources.append(stem)
            continue
        if (stem, penalty) not in places:
            seen = torch.tensor(sorted({*prompt, *row.ids}), device=scores.device)
            own = scores[stem].clone()
            found = own[seen]
            own[seen] = torch.where(found < 0, found * penalty, found / penalty)
            places[stem, penalty] = len(scores) + len(added)
            added.append(own)
        sources.append(places[stem, penalty])
    return (torch.cat([scores, torch.stack(added)]) if added else scores), sources


def _rows(
    lm: CausalLM, planned: PlannedBatch, asked: _Asked, logits: Tensor, stems: Sequence[int]
) -> list[Row]:
    """The rows of a batch; `logits` `[stems, vocabulary]` are those of their first tokens."""
    firsts = list(accumulate((len(group) for group in planned.requests), initial=0))[:-1]
    first_logits = logits[torch.tensor([stems[at] for at in firsts], device=logits.device)]
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
