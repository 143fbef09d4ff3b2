"""How likely given texts are, token by token, under a model and what a technique does to it.

One pass over each text instead of one for each token. A technique that acts on answers acts from the last
prompt token on, so what stands after it is as likely as it was when it was generated; where the prompt ends
has to be said, for nobody can see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from leadline.engine.anatomy import Anatomy
from leadline.engine.attention import MINIMUM_ROWS
from leadline.engine.capture import residuals
from leadline.engine.decoding import Decoding, Seen
from leadline.engine.detokenise import pieces_of
from leadline.engine.edits import edited
from leadline.engine.intervention import NOTHING, Intervention
from leadline.engine.lm import CausalLM
from leadline.engine.passes import Pass, passing
from leadline.engine.rank import token_logprobs
from leadline.engine.request import TokenLogprob
from leadline.engine.row import Logprob, spelt
from leadline.engine.session import is_under_a_technique
from leadline.errors import UsageError

Text = tuple[int, ...]

# Tokens in one pass; longer texts have one of their own.
_TOKENS_AT_ONCE = 1536
# Numbers in one [positions, vocabulary] tensor of scores.
_SCORES_AT_ONCE = 2**24


def score(
    lm: CausalLM,
    texts: Sequence[Text],
    intervention: Intervention = NOTHING,
    prompts: Sequence[int] | None = None,
    top: int = 0,
) -> list[tuple[TokenLogprob | None, ...]]:
    """Log-probabilities of the tokens of `texts`.

    `prompts` says how many tokens of each text are its prompt: what `intervention` does begins with the last
    of these, as it does when an answer is generated. Before it, edits do nothing, and a way to score is
    applied as if the prompt ended there. None: each text's first token, as if the model had said all the rest
    itself. A technique that contrasts a prompt with another does nothing here, for there is no other.

    Gives per text one entry for each token (see `TokenLogprob`), None for the first, which nothing predicts.
    A token that a technique rules out has −inf. Pieces are those of the whole text, special tokens and all.
    What a text gives does not depend on the others. Texts that cross a change of frequencies ("longrope") are
    scored with those of their full length.

    Raises UsageError for a text that is empty or longer than the model's context, and for a prompt that is
    empty or longer than its text.
    """
    ends = [1] * len(texts) if prompts is None else list(prompts)
    _check(lm, texts, ends)
    decoding = intervention.decoding
    if decoding is not None and (lane := decoding.lane) and lane.mask is None and lane.amateur is None:
        decoding = None
    mask = decoding.lane.mask if decoding is not None and decoding.lane is not None else None
    found: dict[int, list[Logprob]] = {}
    for numbers, in_blocks in _batches(lm, texts):
        rows = [texts[at] for at in numbers]
        with ExitStack() as stack:
            stack.enter_context(lm.running(in_blocks))
            if intervention.edits or mask is not None:
                stack.enter_context(edited(lm.anatomy, intervention.edits, mask))
            last = torch.tensor([ends[at] - 1 for at in numbers], device=lm.device)
            scored = _Scored(lm, rows, last, decoding, in_blocks)
            found.update(zip(numbers, scored.logprobs(top), strict=True))
    return [(None, *_spelt(lm, text, found[at])) for at, text in enumerate(texts)]


def _check(lm: CausalLM, texts: Sequence[Text], ends: Sequence[int]) -> None:
    if is_under_a_technique(lm.model):
        raise UsageError(
            "the model is under a technique already", fix="leave that context, or call the model itself"
        )
    if len(ends) != len(texts):
        raise UsageError(f"{len(ends)} ends of prompts were told for {len(texts)} texts")
    for at, (text, end) in enumerate(zip(texts, ends, strict=True)):
        if not 1 <= len(text) <= lm.context_length:
            raise UsageError(
                f"a text of {len(text)} tokens cannot be scored",
                where=f"text {at}",
                fix=f"{lm.name} reads 1 to {lm.context_length}",
            )
        if not 1 <= end <= len(text):
            raise UsageError(f"{end} of {len(text)} tokens cannot be the prompt", where=f"text {at}")


def _batches(lm: CausalLM, texts: Sequence[Text]) -> Iterator[tuple[list[int], bool]]:
    """Texts that go through one pass, and whether in blocks. There they are padded, so they are of about one
    length; elsewhere of exactly one."""
    for in_blocks in (True, False):
        batch: list[int] = []
        asked = [at for at, text in enumerate(texts) if lm.takes_blocks(len(text)) == in_blocks]
        for at in sorted(asked, key=lambda at: len(texts[at])):
            shortest = len(texts[batch[0]]) if batch else 0
            length = len(texts[at])
            alike = length <= 1.15 * shortest + MINIMUM_ROWS if in_blocks else length == shortest
            if batch and not (alike and length * (len(batch) + 1) <= _TOKENS_AT_ONCE):
                yield batch, in_blocks
                batch = []
            batch.append(at)
        if batch:
            yield batch, in_blocks


def _spelt(lm: CausalLM, text: Text, found: Sequence[Logprob]) -> Iterator[TokenLogprob]:
    pieces = pieces_of(text, lambda ids: lm.decode(ids, special=True), lm.token_bytes)
    for at, each in enumerate(found, 1):
        yield spelt(lm.token_bytes, text[at], pieces[at], each)


@dataclass
class _States:
    """What enters the output layer, `[rows, tokens, hidden]`, and by place the residual stream likewise."""

    head: Tensor
    places: dict[int, Tensor]


class _Scored:
    """Texts that go through one pass (two, where a technique contrasts two): scores at every position.

    `last`: `[rows]`, index of the last prompt token.
    """

    def __init__(
        self, lm: CausalLM, rows: Sequence[Text], last: Tensor, decoding: Decoding | None, in_blocks: bool
    ) -> None:
        self.lm, self.rows, self.last, self.decoding = lm, rows, last, decoding
        places = set() if decoding is None else {*decoding.places}
        if decoding is not None and decoding.context is not None:
            places.add(decoding.context)
        self.own = _states(lm, rows, Pass(last), in_blocks, tuple(places))
        self.other: tuple[Anatomy, _States] | None = None
        lane = decoding.lane if decoding is not None else None
        if lane is not None and lane.amateur is not None:
            amateur: CausalLM = lane.amateur
            there = amateur.takes_blocks(max(map(len, rows)))
            with amateur.running(there):
                self.other = amateur.anatomy, _states(amateur, rows, Pass(last.to(amateur.device)), there)
        elif lane is not None:
            masked = torch.ones(len(rows), dtype=torch.bool, device=lm.device)
            this = Pass(last, masked=masked, everywhere=lane.everywhere)
            self.other = lm.anatomy, _states(lm, rows, this, in_blocks)

    def logprobs(self, top: int) -> list[list[Logprob]]:
        """Per text, of each token but the first."""
        places = [(row, at) for row, text in enumerate(self.rows) for at in range(len(text) - 1)]
        step = max(1, _SCORES_AT_ONCE // self.lm.vocabulary)
        found: list[list[Logprob]] = [[] for _ in self.rows]
        for start in range(0, len(places), step):
            part = places[start : start + step]
            values = self._scores(part)
            nexts = torch.tensor([self.rows[row][at + 1] for row, at in part], device=values.device)
            for (row, _), each in zip(part, token_logprobs(values, nexts, top), strict=True):
                found[row].append(each)
        return found

    def _scores(self, places: Sequence[tuple[int, int]]) -> Tensor:
        """Scores of the next token at (row, position): `[places, vocabulary]`."""

        def at(states: Tensor) -> Tensor:
            rows, positions = (torch.tensor(each, device=states.device) for each in zip(*places, strict=True))
            return states[rows, positions]

        anatomy = self.lm.anatomy
        logits = anatomy.logits(at(self.own.head))
        if self.decoding is None:
            return logits
        contexts: list[Tensor] = []
        if self.decoding.context is not None:
            ends = self.last.tolist()
            states = self.own.places[self.decoding.context]
            # A position sees the prompt up to itself, and never more than the prompt.
            contexts = [states[row, : min(position, ends[row]) + 1] for row, position in places]
        lane = None
        if self.other is not None:
            other, found = self.other
            lane = other.logits(at(found.head)).to(logits.device)
        residual = {place: at(self.own.places[place]) for place in self.decoding.places}
        return self.decoding.scores(Seen(anatomy, logits, residual, contexts, lane)).values


def _states(
    lm: CausalLM, rows: Sequence[Text], this: Pass, in_blocks: bool, places: tuple[int, ...] = ()
) -> _States:
    """One pass over `rows`. Padded on the right, where a causal model never looks."""
    lengths = torch.tensor([len(text) for text in rows], device=lm.device)
    width = max(map(len, rows))
    if in_blocks:  # as in a prefill: every product has at least as many rows
        width = -(-width // MINIMUM_ROWS) * MINIMUM_ROWS
    ids = torch.tensor([[*text, *[0] * (width - len(text))] for text in rows], device=lm.device)
    entered: list[Tensor] = []

    def kept(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        entered.append(inputs[0])
        return (inputs[0][:, -1:],)  # whole vocabularies are made later, some positions at a time

    handle = lm.model.get_output_embeddings().register_forward_pre_hook(kept)
    try:
        with residuals(lm.anatomy, places) as found, passing(this):
            if in_blocks:
                batch = lm.new_batch(0, lengths, torch.arange(len(rows), device=lm.device))
                positions = torch.arange(width, device=lm.device).clamp(max=lm.block_context - 1)
                first = torch.zeros_like(lengths)
                logits = lm.forward(batch, "prompt", ids, positions.expand(len(rows), width), first)
                assert logits is not None
            else:
                logits = lm.model(input_ids=ids, use_cache=False, return_dict=True).logits[:, -1]
    finally:
        handle.remove()
    _check_head(lm, entered[0][:1, -1], logits[:1])
    return _States(entered[0], {place: found[place] for place in places})


def _check_head(lm: CausalLM, states: Tensor, logits: Tensor) -> None:
    """Models scale their logits in ways of their own, which `Anatomy.logits` has to know."""
    if lm.__dict__.get("_head_is_known"):
        return
    error = (lm.anatomy.logits(states) - logits.float()).abs().mean() / logits.float().std()
    if not error < (1e-3 if logits.dtype == torch.float32 else 0.05):
        raise UsageError(
            f"{type(lm.model).__name__}: what it does to its logits is not known, so texts cannot be scored",
            where=lm.name,
            fix="generate, with logprobs",
        )
    lm.__dict__["_head_is_known"] = True
