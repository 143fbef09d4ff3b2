"""A technique asked again: the same technique, its answer drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from leadline.engine import Failure, Generation, Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.techniques import Technique, techniques
from leadline.techniques.again import ANSWER, asked_again, draws_already
from leadline.techniques.caa import CAA
from leadline.techniques.conversation import Job, converse
from leadline.techniques.dola import DoLa
from leadline.techniques.genread import GenRead
from leadline.techniques.greedy import Greedy
from leadline.techniques.prepared import Bench
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.recite import Recite
from leadline.techniques.sampling import TemperatureSampling
from leadline.techniques.stack import stacked
from leadline.techniques.technique import Answer, Question

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

QUESTIONS = [
    Question("france", "What is the capital of France?", gold=("Paris",)),
    Question("oslo", "Which country is Oslo the capital of?", gold=("Norway",)),
    Question("anthem", "Who composed the national anthem of Bhutan?", gold=("Aku Tongmi",)),
]


def _requests(technique: Technique, sample: int = 3) -> list[tuple[str, Request]]:
    """What a technique asks, when it hears a hyphen each time."""
    conversation = technique.ask(QUESTIONS[0], sample, Prompts())
    asked = [next(conversation)]
    with pytest.raises(StopIteration):
        while True:
            asked.append(conversation.send(Generation("-", "stop", 1, (0,))))
    return asked


@pytest.mark.parametrize("name", techniques())
def test_every_technique_ends_in_a_stage_called_answer(name: str) -> None:
    stages = [stage for stage, _ in _requests(techniques()[name]())]
    assert stages[-1] == ANSWER
    assert ANSWER not in stages[:-1]


@pytest.mark.parametrize("technique", [DoLa(max_tokens=7, repetition_penalty=1.2), GenRead(), Recite(seed=5)])
def test_only_the_answer_is_drawn(technique: Technique) -> None:
    again = asked_again(technique, 10, 0.7)
    for (stage, own), (stage_again, asked) in zip(_requests(technique), _requests(again), strict=True):
        assert stage == stage_again
        assert asked.key == own.key  # keyed as the technique's own: seed, item, sample, stage
        assert asked.prompt == own.prompt and asked.without == own.without
        assert asked.sampling.max_tokens == own.sampling.max_tokens
        assert asked.sampling.stop == own.sampling.stop
        assert asked.sampling.repetition_penalty == own.sampling.repetition_penalty
        wanted = 0.7 if stage == ANSWER else own.sampling.temperature
        assert asked.sampling.temperature == wanted


def test_the_greedy_baseline_asked_again_is_plain_sampling() -> None:
    plain = TemperatureSampling(temperature=0.7, draws=10)
    assert _requests(asked_again(Greedy(), 10, 0.7)) == _requests(plain)


def test_its_identity_is_the_techniques_own_and_the_temperature() -> None:
    again = asked_again(DoLa(relative_top=0.2), 10, 0.7)
    assert again.name == "dola"
    assert again.settings() == {**DoLa(relative_top=0.2).settings(), "again": {"temperature": 0.7}}
    assert again.settings() == asked_again(DoLa(relative_top=0.2), 30, 0.7).settings()
    assert again.settings() != asked_again(DoLa(relative_top=0.2), 10, 0.8).settings()
    assert again.settings() != asked_again(DoLa(), 10, 0.7).settings()
    assert again.samples == again.vote == 10


def test_what_holds_of_a_technique_holds_of_it_when_asked_again() -> None:
    stack = stacked((GenRead, DoLa))()
    for technique in (CAA(), GenRead(), stack):
        again = asked_again(technique, 4, 0.7)
        assert (
            again.kind,
            again.is_fitted,
            again.needs_context,
            again.prompt_names,
            again.opens_the_model,
        ) == (
            technique.kind,
            technique.is_fitted,
            technique.needs_context,
            technique.prompt_names,
            technique.opens_the_model,
        )
    assert "again" not in techniques()  # it is made by a study, and is no technique that one asks for


def test_techniques_that_draw_need_not_be_asked_again() -> None:
    assert draws_already(Recite())
    assert draws_already(TemperatureSampling(draws=1, votes=1))
    assert draws_already(stacked((TemperatureSampling, DoLa))())
    for once in (DoLa(), GenRead(), Recite(paths=1), stacked((GenRead, DoLa))()):
        assert not draws_already(once)


def test_a_document_that_is_written_greedily_is_written_once() -> None:
    calls: list[list[Request]] = []

    def generate(
        requests: Sequence[Request], intervention: Intervention = NOTHING
    ) -> Iterator[tuple[int, Generation | Failure]]:
        calls.append(list(requests))
        for index, _ in enumerate(requests):
            yield index, Generation("text", "stop", 10, (1, 2))

    jobs = [Job(question, sample) for question in QUESTIONS for sample in range(5)]
    found = dict(converse(asked_again(GenRead(), 5, 0.7), jobs, Prompts(), generate))
    assert [len(call) for call in calls] == [len(QUESTIONS), len(jobs)]
    assert set(found) == set(jobs)
    answer = found[jobs[0]]
    assert isinstance(answer, Answer)
    assert [stage.name for stage in answer.stages] == ["background", "answer"]
    assert answer.tokens_out == 4  # each answer says what it took to get to it


@pytest.mark.model
@pytest.mark.parametrize(
    "technique",
    [DoLa(max_tokens=8), GenRead(passage_tokens=24, max_tokens=8), CAA(layer=12, pairs=12, max_tokens=8)],
    ids=["dola", "genread", "caa"],
)
def test_on_the_real_model_answers_vary_and_each_is_its_own(
    smollm2: LocalModel, technique: Technique
) -> None:
    def ask(one: Technique, jobs: Sequence[Job]) -> dict[tuple[str, int], Answer]:
        prepared = one.prepare(smollm2.lm, Bench())
        found = {}
        for job, answer in converse(one, jobs, Prompts(), smollm2.generate, prepared):
            assert isinstance(answer, Answer)
            found[job.question.item, job.sample] = answer
        return found

    again = asked_again(technique, 8, 2.0)
    jobs = [Job(question, sample) for question in QUESTIONS for sample in range(8)]
    drawn = ask(again, jobs)
    assert max(len({drawn[question.item, sample].text for sample in range(8)}) for question in QUESTIONS) > 1
    # A sample that is drawn alone, on another day, is the same sample; so is what stands before the answer.
    assert ask(again, [jobs[10]]) == {("oslo", 2): drawn["oslo", 2]}
    before = [answer.stages[:-1] for answer in drawn.values()]
    assert len(set(before)) == (1 if len(before[0]) == 0 else len(QUESTIONS))
    # Almost cold it is the technique itself: what it does to the model is on.
    cold = ask(asked_again(technique, 2, 1e-4), jobs[::8])
    greedy = ask(technique, jobs[::8])
    assert {key: answer.text for key, answer in cold.items()} == {
        key: answer.text for key, answer in greedy.items()
    }
