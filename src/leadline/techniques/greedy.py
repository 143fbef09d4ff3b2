"""The baseline: the question as it is, the most likely token at each step."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from leadline.engine import Sampling
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Kind, Question, Technique


class Greedy(Technique):
    """One answer by greedy decoding; the rank of the gold answer's first token is read where it begins."""

    name: ClassVar[str] = "greedy"
    kind: ClassVar[Kind] = "baseline"
    summary: ClassVar[str] = "the question as it is, greedy decoding: the baseline"
    citation: ClassVar[str] = ""
    prompt_names: ClassVar[tuple[str, ...]] = ("question/question",)

    max_tokens: int = Field(default=16, ge=1, le=4096, description="longest answer, in tokens")

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """One call."""
        prompt = prompts.question(question.text, question.window, question.prompt)
        alone = prompts.question(question.text, None, question.prompt)
        sampling = Sampling(0.0, self.max_tokens, ("\n",))
        yield self.request(prompt, sampling, question, sample, "answer", question.gold, alone)
