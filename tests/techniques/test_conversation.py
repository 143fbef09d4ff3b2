"""Conversations run side by side, wave by wave, and end in an answer or a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from leadline.engine import Failure, Generation, GoldProbe, Request, Sampling
from leadline.engine.intervention import NOTHING, Intervention
from leadline.techniques.conversation import Generate, Job, converse
from leadline.techniques.genread import GenRead
from leadline.techniques.greedy import Greedy
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.recite import Recite
from leadline.techniques.sampling import TemperatureSampling
from leadline.techniques.technique import Answer, Conversation, Question, Technique

PROBE = GoldProbe("gold", 7, " gold", 3, -1.5)
QUESTIONS = [Question(f"item-{at}", f"question {at}?", gold=("gold",)) for at in range(4)]
JOBS = [Job(question, sample) for question in QUESTIONS for sample in range(2)]


class Waves:
    """A model that answers in the order that `order` gives, and remembers what it was asked in each call.
    What it is asked greedily it answers alike, whatever the sample."""

    def __init__(self, order: int = 1, failing: tuple[str, ...] = ()) -> None:
        self.order, self.failing = order, failing
        self.calls: list[list[Request]] = []

    def __call__(
        self, requests: Sequence[Request], intervention: Intervention = NOTHING
    ) -> Iterator[tuple[int, Generation | Failure]]:
        self.calls.append(list(requests))
        for index in list(range(len(requests)))[:: self.order]:
            request = requests[index]
            _, item, sample, stage = request.key
            if f"{item}/{stage}" in self.failing:
                yield index, Failure("too_long", f"{item} is too long")
            else:
                probes = (PROBE,) if request.gold else ()
                drawn = sample if request.sampling.temperature else "greedy"
                yield index, Generation(f" {item}/{drawn}/{stage} ", "stop", 10, (1, 2, 3), probes)


def _run(technique: Technique, generate: Generate, jobs: Sequence[Job] = JOBS) -> dict[Job, Answer | Failure]:
    found = list(converse(technique, jobs, Prompts("few-shot"), generate))
    assert len({job.sample for job, _ in found}) <= 2
    assert len(found) == len({(job.question.item, job.sample) for job, _ in found}) == len(jobs)
    return dict(found)


def test_one_stage_is_one_call_for_all_jobs() -> None:
    model = Waves()
    answers = _run(TemperatureSampling(), model)
    assert [len(call) for call in model.calls] == [len(JOBS)]
    answer = answers[Job(QUESTIONS[1], 0)]
    assert isinstance(answer, Answer)
    assert answer.text == " item-1/0/answer "  # raw, as the model wrote it
    assert [stage.name for stage in answer.stages] == ["answer"]


def test_what_several_samples_ask_greedily_is_asked_once() -> None:
    model = Waves()
    answers = _run(Greedy(), model)
    assert [len(call) for call in model.calls] == [len(QUESTIONS)]
    one, two = (answers[Job(QUESTIONS[1], sample)] for sample in range(2))
    assert one == two
    assert isinstance(one, Answer)
    assert one.text == " item-1/greedy/answer "
    assert one.probes == (PROBE,)
    failing = Waves(failing=("item-1/answer",))
    answers = _run(Greedy(), failing)
    assert sum(isinstance(answer, Failure) for answer in answers.values()) == 2  # it fails for both


def test_questions_that_happen_to_be_worded_alike_are_each_asked() -> None:
    model = Waves()
    twins = [Job(Question(name, "the same?"), 0) for name in ("one", "two")]
    answers = _run(Greedy(), model, twins)
    assert {answer.text for answer in answers.values() if isinstance(answer, Answer)} == {
        " one/greedy/answer ",
        " two/greedy/answer ",
    }


@pytest.mark.parametrize(
    ("technique", "stages"), [(Recite(), ["recite", "answer"]), (GenRead(), ["background", "answer"])]
)
def test_stages_come_in_order_and_each_is_kept(technique: Technique, stages: list[str]) -> None:
    model = Waves()
    answers = _run(technique, model)
    assert [{request.key[3] for request in call} for call in model.calls] == [{stage} for stage in stages]
    for job, answer in answers.items():
        assert isinstance(answer, Answer)
        drawn = {"recite": job.sample}  # the others are greedy
        texts = [f" {job.question.item}/{drawn.get(stage, 'greedy')}/{stage} " for stage in stages]
        assert [stage.name for stage in answer.stages] == stages
        assert [stage.text for stage in answer.stages] == texts
        assert answer.text == answer.stages[-1].text
        assert answer.finish == "stop"
        assert (answer.tokens_in, answer.tokens_out) == (20, 6)


def test_what_the_model_said_is_in_the_next_prompt() -> None:
    model = Waves()
    _run(Recite(), model)
    for request in model.calls[1]:
        _, item, sample, _ = request.key
        assert request.prompt.text is not None
        assert f"Passage: {item}/{sample}/recite\n" in request.prompt.text  # without the spaces around it


def test_ranks_are_looked_up_where_the_answer_begins_and_nowhere_else() -> None:
    model = Waves()
    _run(Recite(), model)
    assert all(request.gold == () for request in model.calls[0])
    assert all(request.gold == ("gold",) for request in model.calls[1])


def test_a_failure_ends_its_own_conversation() -> None:
    model = Waves(failing=("item-1/recite", "item-2/answer"))
    answers = _run(Recite(), model)
    for job, answer in answers.items():
        if job.question.item in {"item-1", "item-2"}:
            assert answer == Failure("too_long", f"{job.question.item} is too long")
        else:
            assert isinstance(answer, Answer)
    assert {request.key[1] for request in model.calls[1]} == {"item-0", "item-2", "item-3"}


class _Closes(Technique):
    """Remembers which of its conversations were closed before their end."""

    name: ClassVar[str] = "closes"
    closed: ClassVar[list[str]] = []

    def ask(self, question: Question, sample: int, prompts: Prompts) -> Conversation:
        prompt = prompts.render("question/question", question=question.text, window="")
        try:
            yield self.request(prompt, Sampling(), question, sample, "first")
            yield self.request(prompt, Sampling(), question, sample, "second")
        except GeneratorExit:
            self.closed.append(question.item)
            raise


def test_a_failed_conversation_is_closed_before_its_failure_is_told() -> None:
    _Closes.closed.clear()
    model = Waves(failing=("item-1/first", "item-3/second"))
    told = []
    for job, answer in converse(_Closes(), JOBS[::2], Prompts("few-shot"), model):
        if isinstance(answer, Failure):
            told.append(job.question.item)
            assert _Closes.closed == told
    assert told == ["item-1", "item-3"]


@pytest.mark.parametrize("technique", [Recite(), GenRead(), Greedy(), TemperatureSampling()])
def test_the_order_in_which_rows_finish_changes_nothing(technique: Technique) -> None:
    forwards, backwards = Waves(1), Waves(-1)
    assert _run(technique, forwards) == _run(technique, backwards)
    assert forwards.calls == backwards.calls  # the next wave is asked in the order of the jobs, too


def test_no_jobs_ask_nothing() -> None:
    model = Waves()
    assert _run(Greedy(), model, []) == {}
    assert model.calls == []


def test_the_number_of_draws_changes_neither_requests_nor_identity() -> None:
    few, many = TemperatureSampling(draws=2, votes=1), TemperatureSampling(draws=50)
    assert few.settings() == many.settings()
    assert few.settings() != TemperatureSampling(temperature=0.8).settings()
    assert Recite(paths=3).settings() == Recite().settings()
    first, second = Waves(), Waves()
    _run(few, first)
    _run(many, second)
    assert first.calls == second.calls


def test_the_seed_is_in_every_key() -> None:
    model = Waves()
    _run(Recite(seed=11), model)
    assert {request.key[0] for call in model.calls for request in call} == {11}
