"""`leadline export inspect-task` and `lm-eval-task`: the tools run what was exported, what they log comes
back as the same items with the same answers, and no model sees what is right."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from leadline.bench import load_benchmark
from leadline.interop.export_asked import asked_of
from leadline.interop.export_inspect_task import export_inspect_task
from leadline.interop.export_lm_eval_task import export_lm_eval_task
from leadline.interop.task_files.scoring import plainly_right
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from leadline.techniques.prompts_library import Prompts
from tests.interop.conftest import Leadline
from tests.interop.export.recorded import ITEMS, SAID, write_benchmark

ANSWERS = {
    str(item["question"]): texts for item, texts in zip(ITEMS, SAID["large", "step by step"], strict=True)
}


def said(prompt: str, number: int) -> str:
    """What is answered to a prompt that holds one of the questions, the how manieth time."""
    (question,) = (one for one in ANSWERS if one in prompt)
    return ANSWERS[question][number]


def stored(study: Path) -> set[tuple[str, int, str]]:
    opened = open_study(study)
    with open_store(study, write=False) as store:
        frame = readings(opened, store)
    return set(frame.select("item", "sample", "text").iter_rows())


EXPECTED = {
    (str(item["id"]), sample, text)
    for item, texts in zip(ITEMS, SAID["large", "step by step"], strict=True)
    for sample, text in enumerate(texts)
}


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return write_benchmark(tmp_path / "bench")


def evaluated(folder: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[EvalLog, list[str]]:
    """The log of three epochs of an exported task, and everything that the model was sent."""
    seen: list[str] = []
    asked: Counter[str] = Counter()

    def answer(messages: Any, *_: Any) -> ModelOutput:
        prompt = "\n".join(one.text for one in messages)
        seen.append(json.dumps([one.model_dump() for one in messages], default=str))
        asked[prompt] += 1
        output = ModelOutput.from_content("mockllm/sure", said(prompt, asked[prompt] - 1))
        output.usage = ModelUsage(
            input_tokens=7, output_tokens=3, total_tokens=10
        )  # else it would be counted
        return output

    monkeypatch.chdir(folder)  # Inspect finds tasks by paths from here
    model = get_model("mockllm/sure", custom_outputs=answer, memoize=False)
    (log,) = eval("task.py", model=model, epochs=3, log_dir=str(logs), display="none", max_samples=1)
    return log, seen


@pytest.mark.parametrize("style", ["chat", "few-shot"])
def test_an_inspect_task_comes_back_as_the_same_items_and_answers(
    bench: Path, tmp_path: Path, style: str, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = leadline("export", "inspect-task", bench, tmp_path / "task", "--style", style, "--name", "odds")
    assert "task odds, 6 items" in ended.out
    log, seen = evaluated(tmp_path / "task", tmp_path / "logs", monkeypatch)
    assert log.status == "success" and log.eval.task == "odds", log.error
    assert log.eval.config.epochs == 3 and log.samples and len(log.samples) == 18
    # What is sent is what Leadline sends, and nothing that is right stands in it.
    benchmark = load_benchmark(bench)
    for one in asked_of(benchmark, Prompts(style)):  # type: ignore[arg-type]
        assert sum(all(json.dumps(text)[1:-1] in sent for _, text in one.messages) for sent in seen) == 3
    for hidden in ("Danube", "Donau", "1250000", "2020-02-01", "crimson", "Vienna lies on", "Ann"):
        assert not [sent for sent in seen if hidden in sent]
    # Where Leadline is installed, its own scorer reads them.
    assert log.results is not None
    assert [one.scorer for one in log.results.scores] == ["reading"]

    assert leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study").code == 0
    assert stored(tmp_path / "study") == EXPECTED
    back = open_study(tmp_path / "study").benchmark
    assert {item.id: item for item in back.items} == {item.id: item for item in benchmark.items}
    assert back.content_hash == benchmark.content_hash


def test_an_inspect_task_runs_where_leadline_is_not_installed(bench: Path, tmp_path: Path) -> None:
    export_inspect_task(load_benchmark(bench), Prompts("chat"), tmp_path / "task")
    program = (
        "import importlib.abc, json, sys\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] == 'leadline':\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from inspect_ai import eval\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "out = [ModelOutput.from_content('mockllm/m', 'The Danube.')] * 6\n"
        "out[0].usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)\n"
        "model = get_model('mockllm/m', custom_outputs=out)\n"
        "(log,) = eval('task.py', model=model, log_dir='logs', display='none')\n"
        "assert log.status == 'success', log.error\n"
        "score = log.results.scores[0]\n"
        "print(json.dumps([log.status, score.name, score.metrics['accuracy'].value]))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "task", capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    status, name, accuracy = json.loads(ended.stdout.splitlines()[-1])
    assert (status, name) == ("success", "plain_rules")
    assert accuracy == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("item", "text", "right"),
    [
        ({"answer": "Danube"}, "It is the danube!", True),
        ({"answer": "Danube"}, "The Rhine", False),
        ({"answer": "1,250", "answer_type": "number"}, "about 1250.0 of them", True),
        ({"answer": "12", "answer_type": "number"}, "112", False),
        ({"answer": "yes", "answer_type": "boolean"}, "True, no doubt", True),
        ({"answer": "no", "answer_type": "boolean"}, "Yes", False),
        ({"answer": "red", "answer_type": "enum"}, "a red one", True),
        ({"answer": "red", "answer_type": "enum"}, "coloured", False),
        ({"answer": '{"a": 1}', "answer_type": "parts"}, 'Here: {"a": 1}', True),
    ],
)
def test_the_plain_rules_decide_plain_cases(item: dict[str, Any], text: str, right: bool) -> None:
    assert plainly_right(item, text) is right


def test_an_lm_eval_task_comes_back_as_the_same_items_and_answers(
    bench: Path, tmp_path: Path, leadline: Leadline
) -> None:
    model = pytest.importorskip("lm_eval.api.model")
    from tests.interop.lm_eval_runs import evaluated as harness

    seen: list[Any] = []

    class Sure(model.LM):  # type: ignore[name-defined, misc]
        """Answers what it is told to; the harness asks each question as often as it repeats it."""

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            asked: Counter[str] = Counter()
            found = []
            for request in requests:
                prompt, options = request.args
                seen.append((prompt, options))
                found.append(said(prompt, asked[prompt]))
                asked[prompt] += 1
            return found

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    command = ("export", "lm-eval-task", bench, tmp_path / "task", "--style", "few-shot")
    ended = leadline(*command, "--repeats", "3", "--temperature", "0.7", "--max-tokens", "9")
    assert "task odds_and_ends, 6 items" in ended.out and "--include_path" in ended.out
    samples = harness(Sure(), tmp_path / "task", tmp_path / "out", "odds_and_ends")
    prompts = [one.messages[0][1] for one in asked_of(load_benchmark(bench), Prompts("few-shot"))]
    assert {prompt for prompt, _ in seen} == set(prompts)
    assert seen[0][1] == {"until": ["\n"], "max_gen_toks": 9, "do_sample": True, "temperature": 0.7}
    # The harness judges the first answer, by our own readers: "no" is wrong, and so are "12" and "Ann".
    assert [row["correct"] for row in samples["odds_and_ends"]] == [1, 0, 0, 1, 1, 0]

    command = ("import", "lm-eval", tmp_path / "out", "--study", tmp_path / "study", "--model", "sure")
    assert leadline(*command).code == 0
    assert stored(tmp_path / "study") == EXPECTED
    back = open_study(tmp_path / "study").benchmark
    benchmark = load_benchmark(bench)
    assert back.content_hash == benchmark.content_hash
    assert {item.id: item for item in back.items} == {item.id: item for item in benchmark.items}


def test_repeats_that_could_not_differ_and_chats_of_several_messages_are_refused(
    bench: Path, tmp_path: Path, leadline: Leadline
) -> None:
    command = ("export", "lm-eval-task", bench, tmp_path / "task")
    assert "one answer over and over" in leadline(*command, "--repeats", "5").fault
    items = bench / "items.jsonl"
    one = {
        **json.loads(items.read_text("utf-8").splitlines()[0]),
        "prompt": "=== system ===\nShort.\n=== user ===\n{{ question }}",
    }
    items.write_text(json.dumps(one) + "\n", "utf-8")
    fault = leadline(*command).fault
    assert "item eu/vienna: its prompt has several messages" in fault
    assert not (tmp_path / "task").exists()
    assert leadline("export", "inspect-task", bench, tmp_path / "task").code == 0
    row = json.loads((tmp_path / "task" / "data.jsonl").read_text("utf-8"))
    assert [one["role"] for one in row["messages"]] == ["system", "user"]


def test_a_question_is_never_read_as_a_template(bench: Path, tmp_path: Path) -> None:
    for export, name in ((export_inspect_task, "inspect"), (export_lm_eval_task, "lm-eval")):
        export(load_benchmark(bench), Prompts("few-shot"), tmp_path / name)
        text = (tmp_path / name / "data.jsonl").read_text("utf-8")
        assert "When, {{ 7 * 7 }} days later?" in text and "49 days" not in text


def test_a_name_is_one_that_tools_take(bench: Path, tmp_path: Path, leadline: Leadline) -> None:
    command = ("export", "inspect-task", bench, tmp_path / "task", "--name")
    assert "is no name of a task" in leadline(*command, 'x"); import os').fault
