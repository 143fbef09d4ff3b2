"""What decoding and steering techniques have in common: they ask as the baseline does, of a model that they
have changed."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from leadline.engine import Sampling
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Question, Technique


class InsideTechnique(Technique):
    """Greedy answers to the question as it is, from a model that computes otherwise.

    A subclass has a name, a kind and `prepare`.
    """

    prompt_names: ClassVar[tuple[str, ...]] = ("question/question",)

    max_tokens: int = Field(default=16, ge=1, le=4096, description="longest answer, in tokens")
    repetition_penalty: float = Field(
        default=1.0, gt=0, le=100, description="on scores of tokens already there; 1 is none"
    )

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """One call."""
        prompt = prompts.question(question.text, question.window, question.prompt)
        alone = prompts.question(question.text, None, question.prompt)
        sampling = Sampling(0.0, self.max_tokens, ("\n",), self.repetition_penalty)
        yield self.request(prompt, sampling, question, sample, "answer", question.gold, alone)


def listed(value: Any) -> Any:
    """A setting that names several things, "2,4,6", as a tuple; anything else as it is."""
    if isinstance(value, str):
        found = [part.strip() for part in value.split(",") if part.strip()]
        return tuple(int(part) if part.isdigit() else part for part in found)
    return tuple(value) if isinstance(value, list) else value
