"""Configurations of one local model that ask the same are asked together: a prompt is computed once for all.

What a request gives does not depend on what is asked beside it, so the answers are those that each
configuration would get by itself. With long prompts, reading them is most of the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from leadline.study.config import AnyModel
from leadline.study.configuration import Configuration
from leadline.study.rehearsal import requests_of
from leadline.study.served_entry import ServedEntry
from leadline.study.study import Study
from leadline.techniques import Question, Technique
from leadline.techniques.conversation import Job
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Conversation


def asked_together(study: Study, entry: AnyModel) -> list[tuple[Configuration, ...]]:
    """The study's configurations, those together that send a local model one prompt, the same, and leave the
    model as it is. Each stands where the first of its company stood; who asks only what the baseline failed
    at is apart from the baseline."""
    groups: dict[object, list[Configuration]] = {}
    for one in study.configurations:
        asked = requests_of(one.technique, study.prompts)
        is_plain = len(asked) == 1 and not one.technique.opens_the_model
        alike: object = one.name
        if is_plain and not isinstance(entry, ServedEntry):
            alike = (asked[0][1].prompt, one.failures_only)
        groups.setdefault(alike, []).append(one)
    return [tuple(group) for group in groups.values()]


class SideBySide:
    """Several techniques as one: the number of a sample says whose it is."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self.techniques = techniques

    def job(self, which: int, job: Job) -> Job:
        """A job of the technique with the number `which`."""
        return Job(job.question, job.sample * len(self.techniques) + which, job.refill)

    def of(self, sample: int) -> tuple[int, int]:
        """Whose sample it is, and its number there."""
        own, which = divmod(sample, len(self.techniques))
        return which, own

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        """As `Technique.ask`."""
        which, own = self.of(sample)
        return self.techniques[which].ask(question, own, prompts)


def by_question(jobs: Sequence[Job], size: int) -> Iterator[list[Job]]:
    """Jobs in batches of up to `size`. Those of one question, which share a prompt, come in one batch, or in
    several that are full where they are more.

    >>> jobs = [Job(Question(item, ""), sample) for sample in range(3) for item in "ab"]
    >>> [[(job.question.item, job.sample) for job in batch] for batch in by_question(jobs, 4)]
    [[('a', 0), ('a', 1), ('a', 2)], [('b', 0), ('b', 1), ('b', 2)]]
    """
    place = {item: at for at, item in enumerate(dict.fromkeys(job.question.item for job in jobs))}
    batch: list[Job] = []
    for _, group in groupby(
        sorted(jobs, key=lambda job: place[job.question.item]), lambda job: job.question.item
    ):
        some = list(group)
        if batch and len(batch) + len(some) > size:
            yield batch
            batch = []
        batch += some
        while len(batch) > size:
            yield batch[:size]
            batch = batch[size:]
    if batch:
        yield batch
