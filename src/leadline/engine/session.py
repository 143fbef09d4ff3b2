"""An ordinary `transformers` model under a technique: its `forward`, and so its `generate`, carries it.

    with applied(model, intervention):
        model.generate(**encoded, do_sample=False)

Everything is undone on exit, also after an exception. Contexts nest: what is entered later is added. Any
batch size, left or right padding, with a cache or without. Whatever a technique keeps between the steps of a
generation hangs on that generation's cache object and goes away with it.

Which positions are changed. A pass over a prompt changes its last token and nothing before it; a pass with
one new token changes that token ("last", see `passes.Positions`). A text that is scored in one pass ends its
prompt somewhere in the middle: say where with `Session.scoring`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from leadline.engine.anatomy import Anatomy
from leadline.engine.capture import residuals
from leadline.engine.decoding import Decoding, Seen
from leadline.engine.edits import edited
from leadline.engine.intervention import NOTHING, Intervention
from leadline.engine.passes import Pass, passing, world
from leadline.engine.second_pass import SecondPass
from leadline.errors import UsageError

_KEY = "_leadline_session"

# Numbers in one [rows, vocabulary] tensor of scores; longer ones are scored slice by slice.
_SCORES_AT_ONCE = 2**24


@dataclass
class _Kept:
    """What one generation needs from step to step."""

    contexts: list[Tensor]
    second: SecondPass | None


@contextmanager
def applied(model: Any, intervention: Intervention) -> Iterator[Session]:
    """Within this context `model` computes under `intervention`, on top of those entered before.

    Raises UsageError for a stack that has no meaning, and for an architecture whose parts cannot be found.
    """
    session: Session | None = vars(model).get(_KEY)
    is_first = session is None
    if session is None:
        session = Session(model)
    before = session.intervention
    together = before.and_then(intervention)
    mask = intervention.decoding.lane.mask if intervention.decoding and intervention.decoding.lane else None
    with ExitStack() as stack:
        if is_first:
            stack.enter_context(_patched(model, session))
        stack.enter_context(edited(session.anatomy, intervention.edits, mask))
        session.intervention = together
        try:
            yield session
        finally:
            session.intervention = before


@contextmanager
def _patched(model: Any, session: Session) -> Iterator[None]:
    # `wraps` keeps the signatures: `transformers` looks there for what a model's `forward` takes.
    @wraps(session.call)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return session.forward(*args, **kwargs)

    patches = {_KEY: session, "forward": forward}
    if hasattr(model, "generate"):
        patches["generate"] = wraps(model.generate)(session.generate_with(model.generate))
    own = {name: vars(model)[name] for name in patches if name in vars(model)}
    try:
        for name, patch in patches.items():
            setattr(model, name, patch)
        yield
    finally:
        for name in patches:
            if name in vars(model):
                delattr(model, name)
            if name in own:
                setattr(model, name, own[name])


def is_under_a_technique(model: Any) -> bool:
    """Whether `model` is within `applied`."""
    return _KEY in vars(model)


class Session:
    """A model's calls while techniques are applied to it."""

    def __init__(self, model: Any) -> None:
        self.anatomy = Anatomy(model)
        self.call = model.forward
        self.names = tuple(inspect.signature(model.forward).parameters)
        self.cache_name = "cache" if "cache" in self.names else "past_key_values"
        self.intervention: Intervention = NOTHING
        self.world = world()
        self.trace: list[dict[str, list[Any]]] | None = None
        self.prompt_tokens: Tensor | None = None
        self.only_answers = False
        self._kept: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()

    @contextmanager
    def scoring(self, prompt_tokens: Tensor | Sequence[int], only_answers: bool = False) -> Iterator[None]:
        """Within this context every call holds whole texts, `prompt_tokens` `[rows]` of which (padding not
        counted) are the prompt: the technique acts from the last of these on. `only_answers`: where the model
        can, logits come for the last positions alone, as many as hold all that predict the answers."""
        before = self.prompt_tokens, self.only_answers
        ends = torch.as_tensor(prompt_tokens)
        if ends.dim() != 1 or ends.is_floating_point() or bool((ends < 1).any()):
            raise UsageError(
                "prompt_tokens must be the number of prompt tokens of each row, whole numbers from 1 on"
            )
        self.prompt_tokens, self.only_answers = ends, only_answers
        try:
            yield
        finally:
            self.prompt_tokens, self.only_answers = before

    @contextmanager
    def recording(self) -> Iterator[list[dict[str, list[Any]]]]:
        """Within this context, what a decoding technique decided at each step (layers, alphas, ...)."""
        before, self.trace = self.trace, []
        try:
            yield self.trace
        finally:
            self.trace = before

    def generate_with(self, generate: Any) -> Any:
        """`generate`, refusing what moves rows about behind a technique's back."""

        def checked(*args: Any, **kwargs: Any) -> Any:
            config = kwargs.get("generation_config") or self.anatomy.model.generation_config
            beams = kwargs.get("num_beams") or getattr(config, "num_beams", 1) or 1
            decoding = self.intervention.decoding
            if _is_stateful(decoding) and (beams > 1 or kwargs.get("assistant_model") is not None):
                raise UsageError(
                    "beam search and assisted generation reorder rows, of which the technique keeps a state",
                    fix="num_beams=1 and no assistant_model",
                )
            if kwargs.get("use_cache", getattr(config, "use_cache", True)) is not False:
                return generate(*args, **kwargs)
            # Without a cache every pass holds the whole text; only here is it known where the prompt ends.
            entered = kwargs.get("input_ids", kwargs.get("inputs", args[0] if args else None))
            if entered is None:
                raise UsageError("generate without a cache needs input_ids under a technique")
            mask = kwargs.get("attention_mask")
            lengths = torch.ones_like(entered).sum(1) if mask is None else mask.sum(1)
            copies = kwargs.get("num_return_sequences") or getattr(config, "num_return_sequences", 1) or 1
            with self.scoring(lengths.repeat_interleave(copies * beams)):
                return generate(*args, **kwargs)

        return checked

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """As the model's own `forward`; `logits` are the technique's scores."""
        if world() is not self.world:  # a technique is being fitted
            return self.call(*args, **kwargs)
        given = dict(zip(self.names, args, strict=False)) | kwargs
        if self.cache_name not in given and "past_key_values" in given:  # the name that it had before
            given[self.cache_name] = given.pop("past_key_values")
        this, tokens, is_new = self._pass(given)
        if self.only_answers and this.answer_from is not None and "logits_to_keep" in self.names:
            given.setdefault("logits_to_keep", tokens - int(this.answer_from.min()))
        decoding = self.intervention.decoding
        if decoding is None:
            with passing(this):
                return self.call(**given)
        given["return_dict"] = True
        mask = given.get("attention_mask")
        if _is_stateful(decoding) and mask is not None and getattr(mask, "ndim", 0) != 2:
            raise UsageError(
                "this technique has to see which tokens are padding, in a mask of [rows, tokens]",
                fix="a dynamic cache: static ones come with masks of another form",
            )
        places = {*decoding.places} | ({decoding.context} if decoding.context is not None else set())
        with residuals(self.anatomy, places) as found, passing(this):
            out = self.call(**given)
        kept_positions = _kept_positions(given.get("logits_to_keep", 0), tokens, out.logits)
        key = given.get(self.cache_name)
        if key is None:
            key = getattr(out, self.cache_name, None) or getattr(out, "past_key_values", None)
        kept = self._kept.get(key) if key is not None and not is_new else None
        if kept is None:
            if not is_new:
                raise UsageError(
                    "the cache was filled before the technique was applied",
                    fix="start the generation within the context",
                )
            second = SecondPass(self.anatomy, decoding.lane, self.call) if decoding.lane is not None else None
            kept = _Kept([], second)
            if key is not None:
                self._kept[key] = kept
        contexts = None
        if decoding.context is not None:
            contexts = self._contexts(kept, this, found[decoding.context], is_new)
        lane = None
        if kept.second is not None:
            lane = kept.second.logits(decoding, given, this, kept_positions, uses_cache=key is not None)
        out.logits = self._scored(decoding, out.logits, found, kept_positions, contexts, lane)
        if given.get("labels") is not None:  # a loss of what is returned, not of what the model said
            out.loss = self.anatomy.model.loss_function(
                logits=out.logits, labels=given["labels"], vocab_size=out.logits.shape[-1]
            )
        return out

    def _pass(self, given: dict[str, Any]) -> tuple[Pass, int, bool]:
        """The pass that a call makes, its number of tokens, and whether a new text begins with it."""
        entered = given.get("input_ids")
        if entered is None:
            entered = given.get("inputs_embeds")
        if entered is None:
            raise UsageError("a model needs input_ids or inputs_embeds")
        rows, tokens = entered.shape[:2]
        cache = given.get(self.cache_name)
        before = int(cache.get_seq_length()) if cache is not None else 0
        if before and tokens == 1:
            return Pass(decoding=True), tokens, False
        mask = given.get("attention_mask")
        real = None
        last = torch.full((rows,), tokens - 1, device=entered.device)
        first = torch.zeros_like(last)
        if isinstance(mask, Tensor) and mask.dim() == 2:
            new = mask[:, -tokens:].bool()
            if not bool(new.all()):
                real = new
                index = torch.arange(tokens, device=new.device)
                last = torch.where(new, index, -1).amax(1)
                first = torch.where(new, index, tokens).amin(1)
        if self.prompt_tokens is not None:
            if self.prompt_tokens.shape[0] != rows:
                raise UsageError(
                    f"{self.prompt_tokens.shape[0]} ends of prompts were told, and there are {rows} rows",
                    fix="say where the prompt of each row ends",
                )
            last = (first + self.prompt_tokens.to(first.device) - 1).clamp(max=last)
        return Pass(last, real=real), tokens, before == 0

    def _contexts(
        self, kept: _Kept, this: Pass, states: Tensor, is_new: bool
    ) -> tuple[list[Tensor], list[int], Tensor | None]:
        """Per row the states of its prompt so far; how many came before this pass; where they begin in it."""
        rows, tokens = states.shape[:2]
        if this.decoding:
            return kept.contexts, [context.shape[0] for context in kept.contexts], None
        before = [0] * rows if is_new else [context.shape[0] for context in kept.contexts]
        begins = (
            torch.zeros(rows, dtype=torch.long)
            if this.real is None
            else torch.where(this.real, torch.arange(tokens, device=states.device), tokens).amin(1).cpu()
        )
        assert this.answer_from is not None
        ends = (this.answer_from + 1).tolist()
        new = [
            states[row, int(begin) : end] for row, (begin, end) in enumerate(zip(begins, ends, strict=True))
        ]
        kept.contexts = new if is_new else [torch.cat(pair) for pair in zip(kept.contexts, new, strict=True)]
        return kept.contexts, before, begins

    def _scored(
        self,
        decoding: Decoding,
        logits: Tensor,
        found: dict[int, Tensor],
        positions: Tensor,
        contexts: tuple[list[Tensor], list[int], Tensor | None] | None,
        lane: Tensor | None,
    ) -> Tensor:
        """Scores at all positions that have logits: `[rows, kept, vocabulary]`."""
        rows, kept, _ = logits.shape
        flat = logits.flatten(0, 1).float()
        at = {
            place: found[place][:, positions.to(found[place].device)].flatten(0, 1)
            for place in decoding.places
        }
        seen_contexts: list[Tensor] = []
        if contexts is not None:
            whole, before, begins = contexts
            for row in range(rows):
                for position in positions.tolist():
                    # A position sees the prompt up to itself, and never more than the prompt.
                    end = None if begins is None else before[row] + max(1, position + 1 - int(begins[row]))
                    seen_contexts.append(whole[row][:end])
        flat_lane = None if lane is None else lane.flatten(0, 1).float()
        step = max(1, _SCORES_AT_ONCE // flat.shape[1])
        values: list[Tensor] = []
        details: dict[str, list[Any]] = {}
        for start in range(0, flat.shape[0], step):
            part = slice(start, start + step)
            scores = decoding.scores(
                Seen(
                    self.anatomy,
                    flat[part],
                    {place: states[part] for place, states in at.items()},
                    seen_contexts[part],
                    None if flat_lane is None else flat_lane[part].to(flat.device),
                )
            )
            values.append(scores.values)
            for name, entries in scores.details.items():
                details.setdefault(name, []).extend(entries)
        if self.trace is not None:
            self.trace.append(details)
        return torch.cat(values).unflatten(0, (rows, kept))


def _is_stateful(decoding: Decoding | None) -> bool:
    """Whether something is kept from step to step."""
    return decoding is not None and (decoding.lane is not None or decoding.context is not None)


def _kept_positions(keep: Any, tokens: int, logits: Tensor) -> Tensor:
    """Positions of the pass that logits were computed for."""
    if isinstance(keep, Tensor) and keep.dim():
        return keep.cpu()
    return torch.arange(tokens - logits.shape[1], tokens)
