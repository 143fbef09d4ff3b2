"""RECITE: first recite a passage from memory, then answer from it.

Sun, Wang, Tay, Yang and Zhou, "Recitation-Augmented Language Models", ICLR 2023. Several recitations are
sampled, each is answered greedily, and the majority of the answers counts (their self-consistency variant).
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from leadline.engine import Sampling
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation, Kind, Question, Technique


class Recite(Technique):
    """`paths` recitations at `temperature`, cut at the first blank line; one greedy answer from each."""

    name: ClassVar[str] = "recite"
    kind: ClassVar[Kind] = "prompting"
    summary: ClassVar[str] = (
        "recite a passage from memory (sampled), answer from it (greedy), vote over the paths"
    )
    citation: ClassVar[str] = "Sun et al., Recitation-Augmented Language Models, ICLR 2023"
    prompt_names: ClassVar[tuple[str, ...]] = ("recite/recite", "recite/answer")

    paths: int = Field(default=20, ge=1, le=1000, description="recitations per item")
    temperature: float = Field(default=0.7, ge=0, le=10, description="of the recitations; answers are greedy")
    passage_tokens: int = Field(default=128, ge=1, le=4096, description="longest recitation, in tokens")
    max_tokens: int = Field(default=16, ge=1, le=4096, description="longest answer, in tokens")

    @property
    def samples(self) -> int:
        """As `paths`."""
        return self.paths

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """Stage "recite", then stage "answer"; ranks are read where the answer begins."""
        prompt = prompts.render("recite/recite", question=question.text)
        sampling = Sampling(self.temperature, self.passage_tokens, ("\n\n",))
        passage = yield self.request(prompt, sampling, question, sample, "recite")
        prompt = prompts.render("recite/answer", question=question.text, passage=passage.text.strip())
        sampling = Sampling(0.0, self.max_tokens, ("\n",))
        alone = prompts.question(question.text)
        yield self.request(prompt, sampling, question, sample, "answer", question.gold, alone)
