"""The folders in examples/ do what their pages say."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leadline.bench.validate import validate
from leadline.techniques.probing import read_prompts

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_rivers_are_a_sound_benchmark() -> None:
    inspection, problems = validate(str(EXAMPLES / "quickstart" / "rivers.jsonl"))
    assert not problems
    assert inspection.benchmark is not None and len(inspection.benchmark.items) == 12


def test_the_prompts_can_be_probed() -> None:
    lines = read_prompts(EXAMPLES / "quickstart" / "prompts.jsonl")
    assert [line.gold for line in lines] == ["Mediterranean Sea", None]


@pytest.mark.model
def test_the_quickstart_runs_on_the_real_model(tmp_path: Path, smollm2: LocalModel) -> None:
    from leadline.report.study_report import report_study
    from leadline.study.progress import Quiet
    from leadline.study.run import run_study
    from leadline.study.study import open_study

    folder = tmp_path / "quickstart"
    shutil.copytree(EXAMPLES / "quickstart", folder, ignore=shutil.ignore_patterns("report", "*.sqlite*"))
    with (folder / "study.yaml").open("a", encoding="utf-8") as file:
        file.write("items: {categories: [Europe]}\n")  # three questions: enough to see that it works

    study = open_study(folder)
    outcome = run_study(study, Quiet(), load=lambda *_: smollm2)
    made = report_study(study)

    # Three items: greedy once, five fresh samples, five recitations, one document; and eight per failure.
    failures = 3 - made.document.finding("accuracy", "overall", "smollm2").rows[0].figures["acc"].numerator
    assert outcome.drawn == 3 * (1 + 5 + 5 + 1) + 8 * failures
    assert made.missing == 0
    assert "London" in made.paths.html.read_text(encoding="utf-8")


def test_the_script_reads_recorded_answers_without_a_model() -> None:
    script = EXAMPLES / "recorded-answers" / "read_answers.py"
    watched = (
        "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')\n"
        "assert 'torch' not in sys.modules"
    )
    ran = subprocess.run(
        [sys.executable, "-c", watched, str(script)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "recite: recovered 5 of 7 failures, broke 1 of 5 successes"
    assert sum(line.startswith("[not supported]") for line in lines) == 2


def test_the_recorded_answers_belong_to_the_rivers() -> None:
    asked = (EXAMPLES / "quickstart" / "rivers.jsonl").read_text(encoding="utf-8").splitlines()
    answers = (EXAMPLES / "recorded-answers" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["item"] for line in answers} == {json.loads(line)["id"] for line in asked}


@pytest.mark.model
def test_the_harness_measures_techniques(smollm2: LocalModel) -> None:
    """One question: enough to see that both tasks run. (The fixture sees to it that the model is there.)"""
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    script = EXAMPLES / "lm_eval_technique" / "measure.py"
    ran = subprocess.run(
        [sys.executable, str(script), "dola:relative_top=0", "--limit", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    names = [line.rpartition(":")[0] for line in ran.stdout.splitlines() if line.startswith("dola")]
    assert names == ["dola:relative_top=0: rivers-answered", "dola:relative_top=0: rivers-chosen"]


def test_the_build_prints_the_funnel_of_its_page(tmp_path: Path) -> None:
    from leadline.bench import load_benchmark
    from leadline.build.finish import finish
    from leadline.build.funnel import funnel
    from leadline.build.plan_file import read_plan
    from leadline.build.progress import Quiet as Silent
    from leadline.build.run import run_build
    from leadline.build.workspace import Workspace
    from leadline.cli.build import told
    from leadline.workers.in_process import InProcess

    folder = tmp_path / "building"
    shutil.copytree(EXAMPLES / "building", folder, ignore=shutil.ignore_patterns("*-build"))
    plan = read_plan(folder / "plan.yaml")
    work = Workspace(plan.work)
    run_build(plan, InProcess(), Silent())
    assert finish(plan, work).items == len(load_benchmark(str(work.benchmark)).items) == 9
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "\n".join(told(funnel(plan, work))) in page
    for name in ("benchmark.yaml", "DATA_STATEMENT.md", "ATTRIBUTION.md"):  # pages of 2016
        said = (work.benchmark / name).read_text(encoding="utf-8")
        assert "CC BY-SA 3.0" in said and "BY-SA 4.0" not in said, name
