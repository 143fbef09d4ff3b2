"""The techniques on the real model: every stage says something, and every answer is its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leadline.techniques.conversation import Job, converse
from leadline.techniques.genread import GenRead
from leadline.techniques.prompts_library import Prompts, Style
from leadline.techniques.recite import Recite
from leadline.techniques.technique import Answer, Question, Technique

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model

QUESTIONS = [
    Question("france", "What is the capital of France?", gold=("Paris",)),
    Question("hamlet", "Who wrote the play Hamlet?", gold=("William Shakespeare", "Shakespeare")),
]


def _ask(
    model: LocalModel, technique: Technique, style: Style, samples: int
) -> dict[tuple[str, int], Answer]:
    jobs = [Job(question, sample) for question in QUESTIONS for sample in range(samples)]
    found = {}
    for job, answer in converse(technique, jobs, Prompts(style), model.generate):
        assert isinstance(answer, Answer)
        found[job.question.item, job.sample] = answer
    assert len(found) == len(jobs)
    return found


def test_recite_recites_and_answers_from_it(smollm2: LocalModel) -> None:
    technique = Recite(passage_tokens=40, max_tokens=8)
    answers = _ask(smollm2, technique, "few-shot", 2)
    assert "Paris" in answers["france", 0].text
    passages = {answer.stages[0].text for answer in answers.values()}
    assert len(passages) == 4  # sampled: each its own
    for answer in answers.values():
        recited, answered = answer.stages
        assert recited.text.strip()
        assert "\n\n" not in recited.text.strip()
        assert recited.tokens_out <= 40
        assert answered.tokens_in > recited.tokens_in - 60  # demonstrations and the passage are in it
        assert "\n" not in answer.text.strip()
        assert all(probe.logprob <= 0 and probe.rank >= 1 for probe in answer.probes)
    assert [probe.answer for probe in answers["hamlet", 1].probes] == ["William Shakespeare", "Shakespeare"]
    # A sample that is drawn alone, on another day, is the same sample.
    alone = list(converse(technique, [Job(QUESTIONS[0], 1)], Prompts("few-shot"), smollm2.generate))
    assert [answer for _, answer in alone] == [answers["france", 1]]


def test_genread_writes_a_document_and_reads_it(smollm2: LocalModel) -> None:
    answers = _ask(smollm2, GenRead(passage_tokens=48, max_tokens=12), "chat", 1)
    for answer in answers.values():
        document, answered = answer.stages
        assert (document.name, answered.name) == ("background", "answer")
        assert len(document.text.split()) > 3
        assert answered.tokens_in > document.tokens_out
        assert answer.probes
    assert "Paris" in answers["france", 0].text
