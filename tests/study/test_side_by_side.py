"""Configurations that ask the same are asked together: their answers are those that each gets by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.engine import Request
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.study import run
from leadline.study.configuration import Configuration
from leadline.study.progress import Quiet
from leadline.study.side_by_side import asked_together, by_question
from leadline.study.study import Study, open_study
from leadline.techniques import Question
from leadline.techniques.conversation import Job
from tests.study import small, stored


class Listening:
    """A local model that keeps what it is asked, call by call."""

    def __init__(self, reference: Path) -> None:
        self.model = LocalModel(resolve(str(reference)), device="cpu")
        self.calls: list[list[Request]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def generate(self, requests: Sequence[Request], *more: Any) -> Iterator[Any]:
        self.calls.append(list(requests))
        return self.model.generate(requests, *more)


def each_alone(study: Study, entry: object) -> list[tuple[Configuration, ...]]:
    return [(one,) for one in study.configurations]


def names(study: Study, number: int = 0) -> list[list[str]]:
    return [[one.name for one in group] for group in asked_together(study, study.config.models[number])]


def test_answers_are_those_that_each_configuration_gets_by_itself(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, alone = (
        small.small_study(tmp_path / name, model, number=7, batch_rows=11) for name in ("together", "alone")
    )
    run.run_study(open_study(together), Quiet())
    monkeypatch.setattr(run, "asked_together", each_alone)
    run.run_study(open_study(alone), Quiet())
    assert stored.texts(together) == stored.texts(alone)
    probes = [{key: row["probes"] for key, row in stored.rows(one).items()} for one in (together, alone)]
    assert probes[0] == probes[1] and any(one != "[]" for one in probes[0].values())


def test_one_question_comes_to_the_model_once_for_the_baseline_and_all_temperatures(
    tmp_path: Path, model: Path
) -> None:
    study = open_study(small.small_study(tmp_path, model, techniques=[]))
    assert names(study) == [
        ["greedy", "tau-0.7", "tau-1.2"],
        ["tau-0.7-partition", "tau-1.2-partition"],
    ]
    listening = Listening(model)
    run.run_study(study, Quiet(), load=lambda *_: listening)
    asked_in = Counter(prompt for call in listening.calls for prompt in {one.prompt for one in call})
    failed = {one.prompt for call in listening.calls for one in call if one.key and len(call) > 1}
    assert len(asked_in) == len(study.benchmark.items) and failed
    assert set(asked_in.values()) <= {1, 2}, "once, and once more where the baseline failed"


def test_who_asks_otherwise_is_asked_apart(tmp_path: Path, model: Path) -> None:
    techniques = [
        *small.STUDY["techniques"],
        "dola",
        {"technique": "greedy", "max_tokens": 3, "name": "short"},
    ]
    study = open_study(small.small_study(tmp_path, model, techniques=techniques))
    groups = names(study)
    assert groups[0] == ["greedy", "tau-0.7", "tau-1.2", "short"]
    assert [one for one in groups if len(one) == 1] == [["recite"], ["genread"], ["dola"]]
    assert sorted(name for group in groups for name in group) == sorted(
        one.name for one in study.configurations
    )


jobs = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 30)), unique=True, max_size=60).map(
    lambda pairs: [Job(Question(item, ""), sample) for item, sample in pairs]
)


@given(jobs, st.integers(1, 20))
def test_batches_hold_every_job_once_and_cut_no_question_that_fits(asked: list[Job], size: int) -> None:
    batches = list(by_question(asked, size))
    assert Counter(job for batch in batches for job in batch) == Counter(asked)
    assert all(0 < len(batch) <= size for batch in batches)
    number = Counter(job.question.item for job in asked)
    for item, its in number.items():
        parts = [len([job for job in batch if job.question.item == item]) for batch in batches]
        assert len([part for part in parts if part]) <= (1 if its <= size else -(-its // size) + 1)
