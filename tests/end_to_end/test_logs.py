"""Inspect and lm-evaluation-harness measure the small model behind `leadline serve`, and their logs become
studies."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import Item
from leadline.engine import Generation
from leadline.lenses.side_by_side import FIRST, SECOND
from leadline.models.local import LocalModel
from leadline.study.judging import reading_of
from leadline.study.study import open_study
from tests.end_to_end.asked import (
    MAX_TOKENS,
    questions,
    write_inspect_task,
    write_lines,
    write_lm_eval_tasks,
)
from tests.end_to_end.commands import done, tool
from tests.end_to_end.holding import (
    answers_in_inspect_log,
    answers_in_lm_eval_samples,
    files_with,
)
from tests.end_to_end.house import KEY, House, Said, drawn_again
from tests.study.stored import findings, table

pytestmark = pytest.mark.model

ITEMS = len(questions())
EPOCHS, REPEATS = 5, 3
Answers = dict[tuple[str, int], str]


@dataclass(frozen=True)
class Run:
    """What a tool did: where its log lies, the answers in it, what the server said meanwhile, and the study
    that the log became."""

    log: tuple[str | Path, ...]  # of the command that imports it
    answers: Answers
    said: list[Said]
    study: Path
    imported: str


@pytest.fixture(scope="module")
def by_inspect(house: House, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder, before = tmp_path_factory.mktemp("inspect"), len(house.records())
    task = write_inspect_task(folder / "task", questions())
    tool(
        "inspect_ai", "eval", task.name, "--model", "openai-api/house/smollm2", "--model-base-url", house.url,
        "--epochs", str(EPOCHS), "--temperature", "0.7", "--max-tokens", str(MAX_TOKENS),
        "--log-dir", folder / "logs", "--display", "none",
        folder=task.parent, HOUSE_API_KEY=KEY,
    )  # fmt: skip
    (log,) = (folder / "logs").glob("*.eval")
    said, study = house.said(since=before), folder / "study"
    imported = done("import", "inspect", folder / "logs", "--study", study).out
    done("report", study)
    return Run(("inspect", folder / "logs"), answers_in_inspect_log(log), said, study, imported)


@pytest.fixture(scope="module")
def of_lm_eval(house: House, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Said]]:
    """The folder of results, and what the server said."""
    folder, before = tmp_path_factory.mktemp("lm-eval"), len(house.records())
    tasks = write_lm_eval_tasks(folder / "tasks", questions())
    tool(
        "lm_eval", "run", "--model", "local-chat-completions", "--apply_chat_template",
        "--model_args", f"model=smollm2,base_url={house.url}/chat/completions,num_concurrent=8",
        "--include_path", tasks, "--tasks", "facts", "pinned",
        "--log_samples", "--output_path", folder / "results",
        folder=folder, OPENAI_API_KEY=KEY,
    )  # fmt: skip
    return folder / "results", house.said(since=before)


@pytest.fixture(scope="module")
def by_lm_eval(of_lm_eval: tuple[Path, list[Said]]) -> Run:
    results, said = of_lm_eval
    (file,) = results.rglob("samples_facts_*.jsonl")
    log, study = ("lm-eval", results, "--task", "facts"), results.parent / "study"
    imported = done("import", *log, "--study", study).out
    done("report", study)
    # Whoever asks without a seed is given one that nobody else has.
    seeds = Counter(one.seed for one in said)
    free = [one for one in said if seeds[one.seed] == 1]
    return Run(log, answers_in_lm_eval_samples(file), free, study, imported)


@pytest.fixture(params=["inspect", "lm-eval"])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.getfixturevalue(f"by_{request.param.replace('-', '_')}")
    return found


@pytest.fixture(scope="module")
def draw(smollm2: LocalModel) -> Callable[[Run], list[Generation]]:
    """What the engine draws in this process under the seeds of a run, in the order of `said`."""
    known: dict[Path, list[Generation]] = {}
    return lambda run: known.setdefault(run.study, drawn_again(smollm2, run.said))


def directly(run: Run, drawn: list[Generation]) -> dict[tuple[str, int], Generation]:
    """(item, sample) → the answer drawn in this process. The server's log does not know the numbers of
    samples, so each takes one of its question that says what it says: equal answers can be exchanged."""
    left: defaultdict[str, dict[str, list[Generation]]] = defaultdict(lambda: defaultdict(list))
    for one, generation in zip(run.said, drawn, strict=True):
        left[one.question.removesuffix(" Answer with a name only.")][generation.text].append(generation)
    asked = {item.id: item.question for item in questions()}
    found = {}
    for (item, sample), text in run.answers.items():
        of_question = left[asked[item]]
        assert text in of_question, (item, sample, text, list(of_question))
        found[item, sample] = of_question[text].pop()
        if not of_question[text]:
            del of_question[text]
    assert not any(left.values()), "the server said more than the log holds"
    return found


def test_logs_hold_every_answer_of_the_server_and_the_engine_draws_the_same_without_it(
    run: Run, draw: Callable[[Run], list[Generation]]
) -> None:
    assert len(run.answers) == ITEMS * (EPOCHS if run.log[0] == "inspect" else REPEATS)
    drawn = draw(run)
    assert [one.text for one in drawn] == [one.text for one in run.said]
    assert {key: one.text for key, one in directly(run, drawn).items()} == run.answers


def test_items_come_back_from_a_log_as_they_were_asked(run: Run) -> None:
    items = {item.id: item for item in open_study(run.study).whole.items}
    assert items == {item.id: item for item in questions()}
    assert f"stored: {len(run.answers)} answers of 1 configuration to {ITEMS} items" in run.imported


def test_an_imported_log_has_the_findings_of_answers_that_were_drawn_directly(
    run: Run, draw: Callable[[Run], list[Generation]], tmp_path: Path
) -> None:
    rows = [
        {"item": item, "sample": sample, "text": one.text, "configuration": "smollm2", "finish": one.finish}
        for (item, sample), one in directly(run, draw(run)).items()
    ]
    if run.log[0] == "lm-eval":  # its samples do not say why an answer ended
        rows = [{**row, "finish": ""} for row in rows]
    drawn, study = write_lines(tmp_path / "drawn.jsonl", rows), tmp_path / "direct"
    done("import", "table", drawn, "--study", study, "--benchmark", run.study / "benchmark")
    done("report", study)
    assert findings(study)["findings"] == findings(run.study)["findings"]


def test_wobble_of_an_imported_log_is_what_can_be_counted_by_hand(run: Run) -> None:
    items = {item.id: item for item in questions()}
    said: defaultdict[str, list[str]] = defaultdict(list)
    for (item, _), text in sorted(run.answers.items()):
        said[item].append(text)
    values = {
        item: [value for value in map(read(items[item]), texts) if value] for item, texts in said.items()
    }
    measured = [found for found in values.values() if found]
    unsteady = [found for found in measured if len(set(found)) > 1]
    apart = [pairs_that_disagree(found) for found in measured if len(found) > 1]
    (row,) = table(findings(run.study), "wobble", "overall")
    figures = row["figures"]
    assert (figures["wobble"]["numerator"], figures["wobble"]["denominator"]) == (
        len(unsteady),
        len(measured),
    )
    assert figures["pairwise"]["value"] == pytest.approx(sum(apart) / len(apart))
    assert 0 < len(unsteady) <= sum(len(set(texts)) > 1 for texts in said.values())


def read(item: Item) -> Callable[[str], str | None]:
    return lambda text: reading_of(item, text).value


def pairs_that_disagree(values: list[str]) -> float:
    pairs = [(a, b) for at, a in enumerate(values) for b in values[at + 1 :]]
    return sum(a != b for a, b in pairs) / len(pairs)


def test_repeats_under_one_seed_are_pointed_out(
    of_lm_eval: tuple[Path, list[Said]], by_lm_eval: Run, tmp_path: Path
) -> None:
    results, said = of_lm_eval
    assert sum(one.seed == 1234 for one in said) == 3 * REPEATS, "the harness' own, in every request"
    imported = done("import", "lm-eval", results, "--task", "pinned", "--study", tmp_path / "pinned")
    assert "all answers to each item are the same text" in imported.out
    assert "all answers to each item are the same text" not in by_lm_eval.imported


def test_two_tools_runs_are_compared_item_by_item_as_in_the_report(
    by_inspect: Run, by_lm_eval: Run, tmp_path: Path
) -> None:
    study = tmp_path / "both"
    for run, name in ((by_inspect, "epochs"), (by_lm_eval, "repeats")):
        done("import", *run.log, "--study", study, "--configuration", name)
    yaml = study / "study.yaml"
    yaml.write_text(yaml.read_text("utf-8") + "\nbaseline: epochs\n", encoding="utf-8")
    done("report", study)
    compared: dict[str, Any] = json.loads(
        done("compare", "--study", study, "epochs", "repeats", "--json").out
    )
    assert compared["items"] == ITEMS
    (row,) = table(findings(study), "transitions", "overall")
    assert row["keys"] == {"method": "repeats"}
    for name in ("gain", "loss", "difference", "mcnemar_p"):
        assert same(compared["figures"][name], row["figures"][name]), name
    steady = {one["keys"]["configuration"]: one for one in table(findings(study), "wobble", "overall")}
    for side in (FIRST, SECOND):
        told = compared[side]
        assert same(told["figures"]["wobble"], steady[told["configuration"]]["figures"]["wobble"])
    flipped = Counter(flip["right"] for flip in compared["flips"])
    assert (flipped[SECOND], flipped[FIRST]) == (compared["gained"], compared["lost"])


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a[part] == b[part] for part in ("value", "numerator", "denominator", "low", "high"))


def test_no_tool_wrote_the_key_into_a_log(by_inspect: Run, by_lm_eval: Run) -> None:
    assert files_with(KEY, by_inspect.study.parent, by_lm_eval.study.parent) == []
    assert files_with("Burkina Faso", by_inspect.study.parent / "logs"), "archives are looked into"
