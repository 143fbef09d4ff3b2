"""A deterministic technique, asked again: everything as it is, but the answer is drawn at a temperature.

A greedy answer comes out the same however often it is asked for, so asking again says nothing about it. Here
the technique does to the model and to the prompt what it always does, and only the last step, the stage
called "answer", draws its tokens instead of taking the most likely ones. What stands before it (a background
document, a recitation) stays as the technique has it. Beside plain sampling at the same temperature the
answers show whether the technique makes answers steadier, and whether what it recovers stays recovered.

It is no technique of its own: a study makes it of those that it compares (`again:` in study.yaml).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import Field, SerializeAsAny, create_model

from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.stack import Stack
from leadline.techniques.technique import Conversation, Question, Technique

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM

# Every technique calls the step that ends in its answer so.
ANSWER = "answer"


class Again(Technique):
    """`technique` with `times` answers drawn at `temperature`; made by `asked_again`.

    The randomness is keyed as the technique's own, by its seed, the item, the sample and the stage.
    """

    technique: SerializeAsAny[Technique]
    times: int = Field(ge=2, le=10_000, description="answers drawn per item")
    temperature: float = Field(gt=0, le=10, description="divides the scores of the answer's tokens")

    @property
    def samples(self) -> int:
        """As `times`."""
        return self.times

    @property
    def label(self) -> str:
        """Such as "dola, again at τ = 0.7"."""
        return f"{self.technique.label}, again at τ = {self.temperature:g}"

    @property
    def opens_the_model(self) -> bool:
        """As the technique."""
        return self.technique.opens_the_model

    def settings(self) -> dict[str, Any]:
        """The technique's own, and the temperature. How often it is asked changes no single answer."""
        return {**self.technique.settings(), "again": {"temperature": self.temperature}}

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """As the technique: what was fitted for it serves again."""
        return self.technique.prepare(lm, bench)

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """As the technique asks; the answer is drawn. Ranks are not looked up: a temperature changes none."""
        conversation = self.technique.ask(question, sample, prompts)
        stage, request = next(conversation)
        while True:
            if stage == ANSWER:
                sampling = replace(request.sampling, temperature=self.temperature)
                request = replace(request, sampling=sampling, gold=())
            heard = yield stage, request
            try:
                stage, request = conversation.send(heard)
            except StopIteration:
                return


def asked_again(technique: Technique, times: int, temperature: float) -> Again:
    """`technique` asked `times` times at `temperature`.

    >>> from leadline.techniques.dola import DoLa
    >>> asked_again(DoLa(), times=10, temperature=0.7).label
    'dola, again at τ = 0.7'
    """
    kind = _of(type(technique))
    return kind(technique=technique, times=times, temperature=temperature)


def draws_already(technique: Technique) -> bool:
    """Whether the technique has several answers to each item, or draws them: then it need not be asked again.

    >>> from leadline.techniques.recite import Recite
    >>> draws_already(Recite())
    True
    """
    parts = technique.parts.values() if isinstance(technique, Stack) else (technique,)
    return technique.samples > 1 or any(part.kind == "sampling" for part in parts)


@cache
def _of(kind: type[Technique]) -> type[Again]:
    """What is true of a technique as such is true of it when asked again."""
    made = create_model("Again", __base__=Again)
    made.name, made.kind = kind.name, kind.kind
    made.summary, made.citation = kind.summary, kind.citation
    made.is_fitted, made.needs_context = kind.is_fitted, kind.needs_context
    made.prompt_names = kind.prompt_names
    return made
