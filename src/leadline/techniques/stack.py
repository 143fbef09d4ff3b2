"""Several techniques at once: "recite+dola" recites and answers from a model that decodes by DoLa.

At most one technique puts the question (prompting, sampling), at most one scores the tokens (decoding); any
number of others change activations (steering). A stack that would have no meaning is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import create_model, model_validator

from leadline.errors import UsageError
from leadline.techniques.prepared import AS_IT_IS, Bench, Prepared
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Question, Technique

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM

_ASKING = ("prompting", "sampling")


class Stack(Technique):
    """Techniques as fields, each with settings of its own; made by `stacked`."""

    part_names: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _asked_once(self) -> Stack:
        """How long an answer may be is the business of the part that asks."""
        asker, *others = self.parts.values()
        for part in others:
            for name in ("max_tokens", "repetition_penalty"):
                field = type(part).model_fields.get(name)
                if field is not None and getattr(part, name) != field.default:
                    raise ValueError(f"{part.name}.{name} has no effect here: {asker.name} asks")
        return self

    @property
    def parts(self) -> dict[str, Technique]:
        """The techniques by name, the one that asks first."""
        return {name: getattr(self, _field(name)) for name in self.part_names}

    @property
    def _asker(self) -> Technique:
        return next(iter(self.parts.values()))

    @property
    def samples(self) -> int:
        """As the technique that asks."""
        return self._asker.samples

    @property
    def vote(self) -> int:
        """As the technique that asks."""
        return self._asker.vote

    @property
    def label(self) -> str:
        """The parts' labels, such as "tau-0.7+dola"."""
        return "+".join(part.label for part in self.parts.values())

    @property
    def opens_the_model(self) -> bool:
        """Every stack does: prompting techniques do not stack with each other."""
        return True

    def settings(self) -> dict[str, Any]:
        """Those of the parts, by part."""
        return {name: part.settings() for name, part in self.parts.items()}

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """All parts, each fitted on the model as it is."""
        found = AS_IT_IS
        for part in self.parts.values():
            found = found.and_then(part.prepare(lm, bench))
        return found

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """As the technique that asks."""
        return self._asker.ask(question, sample, prompts)


def _field(name: str) -> str:
    return name.replace("-", "_")


@cache
def stacked(kinds: tuple[type[Technique], ...]) -> type[Stack]:
    """The stack of `kinds`. Raises UsageError for a stack without a meaning."""
    names = [kind.name for kind in kinds]
    where = "+".join(names)
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{where}: {name} stands twice", fix="name each technique once")
    for kind in kinds:
        if kind.kind == "baseline":
            others = ", ".join(name for name in names if name != kind.name)
            raise UsageError(f"{where}: {kind.name} changes nothing", fix=f"say only: {others}")
    asking = [kind for kind in kinds if kind.kind in _ASKING]
    if len(asking) > 1:
        both = " and ".join(kind.name for kind in asking)
        raise UsageError(
            f"{where}: {both} each put the question in a way of their own",
            fix="stack one of them with a decoding or a steering technique",
        )
    scoring = [kind for kind in kinds if kind.kind == "decoding"]
    if len(scoring) > 1:
        both = " and ".join(kind.name for kind in scoring)
        raise UsageError(
            f"{where}: {both} each decide the scores of the next token alone",
            fix="stack one of them with a prompting or a steering technique",
        )
    ordered = (*asking, *(kind for kind in kinds if kind not in asking))
    fields: Mapping[str, Any] = {_field(kind.name): (kind, kind()) for kind in ordered}
    stack = create_model("Stack", __base__=Stack, **fields)
    stack.name = "+".join(kind.name for kind in ordered)
    stack.kind = ordered[-1].kind
    stack.part_names = tuple(kind.name for kind in ordered)
    stack.summary = "; ".join(kind.summary for kind in ordered)
    stack.citation = "; ".join(kind.citation for kind in ordered if kind.citation)
    stack.prompt_names = tuple(dict.fromkeys(name for kind in ordered for name in kind.prompt_names))
    stack.is_fitted = any(kind.is_fitted for kind in ordered)
    # A prompting technique writes the context itself.
    stack.needs_context = any(kind.needs_context for kind in ordered) and not any(
        kind.kind == "prompting" for kind in ordered
    )
    return stack
