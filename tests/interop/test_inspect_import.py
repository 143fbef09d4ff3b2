"""`leadline import inspect`, on logs that Inspect wrote: finished ones, broken-off ones, retried ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, convert_eval_logs
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import choice, match
from inspect_ai.solver import generate, multiple_choice, system_message

from leadline.interop.inspect_extension import reading
from leadline.interop.inspect_log import inspect_logs
from leadline.interop.log_import import import_logs
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.interop.conftest import Leadline
from tests.interop.inspect_evals import RIVERS, SURE, UNSURE, WARM, evaluated, model

ROOT = Path(__file__).parents[2]


def _frame(study: Path) -> pl.DataFrame:
    opened = open_study(study)
    with open_store(opened.folder, write=False) as store:
        return readings(opened, store)


def _texts(study: Path) -> list[tuple[Any, ...]]:
    opened = open_study(study)
    with open_store(opened.folder, write=False) as store:
        return [
            (description["recorded"]["configuration"], one.key.item, one.key.sample, one.text, one.finish)
            for name, description in store.configurations().items()
            for one in store.responses(name)
        ]


def _place(log: EvalLog) -> Path:
    return Path(log.location)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with logs of two models that were asked the same, three times each, and a file of no log."""
    folder = tmp_path_factory.mktemp("two")
    evaluated(folder, model(SURE, "large"), epochs=3, config=WARM)
    evaluated(folder / "more", model(UNSURE, "small"), epochs=3, config=WARM, log_format="json")
    (folder / "eval-set.json").write_text('{"eval_set_id": "1"}', "utf-8")
    return folder


def test_two_logs_of_a_task_are_compared_pair_by_pair(two: Path, tmp_path: Path, leadline: Leadline) -> None:
    study = tmp_path / "study"
    ended = leadline("import", "inspect", two, "--study", study, "--baseline", "large")
    assert ended.code == 0, ended.err
    assert "stored: 24 answers of 2 configurations to 4 items" in ended.out
    assert "a benchmark of 4 items out of the logs" in ended.out
    assert leadline("report", study).code == 0
    document = json.loads((study / "report" / "findings.json").read_text("utf-8"))
    moved = next(
        one for one in document["findings"] if (one["lens"], one["table"]) == ("transitions", "overall")
    )
    (row,) = moved["rows"]
    figures = row["figures"]
    # The small model knows of London what the large one does not, and does not know Dresden.
    assert (figures["gain"]["numerator"], figures["gain"]["denominator"]) == (1, 1)
    assert (figures["loss"]["numerator"], figures["loss"]["denominator"]) == (1, 3)
    assert any("mcnemar" in json.dumps(one).casefold() for one in figures.values())
    wobble = next(one for one in document["findings"] if (one["lens"], one["table"]) == ("wobble", "overall"))
    shares = {one["keys"]["configuration"]: one["figures"]["wobble"]["numerator"] for one in wobble["rows"]}
    assert (shares["large"], shares["small"]) == (0, 2)  # an article makes no other answer of "Seine"


def test_a_log_that_was_imported_before_is_left_alone(two: Path, tmp_path: Path, leadline: Leadline) -> None:
    study = tmp_path / "study"
    leadline("import", "inspect", two, "--study", study)
    before = _texts(study)
    (log,) = two.glob("*.eval")
    ended = leadline("import", "inspect", log, "--study", study)
    assert ended.code == 0 and "imported before, nothing to do" in ended.out
    assert _texts(study) == before and len(before) == 24


def test_the_same_run_in_another_file_adds_nothing(two: Path, tmp_path: Path, leadline: Leadline) -> None:
    study = tmp_path / "study"
    leadline("import", "inspect", two, "--study", study)
    (log,) = two.glob("*.eval")
    convert_eval_logs(str(log), "json", str(tmp_path / "json"))
    ended = leadline("import", "inspect", tmp_path / "json", "--study", study, "--json")
    assert (done := json.loads(ended.out))["stored"] == 0 and done["known"] == 12
    assert done["configurations"] == [{"model": "recorded", "configuration": "large"}]


def test_a_dry_run_says_all_and_stores_nothing(two: Path, tmp_path: Path, leadline: Leadline) -> None:
    ended = leadline("import", "inspect", two, "--study", tmp_path / "study", "--dry-run")
    assert ended.code == 0 and "would be stored: 24 answers" in ended.out and "next:" not in ended.out
    assert not (tmp_path / "study").exists()


def test_what_a_scorer_holds_wrong_and_we_right_is_counted(tmp_path: Path, leadline: Leadline) -> None:
    log = evaluated(tmp_path / "logs", model(SURE), scorer=match(location="exact"))
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert (
        "small, scorer match: holds 2 of 4 answers right, our readings 3; they differ on 1, first on item "
        "eu/paris" in ended.out
    ), ended.out
    opened = open_study(tmp_path / "study")
    with open_store(opened.folder, write=False) as store:
        (run,) = store.history()
    noted = run.about["recorded"]
    assert noted["scores"] == {"small": {"match": {"answers": 4, "mean": 0.5}}}
    assert noted["logs"][0]["about"]["eval_id"] == log.eval.eval_id


def test_failed_calls_are_errors_and_cut_answers_are_told_by_their_finish(tmp_path: Path) -> None:
    answers: dict[str, Any] = {**SURE, "Paris": [RuntimeError("no luck")], "London": [("Tha", "max_tokens")]}
    evaluated(tmp_path / "logs", model(answers), fail_on_error=False)
    done = import_logs(inspect_logs([tmp_path / "logs"]), tmp_path / "study")
    assert (done.stored, done.failed, done.empty) == (4, 1, 0)
    assert {(item, finish) for _, item, _, _, finish in _texts(tmp_path / "study")} == {
        ("eu/vienna", "stop"),
        ("3", "length"),
        ("de_epoch_2", "stop"),
    }
    states = dict(_frame(tmp_path / "study").select("item", pl.col("state").cast(str)).iter_rows())
    assert states["eu/paris"] == "error"


BREAKS = """
import os, signal, sys
import anyio
from pathlib import Path
from inspect_ai.solver import solver
from tests.interop.inspect_evals import UNSURE, evaluated, model

asked = []

@solver
def stops():
    async def solve(state, generate):
        asked.append(state.sample_id)
        if len(asked) == 6:
            os.kill(os.getpid(), getattr(signal, sys.argv[2]))
            await anyio.sleep(30)
        return await generate(state)
    return solve

try:
    evaluated(Path(sys.argv[1]), model(UNSURE), epochs=2, solver=stops(), log_buffer=1)
except ValueError:  # an evaluation that was broken off returns no log
    pass
"""


@pytest.mark.parametrize(
    ("how", "status", "samples", "failed"), [("SIGINT", "cancelled", 6, 1), ("SIGKILL", "started", 5, 0)]
)
def test_a_run_that_was_broken_off_gives_what_its_log_holds(
    tmp_path: Path, leadline: Leadline, how: str, status: str, samples: int, failed: int
) -> None:
    subprocess.run([sys.executable, "-c", BREAKS, tmp_path / "logs", how], cwd=ROOT, check=False)
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert ended.code == 0, ended.err
    assert f"status {status}: it holds {samples} of 8 samples" in ended.out
    assert f"stored: {samples} answers" in ended.out
    assert ("of these failed calls: 1" in ended.out) == bool(failed)
    assert len(_texts(tmp_path / "study")) == 5


TASK = """
import json
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def fails_once():
    async def solve(state, generate):
        if state.input_text == "town 3?" and not Path({mark!r}).exists():
            Path({mark!r}).touch()
            raise RuntimeError("no luck")
        text = f"answer {{state.sample_id}}.{{state.epoch}}"
        state.output = ModelOutput.from_content("mockllm/model", text)
        return state
    return solve

@task
def towns():
    samples = [Sample(id=n, input=f"town {{n}}?", target=f"answer {{n}}") for n in range(1, 5)]
    return Task(dataset=samples, solver=fails_once(), scorer=includes(), epochs=2)
"""


def test_a_run_that_was_taken_up_again_counts_once(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.py").write_text(TASK.format(mark=str(tmp_path / "failed")), "utf-8")
    said: dict[str, Any] = {"log_dir": str(tmp_path / "logs"), "display": "none", "max_samples": 1}
    (first,) = eval("towns.py", model="mockllm/model", **said)
    (second,) = eval_retry(first, **said)
    assert (first.status, second.status) == ("error", "success")
    assert first.eval.eval_id != second.eval.eval_id
    held = len(first.samples or ())
    assert 3 <= held < 8
    both = leadline("import", "inspect", "logs", "--study", "both", "--json")
    done = json.loads(both.out)
    assert (done["stored"], done["known"], done["failed_calls"]) == (8, held, 0)
    assert [one["configuration"] for one in done["configurations"]] == ["model"]
    # One after the other comes to the same.
    leadline("import", "inspect", _place(first), "--study", "apart")
    leadline("import", "inspect", _place(second), "--study", "apart")
    assert _texts(tmp_path / "both") == _texts(tmp_path / "apart") and len(_texts(tmp_path / "both")) == 8
    assert _frame(tmp_path / "both")["state"].cast(str).to_list() == ["ok"] * 8


Evaluations = Callable[[Path], None]


def _temperatures(folder: Path) -> None:
    evaluated(folder, model(SURE), temperature=0.0)
    evaluated(folder, model(UNSURE), temperature=0.9)


def _solvers(folder: Path) -> None:
    evaluated(folder, model(SURE), solver=generate())
    evaluated(folder, model(UNSURE), solver=[system_message("Be wrong."), generate()])


def _twice(folder: Path) -> None:
    evaluated(folder, model(SURE))
    evaluated(folder, model(UNSURE))


def _models(folder: Path) -> None:
    evaluated(folder, model(SURE, "here/small"))
    evaluated(folder, model(UNSURE, "there/small"))


def _tasks(folder: Path) -> None:
    """One model, two tasks with one id in common."""
    evaluated(folder, model(SURE))
    evaluated(folder, model({"Rome": ["Tiber"]}), [Sample(id=3, input="Rome?", target="Tiber")], name="towns")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (_temperatures, {"small temperature=0.0", "small temperature=0.9"}),
        (_solvers, {"small solver=generate", "small solver=system_message+generate"}),
        (_twice, {"small", "small #2"}),
        (_models, {"mockllm/here/small", "mockllm/there/small"}),
        (_tasks, {"small"}),
    ],
)
def test_configurations_are_named_by_what_tells_their_logs_apart(
    tmp_path: Path, make: Evaluations, names: set[str]
) -> None:
    make(tmp_path / "logs")
    done = import_logs(inspect_logs([tmp_path / "logs"]), tmp_path / "study")
    assert {name for _, name in done.configurations} == names
    if make is _tasks:
        assert {item for _, item, *_ in _texts(tmp_path / "study")} == {
            "rivers/eu/vienna",
            "rivers/eu/paris",
            "rivers/3",
            "rivers/de_epoch_2",
            "towns/3",
        }


def test_two_runs_under_one_name_are_repeats(tmp_path: Path, leadline: Leadline) -> None:
    _twice(tmp_path / "logs")
    study = tmp_path / "study"
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", study, "--configuration", "greedy")
    assert "stored: 8 answers of 1 configuration to 4 items" in ended.out
    assert [(sample, text) for _, item, sample, text, _ in _texts(study) if item == "3"] == [
        (0, "Rhine"),
        (1, "Thames"),
    ]
    evaluated(tmp_path / "third", model({**SURE, "London": ["Ouse"]}))
    leadline("import", "inspect", tmp_path / "third", "--study", study, "--configuration", "greedy")
    assert [text for _, item, _, text, _ in _texts(study) if item == "3"] == ["Rhine", "Thames", "Ouse"]


def test_a_named_benchmark_gives_the_items_and_other_wordings_are_told(
    tmp_path: Path, leadline: Leadline
) -> None:
    items = tmp_path / "rivers.jsonl"
    lines = [
        {"id": str(one.id), "question": f"{one.input}", "answer": "x" if n else ["Danube"][0]}
        for n, one in enumerate(RIVERS)
    ]
    lines[1]["question"] = "Paris lies on which river?"
    items.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    evaluated(tmp_path / "logs", model(SURE))
    study = tmp_path / "study"
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", study, "--benchmark", items)
    assert ended.code == 0, ended.err
    assert (
        "note: 1 of 4 items are worded otherwise in the logs than in rivers, such as 'eu/paris'" in ended.out
    )
    assert not (study / "benchmark").exists()


@pytest.mark.parametrize("has_answer", [True, False])
def test_an_item_of_ours_in_the_sample_comes_back_as_it_was(tmp_path: Path, has_answer: bool) -> None:
    own = {"answer_type": "number", "unit": "km", "task": "length", "question": "How long is the Danube?"}
    answer = {"answer": "2,850 km", "aliases": ["2845 km"]} if has_answer else {}
    asked = [
        Sample(id="a/b", input="Vienna?", target=["2850", "2845"], metadata={"leadline": {**own, **answer}})
    ]
    evaluated(tmp_path / "logs", model({"Vienna": ["It is 2850 km."]}), asked)
    import_logs(inspect_logs([tmp_path / "logs"]), tmp_path / "study")
    (item,) = open_study(tmp_path / "study").whole.items
    assert (item.id, item.answer_type, item.unit, item.task) == ("a/b", "number", "km", "length")
    assert item.question == own["question"]
    assert item.valid_answers == (("2,850 km", "2845 km") if has_answer else ("2850", "2845"))
    assert _frame(tmp_path / "study")["correct"].to_list() == [True]


def test_repeats_that_are_all_the_same_text_are_told(two: Path, tmp_path: Path, leadline: Leadline) -> None:
    ended = leadline("import", "inspect", two, "--study", tmp_path / "study")
    assert "note: large: all answers to each item are the same text" in ended.out
    assert "note: small: all answers" not in ended.out


TOWNS = [
    Sample(id=town, input=f"Which flows through {town}?", choices=["Danube", "Seine", "Elbe"], target=letter)
    for town, letter in (("Vienna", "A"), ("Paris", "B"), ("Dresden", "C"))
]


def _shuffled(seed: int) -> list[Sample]:
    data = MemoryDataset([one.model_copy(deep=True) for one in TOWNS])
    data.shuffle_choices(seed)
    return list(data)


def _by_text(samples: Sequence[Sample], said: Mapping[str, str]) -> dict[str, list[str]]:
    """Answers with the letters that these options have in these samples."""
    return {
        str(one.id): [f"ANSWER: {'ABC'[(one.choices or []).index(said[str(one.id)])]}"] for one in samples
    }


def test_a_task_asked_twice_with_its_options_shuffled_is_read_in_each_logs_own_order(
    tmp_path: Path, leadline: Leadline
) -> None:
    """A data set that was shuffled as it was read, and a solver that shuffles by itself."""
    said = {"Vienna": "Danube", "Paris": "Seine", "Dresden": "Danube"}
    for name, seed in (("one", 1), ("two", 2)):
        samples = _shuffled(seed)
        asked = model(_by_text(samples, said), name)
        evaluated(tmp_path / "logs", asked, samples, solver=multiple_choice(), scorer=choice())
    assert [one.choices for one in _shuffled(1)] != [one.choices for one in _shuffled(2)]
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert "one, scorer choice: agrees with our readings on all 3 answers" in ended.out, ended.err
    assert "two, scorer choice: agrees with our readings on all 3 answers" in ended.out
    assert "the options stood in another order than in the benchmark" in ended.out
    frame = _frame(tmp_path / "study").sort("item", "configuration")
    assert [frame["correct"].to_list()[at : at + 2] for at in (0, 2, 4)] == [
        [False, False],
        [True, True],
        [True, True],
    ]
    assert frame["value"].to_list()[0::2] == frame["value"].to_list()[1::2]


def test_answers_to_options_that_a_solver_shuffled_are_read_as_they_were_shown(tmp_path: Path) -> None:
    # Inspect puts the letters of what it understands back, and leaves other answers as they were said.
    answers = {"Vienna": ["ANSWER: A"], "Paris": ["It is B) surely"], "Dresden": ["ANSWER: C"]}
    log = evaluated(
        tmp_path / "logs",
        model(answers),
        TOWNS,
        solver=multiple_choice(shuffle=Random(4)),
        scorer=choice(),
    )
    shown = {}
    for sample in log.samples or ():
        told = ((sample.scores or {})["choice"].explanation or "").splitlines()
        shown[sample.id] = [line[3:] for line in told if line[1:3] == ") "]
    assert any(one != ["Danube", "Seine", "Elbe"] for one in shown.values())
    import_logs(inspect_logs([tmp_path / "logs"]), tmp_path / "study")
    frame = _frame(tmp_path / "study")
    texts = dict(zip("ABC", ["Danube", "Seine", "Elbe"], strict=True))
    read = {item: texts.get(value) for item, value in frame.select("item", "value").iter_rows()}
    letters = {"Vienna": 0, "Paris": 1, "Dresden": 2}
    assert read == {town: shown[town][at] for town, at in letters.items()}


def test_items_stand_in_the_order_of_the_data_set(tmp_path: Path) -> None:
    samples = [Sample(id=number, input=f"town {number}?", target="x") for number in (10, 9, 2, 30)]
    evaluated(tmp_path / "logs", model({"town": ["x"]}), samples)
    import_logs(inspect_logs([tmp_path / "logs"]), tmp_path / "study")
    assert [item.id for item in open_study(tmp_path / "study").whole.items] == ["10", "9", "2", "30"]


def test_the_arguments_of_our_scorer_say_how_answers_are_read(tmp_path: Path, leadline: Leadline) -> None:
    scorer = reading(answer_type="enum", vocabulary={"long": ["lengthy"], "short": []}, correctness="words")
    samples = [Sample(id="danube", input="How long is the Danube?", target="long")]
    evaluated(tmp_path / "logs", model({"Danube": ["It is lengthy."]}), samples, scorer=scorer)
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert "study.yaml: correctness: words" in ended.out, ended.err
    assert "scorer reading: agrees with our readings on all 1 answer" in ended.out
    (item,) = open_study(tmp_path / "study").whole.items
    assert item.answer_type == "enum" and item.vocabulary[0].synonyms == ("lengthy",)


def test_images_in_questions_and_files_that_are_no_logs_are_told(tmp_path: Path, leadline: Leadline) -> None:
    shown = [ContentText(text="Which town?"), ContentImage(image="data:image/png;base64,iVBORw0KGgo=")]
    evaluated(
        tmp_path / "logs",
        model({"town": ["Paris"]}),
        [Sample(id=1, input=[ChatMessageUser(content=shown)], target="Paris")],
    )
    for name in ("notes.txt", "config.json", ".hidden"):
        (tmp_path / "logs" / name).write_text("{}", "utf-8")
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert "more than text was shown with 1 question (images" in ended.out, ended.err
    assert "skipped: 2 files that are no logs" in ended.out
