"""Temperature sampling: the same question, the next token drawn from the model's full distribution."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from leadline.engine import Sampling
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Kind, Question, Technique


class TemperatureSampling(Technique):
    """`draws` answers at `temperature`, no truncation of the distribution; majority over the first `votes`.

    This is what a technique has to beat: raising the temperature alone also recovers some failures.
    """

    name: ClassVar[str] = "sampling"
    kind: ClassVar[Kind] = "sampling"
    summary: ClassVar[str] = (
        "answers drawn at a temperature, majority vote: the reference for every technique"
    )
    citation: ClassVar[str] = ""
    prompt_names: ClassVar[tuple[str, ...]] = ("question/question",)

    temperature: float = Field(default=0.7, gt=0, le=10, description="divides the logits")
    draws: int = Field(default=20, ge=1, le=10_000, description="answers drawn per item")
    votes: int = Field(default=10, ge=1, le=10_000, description="the verdict is the majority of this many")
    max_tokens: int = Field(default=16, ge=1, le=4096, description="longest answer, in tokens")

    @property
    def samples(self) -> int:
        """As `draws`."""
        return self.draws

    @property
    def vote(self) -> int:
        """As `votes`, but never more than are drawn."""
        return min(self.votes, self.draws)

    @property
    def label(self) -> str:
        """Such as "tau-0.7"."""
        return f"tau-{self.temperature:g}"

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """One call."""
        prompt = prompts.question(question.text, question.window, question.prompt)
        sampling = Sampling(self.temperature, self.max_tokens, ("\n",))
        alone = prompts.question(question.text, None, question.prompt)
        yield self.request(prompt, sampling, question, sample, "answer", without=alone)
