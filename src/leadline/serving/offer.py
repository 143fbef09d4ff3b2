"""What a server offers: one model on this machine, under one technique or none."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.serving.fingerprint import fingerprint
from leadline.techniques.prepared import AS_IT_IS, Bench, Prepared
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.stack import Stack
from leadline.techniques.technique import Technique

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM
    from leadline.models.local import LocalModel

# Settings that say how often or with which numbers a study asks; over a server the client says so.
_CLIENTS_OWN = {"seed": "seed", "paths": "n", "draws": "n", "votes": "n"}


@dataclass(frozen=True, eq=False)
class Offer:
    """A model, and what is done to it.

    name: what clients call it. asks: the technique where it puts the question in a way of its own (RECITE,
    GenRead), else None. items: what the technique was fitted on: question, window ("" without one), and the
    intervention under which the item may be answered.
    """

    model: LocalModel
    name: str
    technique: Technique | None = None
    asks: Technique | None = None
    prepared: Prepared = AS_IT_IS
    prompts: Prompts = field(default_factory=Prompts)
    items: tuple[tuple[str, str, Intervention], ...] = ()
    fingerprint: str = ""
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def lm(self) -> CausalLM:
        """The model itself, for the thread that computes."""
        return self.model.lm

    @cached_property
    def reader(self) -> CausalLM:
        """The model for threads that only tokenise, with a tokenizer of its own: `transformers` changes a
        tokenizer's state while it works."""
        reader = copy.copy(self.model.lm)
        reader.tokenizer = copy.deepcopy(self.model.lm.tokenizer)
        return reader

    @cached_property
    def longest_token(self) -> int | None:
        """Bytes of the longest token: a text of more than so many for each token of the context does not fit,
        and need not be tokenised to know it. None where a tokenizer may shorten a text."""
        backend = getattr(self.reader.tokenizer, "backend_tokenizer", None)
        if backend is None or backend.normalizer is not None:
            return None
        if type(backend.decoder).__name__ != "ByteLevel":
            return None
        return max(map(len, self.reader.token_bytes.spelt))

    @property
    def repetition_penalty(self) -> float:
        """The technique's own, for clients that say none."""
        parts = self.technique.parts.values() if isinstance(self.technique, Stack) else (self.technique,)
        return max((float(getattr(part, "repetition_penalty", 1.0)) for part in parts), default=1.0)

    @property
    def scores_texts(self) -> bool:
        """Whether a text can be scored without knowing where its prompt ends: not where a technique begins
        to act there."""
        every = (self.prepared.intervention, *(one for _, _, one in self.items))
        found = {id(each): each for each in every}
        return not any(
            each.edits or (each.decoding and (each.decoding.lane or each.decoding.context is not None))
            for each in found.values()
        )

    def intervention_for(self, text: str) -> Intervention:
        """What is done to the model for a prompt. An item that the technique was fitted on is known by its
        question, the last one in the prompt if there are several, and of items that share a question by its
        window; it is never treated with what was fitted on it."""
        # Of a question that ends with another one, the whole is meant.
        last, found = (0, 0), list[tuple[str, Intervention]]()
        for question, window, intervention in self.items:
            if (place := text.rfind(question)) < 0:
                continue
            at = (place + len(question), len(question))
            if at > last:
                last, found = at, []
            if at == last:
                found.append((window, intervention))
        # Without its window, an item that shares its question cannot be told from the others.
        fitting = [(window, one) for window, one in found if window in text] or found
        return max(fitting, key=lambda one: len(one[0]), default=("", self.prepared.intervention))[1]


def offered(
    model: LocalModel,
    technique: Technique | None = None,
    *,
    name: str | None = None,
    bench: Bench | None = None,
    prompts: Prompts | None = None,
) -> Offer:
    """Make a model ready to be served, fitting the technique where it needs that.

    Raises UsageError for a technique that a server cannot carry.
    """
    prompts = prompts or Prompts()
    if technique is None or technique.kind == "baseline":
        print_of = fingerprint(model.identity, None, prompts, ())
        return Offer(model, name or model.identity.name, prompts=prompts, fingerprint=print_of)
    check(technique)
    bench = replace(bench or Bench(digest=model.identity.fit_digest), prompts=prompts)
    prepared = technique.prepare(model.lm, bench) if technique.opens_the_model else AS_IT_IS
    items: Sequence[tuple[str, str, Intervention]] = ()
    if prepared.by_item:
        items = [
            # A chat's template may take spaces off the ends of a message.
            (item.question.strip(), (item.window or "").strip(), prepared.for_item(item.id))
            for item in bench.fit_items
        ]
    fitted_on = bench.fit_items if technique.is_fitted else ()
    return Offer(
        model,
        name or f"{model.identity.name}+{technique.name}",
        technique=technique,
        asks=technique if _asker(technique).kind == "prompting" else None,
        prepared=prepared,
        prompts=prompts,
        items=tuple(items),
        fingerprint=fingerprint(model.identity, technique, prompts, fitted_on),
    )


def _asker(technique: Technique) -> Technique:
    """The part of a stack that puts the question; of a technique by itself, itself."""
    return next(iter(technique.parts.values())) if isinstance(technique, Stack) else technique


def check(technique: Technique) -> None:
    """Raises UsageError for a technique, or a setting of one, that has no meaning behind a server."""
    parts = list(technique.parts.values()) if isinstance(technique, Stack) else [technique]
    if any(part.kind == "sampling" for part in parts):
        raise UsageError(
            f"{technique.name}: the temperature is the client's to say",
            fix="serve without it, or without sampling",
        )
    if technique.needs_context:
        raise UsageError(
            f"{technique.name} contrasts a prompt with and without its context, and a client sends only one",
            fix="stack it on a technique that writes the context: recite+cad",
        )
    for part in parts:
        own = _CLIENTS_OWN if part.kind == "prompting" else {"max_tokens": "max_tokens"}
        for setting, parameter in own.items():
            declared = type(part).model_fields.get(setting)
            if declared is not None and getattr(part, setting) != declared.default:
                raise UsageError(
                    f"{part.name}: {setting} has no effect on a server", fix=f"clients say {parameter}"
                )
