"""GenRead: first generate a background document, then read it.

Yu, Iter, Wang, Xu, Ju, Sanyal, Zhu, Zeng and Jiang, "Generate rather than Retrieve: Large Language Models are
Strong Context Generators", ICLR 2023. Zero-shot, both stages greedy.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from leadline.engine import Sampling
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Kind, Question, Technique


class GenRead(Technique):
    """One greedy background document of at most `passage_tokens`, one greedy answer from it."""

    name: ClassVar[str] = "genread"
    kind: ClassVar[Kind] = "prompting"
    summary: ClassVar[str] = (
        "generate a background document without examples, then answer from it; both greedy"
    )
    citation: ClassVar[str] = "Yu et al., Generate rather than Retrieve, ICLR 2023"
    prompt_names: ClassVar[tuple[str, ...]] = ("genread/background", "genread/answer")

    passage_tokens: int = Field(default=300, ge=1, le=4096, description="longest document, in tokens")
    max_tokens: int = Field(default=16, ge=1, le=4096, description="longest answer, in tokens")

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """Stage "background", then stage "answer"; ranks are read where the answer begins."""
        prompt = prompts.render("genread/background", question=question.text)
        document = yield self.request(
            prompt, Sampling(0.0, self.passage_tokens), question, sample, "background"
        )
        prompt = prompts.render("genread/answer", question=question.text, passage=document.text.strip())
        sampling = Sampling(0.0, self.max_tokens, ("\n",))
        alone = prompts.question(question.text)
        yield self.request(prompt, sampling, question, sample, "answer", question.gold, alone)
