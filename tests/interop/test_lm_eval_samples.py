"""Samples that lm-evaluation-harness really wrote, in a study: questions, every answer, its verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")
pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")

from lm_eval.models.huggingface import HFLM  # noqa: E402

from leadline.errors import UsageError  # noqa: E402
from leadline.interop.lm_eval_choices import RULES  # noqa: E402
from leadline.interop.lm_eval_files import lm_eval_logs  # noqa: E402
from leadline.interop.lm_eval_samples import LmEvalSamples  # noqa: E402
from leadline.interop.log_import import import_logs  # noqa: E402
from leadline.interop.logs import LogImport  # noqa: E402
from leadline.study.study import open_study  # noqa: E402
from tests.interop.conftest import Leadline  # noqa: E402
from tests.interop.lm_eval_runs import evaluated  # noqa: E402
from tests.interop.lm_eval_tasks import CAPITALS, CHOICES, PRONOUNS, write_tasks  # noqa: E402
from tests.models import tiny  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

Samples = dict[str, list[Any]]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("lm-eval"))


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_folder(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture(scope="module")
def random_lm(random_folder: Path) -> HFLM:
    """A model of random weights: it says nothing sensible, quickly."""
    lm = HFLM(pretrained=str(random_folder), dtype="float32", device="cpu", batch_size=16)
    lm.tokenizer.chat_template = tiny.TEMPLATE
    return lm


@pytest.fixture(scope="module")
def run(random_lm: HFLM, tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Samples]:
    """A run of all tasks: its folder, and its samples as the harness has them in memory."""
    out = tmp_path_factory.mktemp("run")
    names = ("capitals", "sums", "everyday", "weighed", "whole")
    return out, evaluated(random_lm, tasks, out, *names)


def only(folder: Path, *names: str, **options: Any) -> LmEvalSamples:
    (log,) = lm_eval_logs([folder], tasks=names, **options)
    return log


def imported(logs: Sequence[LmEvalSamples], study: Path, **options: Any) -> LogImport:
    return import_logs(list(logs), study, **options)


@pytest.mark.model
def test_what_smollm2_said_becomes_a_study_whose_verdicts_are_those_of_the_harness(
    smollm2: LocalModel, tasks: Path, tmp_path: Path
) -> None:
    lm = HFLM(smollm2.lm.model, tokenizer=smollm2.lm.tokenizer, batch_size=15)
    samples = evaluated(lm, tasks, tmp_path / "out", "capitals", "choices")
    logs = lm_eval_logs([tmp_path / "out"])
    done = imported(logs, tmp_path / "study")

    # Every repeat of every document, once, though each of two filters has a row of its own.
    assert done.stored == 3 * len(CAPITALS) + len(CHOICES)
    said = {(one.item, one.sample): one.text for one in logs[0].answers()}
    for row in samples["capitals"]:
        for sample, text in enumerate(row["resps"][0]):
            assert said[f"capitals/{row['doc_hash'][:12]}", sample] == text

    compared = {one.scorer: one for one in done.scores}
    right = sum(row["acc"] for row in samples["choices"])
    assert right >= 2
    assert (compared["acc,none"].theirs, compared["acc,none"].ours) == (right, right)
    assert compared["acc,none"].differ == compared["exact_match,name"].differ == 0
    # " Paris" is not "Paris" to exact match, and is to everybody else.
    whole = compared["exact_match,whole"]
    assert whole.theirs == 0 and whole.ours == whole.differ == compared["exact_match,name"].ours > 0
    assert whole.example.startswith("capitals/")
    study = open_study(tmp_path / "study")
    assert {item.task for item in study.whole.items} == {"capitals", "choices"}


@pytest.mark.parametrize("rule", RULES)
def test_the_option_that_is_chosen_is_right_where_the_harness_says_so(
    run: tuple[Path, Samples], rule: Any
) -> None:
    folder, samples = run
    task = "weighed" if rule == "acc_mutual_info" else "choices"
    log = only(folder, task, choice=rule)
    golds = {item.id: item.golds for item in log.items()}
    ours = [int(one.text in golds[one.item]) for one in log.answers()]
    assert ours == [row[rule] for row in samples[task]]
    assert [item.choices for item in log.items()] == [tuple(options) for _, options, _ in CHOICES]
    assert [item.golds for item in log.items()] == [("ABCD"[at],) for _, _, at in CHOICES]


def test_rules_of_choosing_differ_and_are_configurations_of_their_own(
    run: tuple[Path, Samples], tmp_path: Path
) -> None:
    folder, _ = run
    imported([only(folder, "choices")], tmp_path / "study")
    done = imported([only(folder, "choices", choice="acc_norm")], tmp_path / "study")
    assert done.configurations == (("recorded", "tiny-llama choice=acc_norm"),)
    texts = [[one.text for one in only(folder, "choices", choice=rule).answers()] for rule in RULES[:2]]
    assert texts[0] != texts[1]


def test_options_that_stand_in_the_text_are_told_apart_and_the_right_one_is_known(
    run: tuple[Path, Samples],
) -> None:
    """The harness logs no gold for these: the target is the text after the option."""
    folder, samples = run
    items = list(only(folder, "pronouns").items())
    assert [item.choices for item in items] == [(first, second) for _, first, second, _ in PRONOUNS]
    assert [item.golds for item in items] == [({"1": "A", "2": "B"}[right],) for *_, right in PRONOUNS]
    assert items[2].question == "Ann thanked Mary because ___ had helped."
    assert {item.metadata["category"] for item in items} == {"everyday"}
    answers = [one.text for one in only(folder, "pronouns").answers()]
    assert [int(text in item.golds) for text, item in zip(answers, items, strict=True)] == [
        row["acc"] for row in samples["pronouns"]
    ]


def test_gold_answers_are_what_exact_match_compares(run: tuple[Path, Samples]) -> None:
    folder, _ = run
    assert [item.golds for item in only(folder, "sums").items()] == [("5",), ("1200",)]
    assert [item.golds for item in only(folder, "capitals").items()] == [
        tuple(names) for _, names in CAPITALS
    ]


def test_likelihoods_of_whole_texts_are_refused_and_can_be_left_out(
    run: tuple[Path, Samples], leadline: Leadline, tmp_path: Path
) -> None:
    folder, _ = run
    fault = leadline("import", "lm-eval", folder, "--study", tmp_path / "s").fault
    assert "whole measures how likely whole texts are" in fault and "--task NAME" in fault
    assert not (tmp_path / "s").exists()
    named = ("--task", "sums", "--task", "capitals")
    done = leadline("import", "lm-eval", folder, "--study", tmp_path / "s", *named, "--json")
    assert [log["task"] for log in json.loads(done.out)["logs"]] == ["capitals", "sums"]
    fault = leadline("import", "lm-eval", folder, "--study", tmp_path / "s", "--task", "sum").fault
    assert "no samples of 'sum'" in fault and "did you mean 'sums'" in fault


def test_runs_with_and_without_examples_and_chat_template_asked_the_same_items(
    run: tuple[Path, Samples], random_lm: HFLM, tasks: Path, tmp_path: Path
) -> None:
    folder, plain = run
    shown = evaluated(random_lm, tasks, tmp_path / "shots", "capitals", num_fewshot=2)
    chat = evaluated(random_lm, tasks, tmp_path / "chat", "capitals", apply_chat_template=True)
    prompts = [rows["capitals"][0]["arguments"]["gen_args_0"]["arg_0"] for rows in (plain, shown, chat)]
    assert len(set(prompts)) == 3
    logs = lm_eval_logs([folder, tmp_path / "shots", tmp_path / "chat"], tasks=["capitals"])
    worded = [[(item.id, item.question, item.golds) for item in log.items()] for log in logs]
    assert worded[0] == worded[1] == worded[2]
    assert worded[0][0][1] == f"The capital of {CAPITALS[0][0]} is"
    done = imported(logs, tmp_path / "study")
    names = [name for _, name in done.configurations]
    assert len(names) == 3 and any("shots=2" in name for name in names)
    assert any("chat template=" in name and "chat template=none" not in name for name in names)


def test_documents_are_known_by_their_content_where_their_numbers_are_wrong(
    run: tuple[Path, Samples], random_lm: HFLM, tasks: Path, tmp_path: Path
) -> None:
    folder, _ = run
    drawn = evaluated(random_lm, tasks, tmp_path / "out", "capitals", samples={"capitals": [3, 1]})
    countries = [(row["doc_id"], row["doc"]["country"]) for row in drawn["capitals"][:2]]
    assert countries == [(3, CAPITALS[1][0]), (1, CAPITALS[3][0])]  # the harness numbers them wrongly
    ids = {item.question: item.id for item in only(folder, "capitals").items()}
    log = only(tmp_path / "out")
    assert [item.id for item in log.items()] == [ids[item.question] for item in log.items()]
    assert log.notes() == [f"2 of the task's {len(CAPITALS)} documents were asked"]


def test_repeats_that_are_all_equal_are_pointed_at(
    run: tuple[Path, Samples], random_lm: HFLM, tasks: Path, tmp_path: Path
) -> None:
    folder, _ = run
    greedy = {"do_sample": False, "temperature": 0.0}
    evaluated(random_lm, tasks, tmp_path / "out", "capitals", gen_kwargs=greedy, limit=2)
    done = imported([only(tmp_path / "out")], tmp_path / "study")
    assert any("all answers to each item are the same" in note for note in done.notes)
    drawn = imported([only(folder, "capitals")], tmp_path / "other")
    assert not any("the same" in note for note in drawn.notes)


def test_what_the_command_line_of_the_harness_writes_can_be_imported_again_and_compared(
    random_folder: Path, run: tuple[Path, Samples], tasks: Path, leadline: Leadline, tmp_path: Path
) -> None:
    """Its own process, its own files: three documents, another temperature, and nothing of our code."""
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--device", "cpu"]
    command += ["--model_args", f"pretrained={random_folder},dtype=float32", "--batch_size", "8"]
    command += ["--tasks", "capitals", "choices", "--include_path", str(tasks), "--limit", "3"]
    command += ["--gen_kwargs", "temperature=1.3,do_sample=True", "--output_path", str(tmp_path / "cli")]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    ran = subprocess.run(
        [*command, "--log_samples"], env=os.environ | quiet, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]

    folder, _ = run
    logs = (folder, tmp_path / "cli", "--task", "capitals", "--task", "choices")
    first = leadline(
        "import", "lm-eval", *logs, "--study", tmp_path / "s", "--baseline", "tiny-llama temperature=0.8"
    )
    assert first.code == 0, first.err
    assert "as tiny-llama temperature=1.3, dtype=float32" in first.out
    assert "3 of the task's 5 documents were asked" in first.out
    assert "agrees with our readings on all" in first.out
    again = leadline("import", "lm-eval", *logs, "--study", tmp_path / "s")
    assert again.out.count("imported before, nothing to do") == 4
    study = open_study(tmp_path / "s")
    assert len(study.whole.items) == len(CAPITALS) + len(CHOICES)
    shown = leadline("report", tmp_path / "s", "--json")
    assert shown.code == 0, shown.err
    assert "gain" in shown.out.casefold() and "mcnemar" in shown.out.casefold()


def test_without_a_results_file_the_model_must_be_named(run: tuple[Path, Samples], tmp_path: Path) -> None:
    folder, _ = run
    (file,) = folder.rglob("samples_capitals_*.jsonl")
    copy = tmp_path / file.name
    copy.write_bytes(file.read_bytes())
    with pytest.raises(UsageError, match="which model this is") as fault:
        lm_eval_logs([copy])
    assert "--model NAME" in str(fault.value)
    log = only(copy, model="my-model")
    assert log.model == "my-model" and log.task == "capitals"
    assert [item.golds for item in log.items()] == [tuple(names) for _, names in CAPITALS]
