"""The interface of a technique: settings, and a conversation with the model that ends in an answer.

A technique is written the way its paper tells it: it yields what it asks and gets back what the model said.

    class Echo(Technique):
        name: ClassVar[str] = "echo"

        def ask(self, question, sample, prompts):
            draft = yield self.request(prompts.question(question.text, question.window), ...)
            final = yield self.request(...)
            return final

Many such conversations run side by side (see `conversation.py`); what a technique asks in one step is batched
over all items and samples.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from leadline.engine import Generation, GoldProbe, Prompt, Request, Sampling
from leadline.techniques.prepared import AS_IT_IS, Bench, Prepared
from leadline.techniques.prompts_library import Prompts

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM
    from leadline.engine.session import Session

Kind = Literal["baseline", "sampling", "prompting", "decoding", "steering"]


@dataclass(frozen=True)
class Question:
    """An item as a technique sees it. `gold` serves only to look up ranks; no prompt is made from it.
    `prompt` is the item's own way to be asked, in place of the packaged prompt."""

    item: str
    text: str
    window: str | None = None
    gold: tuple[str, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True)
class Stage:
    """One call on the way to an answer: its name ("recite", "answer"), what came back and why it ended."""

    name: str
    text: str
    finish: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Answer:
    """What a technique answered: the last stage's text, and everything before it."""

    text: str
    finish: str
    stages: tuple[Stage, ...]
    probes: tuple[GoldProbe, ...]

    @property
    def tokens_in(self) -> int:
        """Prompt tokens of all calls."""
        return sum(stage.tokens_in for stage in self.stages)

    @property
    def tokens_out(self) -> int:
        """Generated tokens of all calls."""
        return sum(stage.tokens_out for stage in self.stages)


# What a technique yields: the name of the stage and the request; what it is sent: the generation.
Conversation = Generator[tuple[str, Request], Generation, None]


class Technique(BaseModel):
    """Settings of a technique (its fields) and how it asks (`ask`).

    `samples` answers are drawn per item, and the majority over the first `vote` of them is the technique's
    verdict. Neither changes a single answer, so neither is part of a configuration's identity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    kind: ClassVar[Kind]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # What is fitted depends on the questions of the study, so they are part of a configuration's identity.
    is_fitted: ClassVar[bool] = False
    # Without a text that comes with the question there is nothing to contrast.
    needs_context: ClassVar[bool] = False
    prompt_names: ClassVar[tuple[str, ...]] = ()

    seed: int = Field(default=0, description="names the random numbers that are drawn")

    @property
    def samples(self) -> int:
        """Answers drawn per item."""
        return 1

    @property
    def vote(self) -> int:
        """Answers that the verdict is the majority of."""
        return self.samples

    @property
    def label(self) -> str:
        """What a study calls this technique unless it says otherwise."""
        return self.name

    def settings(self) -> dict[str, Any]:
        """What decides an answer: the fields, without those that only say how many are drawn."""
        return self.model_dump(mode="json", exclude={"paths", "draws", "votes"})

    @property
    def opens_the_model(self) -> bool:
        """Whether the technique reads or changes what a model computes, which only a local model allows."""
        return self.kind in ("decoding", "steering")

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Make the technique ready for `lm`, fitting it where it needs that. Prompting needs nothing."""
        return AS_IT_IS

    @contextmanager
    def on(self, model: Any, tokenizer: Any, bench: Bench | None = None) -> Iterator[Session]:
        """Within this context `model`, a causal language model of `transformers`, computes under the
        technique: its `forward`, its scores, and so its `generate`, at any batch size, padded left or right,
        with a cache or without. On exit the model is as it was, also after an exception. Contexts nest.

        `bench` are the questions that a technique is fitted on (default: the bundled facts). Raises
        UsageError for an architecture that the technique does not know.
        """
        from leadline.engine.lm import CausalLM
        from leadline.engine.passes import afresh
        from leadline.engine.session import applied

        with afresh():
            prepared = self.prepare(CausalLM(model, tokenizer), bench or Bench())
        with applied(model, prepared.intervention) as session:
            yield session

    @abstractmethod
    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """Ask: yield (stage name, request), receive its generation; the last one is the answer."""

    def request(
        self,
        prompt: Prompt,
        sampling: Sampling,
        question: Question,
        sample: int,
        stage: str,
        gold: tuple[str, ...] = (),
        without: Prompt | None = None,
    ) -> tuple[str, Request]:
        """A step of the conversation, its randomness keyed by (seed, item, sample, stage). `without` is the
        same prompt without its context."""
        return stage, Request(prompt, sampling, (self.seed, question.item, sample, stage), gold, without)
