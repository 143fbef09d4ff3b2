"""Runs many conversations side by side: what they all ask next goes to the model together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from leadline.engine import Failure, Generation, Request
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Answer, Conversation, Question, Stage, Technique

Generate = Callable[[Sequence[Request]], Iterator[tuple[int, Generation | Failure]]]


@dataclass(frozen=True)
class Job:
    """One answer to draw: a question and a sample index."""

    question: Question
    sample: int


@dataclass
class _Talk:
    job: Job
    conversation: Conversation
    stage: str
    request: Request
    stages: list[Stage] = field(default_factory=list)


def converse(
    technique: Technique, jobs: Sequence[Job], prompts: Prompts, generate: Generate
) -> Iterator[tuple[Job, Answer | Failure]]:
    """Answer all jobs under `technique`: yields each as it is finished, or as one of its calls fails.

    The stages are waves: every conversation's first request goes to the model in one call, then every second
    one, and so on, so that the model always has a full batch.
    """
    wave = []
    for job in jobs:
        conversation = technique.ask(job.question, job.sample, prompts)
        stage, request = next(conversation)
        wave.append(_Talk(job, conversation, stage, request))
    while wave:
        following: list[_Talk] = []
        for index, generation in generate([talk.request for talk in wave]):
            talk = wave[index]
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
                    len(generation.token_ids),
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
                following.append(_Talk(talk.job, talk.conversation, stage, request, talk.stages))
        # Rows finish in an order that depends on the batch; the next wave is asked in the order of the jobs.
        following.sort(key=lambda talk: (talk.job.question.item, talk.job.sample))
        wave = following
