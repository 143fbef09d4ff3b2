"""Runs many conversations side by side: what they all ask next goes to the model together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from leadline.engine import Failure, Generation, Request
from leadline.engine.intervention import Intervention
from leadline.techniques.prepared import AS_IT_IS, Prepared
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Answer, Conversation, Question, Stage

# Every technique calls the step that ends in its answer so.
ANSWER = "answer"
Generate = Callable[[Sequence[Request], Intervention], Iterator[tuple[int, Generation | Failure]]]


@dataclass(frozen=True)
class Job:
    """One answer to draw: a question and a sample index.

    `refill` counts how often it was drawn before and set aside; each time the randomness is another one.
    """

    question: Question
    sample: int
    refill: int = 0


@dataclass
class _Talk:
    job: Job
    conversation: Conversation
    stage: str
    request: Request
    stages: list[Stage] = field(default_factory=list)


class Asks(Protocol):
    """Whoever asks as a technique does."""

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """As `Technique.ask`."""


def converse(
    technique: Asks,
    jobs: Sequence[Job],
    prompts: Prompts,
    generate: Generate,
    prepared: Prepared = AS_IT_IS,
    *,
    merge: bool = True,
) -> Iterator[tuple[Job, Answer | Failure]]:
    """Answer all jobs under `technique`: yields each as it is finished, or as one of its calls fails.

    The stages are waves: every conversation's first request goes to the model in one call, then every second
    one, and so on, so that the model always has a full batch. Items under different interventions
    (`prepared`) go to the model one after the other. Without `merge` every answer is asked for by itself: a
    model behind an API may answer greedy requests of the same words differently.
    """
    wave = []
    for job in jobs:
        conversation = technique.ask(job.question, job.sample, prompts)
        stage, request = next(conversation)
        wave.append(_Talk(job, conversation, stage, _keyed(request, job)))
    while wave:
        following: list[_Talk] = []
        for talk, generation in _asked(wave, generate, prepared, merge):
            if isinstance(generation, Failure):
                talk.conversation.close()
                yield talk.job, generation
                continue
            talk.stages.append(
                Stage(
                    talk.stage,
                    generation.text,
                    generation.finish,
                    generation.prompt_tokens,
                    generation.tokens_out,
                )
            )
            try:
                stage, request = talk.conversation.send(generation)
            except StopIteration:
                yield (
                    talk.job,
                    Answer(generation.text, generation.finish, tuple(talk.stages), generation.probes),
                )
            else:
                request = _keyed(request, talk.job)
                following.append(_Talk(talk.job, talk.conversation, stage, request, talk.stages))
        # Rows finish in an order that depends on the batch; the next wave is asked in the order of the jobs.
        following.sort(key=lambda talk: (talk.job.question.item, talk.job.sample))
        wave = following


def _keyed(request: Request, job: Job) -> Request:
    return replace(request, key=(*request.key, "refill", job.refill)) if job.refill else request


def _asked(
    wave: Sequence[_Talk], generate: Generate, prepared: Prepared, merge: bool
) -> Iterator[tuple[_Talk, Generation | Failure]]:
    """The wave's answers, each talk under its item's intervention. What several samples of an item ask
    greedily in the same words comes out the same, so the model is asked it once."""
    groups: dict[int, tuple[Intervention, dict[Request, list[_Talk]]]] = {}
    for talk in wave:
        intervention = prepared.for_item(talk.job.question.item)
        request = talk.request
        drawn = request.sampling.temperature > 0 or (not merge and talk.stage == ANSWER)
        alike = request if drawn else replace(request, key=(talk.job.question.item,))
        talks = groups.setdefault(id(intervention), (intervention, {}))[1]
        talks.setdefault(alike, []).append(talk)
    for intervention, talks in groups.values():
        asked = list(talks.values())
        for index, generation in generate([same[0].request for same in asked], intervention):
            for talk in asked[index]:
                yield talk, generation
