"""What samples of logs that Inspect wrote say: answers, failures, options; in every shape of a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, convert_eval_logs
from inspect_ai.log._recorders.chunked import convert_eval_logs_to_chunked
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import choice, model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver

from leadline.answers import read_answer
from leadline.errors import UsageError
from leadline.interop.inspect_log import InspectLog, inspect_logs
from leadline.interop.log_benchmark import logged_benchmark
from leadline.interop.logs import LoggedAnswer
from tests.interop.inspect_evals import RIVERS, SURE, UNSURE, WARM, evaluated, model


def _log(written: EvalLog | Path) -> InspectLog:
    (log,) = inspect_logs([Path(written.location) if isinstance(written, EvalLog) else written])
    return log


def _answers(written: EvalLog | Path) -> dict[tuple[str, int], LoggedAnswer]:
    return {(one.item, one.sample): one for one in _log(written).answers()}


@solver
def waits() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if "Vienna" in state.input_text:
            await anyio.sleep(30)
        return await generate(state)

    return solve


@solver
def asks_twice() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.messages.append(ChatMessageUser(content=f"Are you sure? {state.input_text}"))
        return await generate(state)

    return solve


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """Five epochs, one call that fails, long texts, numbers and slashes among the ids."""
    answers: dict[str, Any] = {**UNSURE, "Paris": ["Seine", RuntimeError("no luck")], "Rome": ["Tiber"]}
    rome = Sample(
        id="it/rome/1",
        input="Which river flows through Rome, " + "the eternal city, " * 20 + "?",
        target="Tiber",
        metadata={"category": "south", "note": "n" * 300},
    )
    folder = tmp_path_factory.mktemp("whole")
    return evaluated(
        folder, model(answers), [*RIVERS, rome], epochs=5, config=WARM, fail_on_error=False, max_samples=4
    )


def test_every_epoch_gives_its_raw_answer_under_the_id_of_the_sample(whole: EvalLog) -> None:
    answers = _answers(whole)
    assert whole.status == "success"
    assert len(answers) == 25 and {item for item, _ in answers} == {
        "eu/vienna",
        "eu/paris",
        "3",
        "de_epoch_2",
        "it/rome/1",
    }
    texts = [answers["eu/vienna", epoch].text or "" for epoch in range(5)]
    assert sorted(texts) == ["Danube", "Danube", "Donau", "Donau", "Rhine"]
    one = answers["it/rome/1", 4]
    assert (one.finish, one.scores, one.tokens_in, one.tokens_out) == ("stop", {"includes": 1.0}, 7, 3)


def test_a_sample_that_ended_in_an_error_is_a_failed_call_and_no_empty_answer(whole: EvalLog) -> None:
    failed = [one for one in _answers(whole).values() if one.text is None]
    assert {one.item for one in failed} == {"eu/paris"} and len(failed) == 2
    assert all(one.failure == "error" and "no luck" in one.message and not one.scores for one in failed)


def test_a_reducer_over_epochs_hides_no_answer(tmp_path: Path) -> None:
    from inspect_ai import Epochs

    log = evaluated(tmp_path, model(UNSURE), epochs=Epochs(5, "mode"))
    assert log.results is not None and log.results.scores[0].reducer == "mode"
    assert len(_answers(log)) == 20


@pytest.mark.parametrize("shape", ["chunked", "json", "mixed"])
def test_all_shapes_of_a_log_say_the_same(whole: EvalLog, tmp_path: Path, shape: str) -> None:
    if shape == "json":
        convert_eval_logs(whole.location, "json", str(tmp_path))
    else:
        convert_eval_logs_to_chunked(whole.location, str(tmp_path))
    (path,) = tmp_path.iterdir()
    if shape == "mixed":
        _take_over_some(Path(whole.location), path)
    there = {key: (one.text, one.message, one.scores) for key, one in _answers(path).items()}
    assert there == {key: (one.text, one.message, one.scores) for key, one in _answers(whole).items()}
    items = {item.id: (item.question, item.golds, item.metadata) for item in _log(path).items()}
    assert items == {item.id: (item.question, item.golds, item.metadata) for item in _log(whole).items()}
    assert items["it/rome/1"][0].endswith("the eternal city, ?") and len(items["it/rome/1"][2]["note"]) == 300
    assert _log(path).run == _log(whole).run


def _take_over_some(whole: Path, chunked: Path) -> None:
    """An archive in which two samples have the older shape."""
    from zipfile import ZipFile

    with ZipFile(whole) as old, ZipFile(chunked) as new:
        names = [
            name for name in old.namelist() if name.endswith("paris_epoch_1.json") or "/3_epoch_4" in name
        ]
        assert len(names) == 2
        gone = tuple(name.removesuffix(".json") + "/" for name in names)
        kept = {name: new.read(name) for name in new.namelist() if not name.startswith(gone)}
        kept |= {name: old.read(name) for name in names}
    with ZipFile(chunked, "w") as out:
        for name, data in kept.items():
            out.writestr(name, data)


def test_numbers_that_are_no_json_are_read_all_the_same(whole: EvalLog, tmp_path: Path) -> None:
    convert_eval_logs(whole.location, "json", str(tmp_path))
    (path,) = tmp_path.iterdir()
    log = json.loads(path.read_text("utf-8"))
    log["samples"][3]["scores"]["includes"]["value"] = float("nan")
    log["samples"][7]["metadata"]["big"] = 2**70
    path.write_text(json.dumps(log), "utf-8")
    assert "NaN" in path.read_text("utf-8")
    answers = list(_log(path).answers())
    assert len(answers) == 25 and not answers[3].scores


def test_why_an_answer_ended_is_told(tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        **SURE,
        "Paris": [("", "content_filter")],
        "London": [("Tha", "max_tokens")],
        "Dresden": [("", "model_length")],
    }
    found = _answers(evaluated(tmp_path, model(answers)))
    assert {item: (one.text, one.finish) for (item, _), one in found.items()} == {
        "eu/vienna": ("Danube", "stop"),
        "eu/paris": ("", "content_filter"),
        "3": ("Tha", "length"),
        "de_epoch_2": ("", "length"),
    }


def test_a_sample_that_a_limit_ended_is_failed_only_where_it_had_no_answer(tmp_path: Path) -> None:
    log = evaluated(tmp_path / "time", model(SURE), RIVERS[:2], solver=waits(), time_limit=1)
    found = _answers(log)
    assert (found["eu/vienna", 0].text, found["eu/vienna", 0].failure) == (None, "limit")
    assert "time limit" in found["eu/vienna", 0].message
    assert found["eu/paris", 0].text == "The Seine."
    turns = _log(evaluated(tmp_path / "turns", model(SURE), RIVERS[:2], solver=asks_twice(), message_limit=3))
    assert [one.text for one in turns.answers()] == ["Danube", "The Seine."]
    assert turns.notes() == ["samples that the message limit ended: 2"]
    tokens = evaluated(tmp_path / "tokens", model(SURE), RIVERS[:1], solver=asks_twice(), token_limit=15)
    assert [one.finish for one in _answers(tokens).values()] == ["length"]


def test_options_become_an_enum_whose_letters_are_read(tmp_path: Path) -> None:
    options = ["Danube", "Vienna", "Alps"]
    asked = [
        Sample(id=1, input="Which is a river?", choices=options, target="A"),
        Sample(id=2, input="Which one is a town?", choices=options, target="B"),
    ]
    said = {
        "is a river": ["ANSWER: A", "The Danube is one.\n\nANSWER: A", "ANSWER: C"],
        "is a town": ["ANSWER: B"],
    }
    log = evaluated(tmp_path, model(said), asked, epochs=3, solver=multiple_choice(), scorer=choice())
    items = logged_benchmark([_log(log)]).benchmark.by_id
    assert items["1"].question == "Which is a river?\nA) Danube\nB) Vienna\nC) Alps"
    assert (items["1"].answer, items["2"].answer, items["1"].answer_type) == ("A", "B", "enum")
    readings = [read_answer(items["1"], _answers(log)["1", epoch].text or "") for epoch in range(3)]
    assert [one.value for one in readings] == ["A", "A", "C"]
    assert [one.correct for one in readings] == [True, True, False]


def test_a_set_of_right_options_is_refused_where_a_benchmark_is_to_be_made(tmp_path: Path) -> None:
    asked = [Sample(id=1, input="Which are rivers?", choices=["Danube", "Seine", "Alps"], target=["A", "B"])]
    said = {"are rivers": ["ANSWER: A,B", "ANSWER: A"]}
    log = evaluated(
        tmp_path, model(said), asked, epochs=2, solver=multiple_choice(multiple_correct=True), scorer=choice()
    )
    with pytest.raises(UsageError, match="several right options at once, A, B: no answer type of Leadline"):
        logged_benchmark([_log(log)])
    found = _answers(log)
    assert [found["1", epoch].scores["choice"] for epoch in (0, 1)] == [1, 0]


def test_what_a_judge_thinks_does_not_touch_the_answer(tmp_path: Path) -> None:
    judge = model({"river": ["GRADE: I"]}, "judge")
    found = _answers(evaluated(tmp_path, model(SURE), RIVERS[:2], scorer=model_graded_qa(model=judge)))
    assert found["eu/vienna", 0].text == "Danube" and found["eu/vienna", 0].scores == {"model_graded_qa": 0.0}


def test_messages_are_asked_by_their_user_and_system_prompts_are_settings(tmp_path: Path) -> None:
    image = "data:image/png;base64,iVBORw0KGgo="
    asked = [
        Sample(
            id="one",
            input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="Which river, Vienna?")],
            target="Danube",
        ),
        Sample(
            id="two",
            input=[
                ChatMessageUser(content=[ContentText(text="Which town, Paris?"), ContentImage(image=image)]),
            ],
            target="x",
        ),
    ]
    questions = {item.id: item.question for item in _log(evaluated(tmp_path, model(SURE), asked)).items()}
    assert questions == {"one": "Which river, Vienna?", "two": "Which town, Paris?\n[image]"}


@pytest.mark.parametrize(
    ("targets", "kind"),
    [
        (("12", "1,300.5"), "number"),
        (("yes", "No"), "boolean"),
        (("yes", "12"), "text"),
        (("12 km", "3"), "text"),
    ],
)
def test_answers_are_read_as_what_all_targets_of_a_task_are(
    tmp_path: Path, targets: tuple[str, str], kind: str
) -> None:
    asked = [
        Sample(id=number, input=f"Vienna {number}?", target=target) for number, target in enumerate(targets)
    ]
    made = logged_benchmark([_log(evaluated(tmp_path, model(SURE), asked))])
    assert {item.answer_type for item in made.benchmark.items} == {kind}
    assert bool(made.notes) == (kind != "text")
