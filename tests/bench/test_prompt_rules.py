"""Prompts that items and tasks bring along are looked at before anybody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadline.bench import load_benchmark
from leadline.bench.prompt_rules import prompt_place
from leadline.bench.validate import validate
from leadline.cli.bench import app
from leadline.study.own_prompts import filled
from tests.bench.folders import HEADER, folder


def lines(path: Path) -> list[str]:
    """What is wrong with the prompts of a benchmark, without the path."""
    found = [problem for problem in validate(path, fill=filled)[1] if problem.rule.startswith("prompts")]
    return [problem.line().removeprefix(f"{path}/") for problem in found]


def items(*prompts: str | None, window: str | None = None, task: str = "t") -> list[dict[str, object]]:
    """One item for each prompt; None is an item without one of its own."""
    given = [{} if prompt is None else {"prompt": prompt} for prompt in prompts]
    shown = {"window": window} if window else {}
    return [
        {"id": f"i{number}", "question": f"Which {number}?", "answer": "A", "task": task, **shown, **prompt}
        for number, prompt in enumerate(given)
    ]


BROKEN = [
    ("{% for", "broken template: "),
    ("{{ windw }} {{ question }}", "'windw' is undefined (what can be put in: question, window)"),
    ("{{ question.__class__ }}", "the template does something unsafe: "),
]


@pytest.mark.parametrize(("prompt", "words"), BROKEN)
def test_a_prompt_that_cannot_be_filled_is_an_error_on_its_line(
    tmp_path: Path, prompt: str, words: str
) -> None:
    path = folder(tmp_path, items("{{ question }}", prompt, prompt))
    (line,) = lines(path)
    assert line.startswith(f"items.jsonl:2: error: item i1: prompt: {words.partition(' (')[0]}")
    assert words.partition(" (")[2] in line and "(and in 1 more item)" in line
    result = CliRunner().invoke(app, ["validate", str(path)])
    assert result.exit_code == 1 and line in result.stdout


@pytest.mark.parametrize(("prompt", "words"), BROKEN)
def test_the_prompt_of_a_task_is_told_with_its_line_in_the_header(
    tmp_path: Path, prompt: str, words: str
) -> None:
    tasks = f"tasks:\n  - name: other\n  - name: t\n    prompt: {json.dumps(prompt)}\n"
    path = folder(tmp_path, items(None, None, "{{ question }}"), HEADER + tasks)
    (line,) = lines(path)
    assert line.startswith("benchmark.yaml:8: error: item i0: prompt: ") and words.partition(" (")[0] in line
    benchmark = load_benchmark(path)
    assert prompt_place(benchmark, benchmark.items[0]) == f"{path / 'benchmark.yaml'}:8"
    assert prompt_place(benchmark, benchmark.items[2]) == f"{path / 'items.jsonl'}:3"


@pytest.mark.parametrize(
    ("prompt", "window", "lacks"),
    [
        ("Say a word.", None, ["question"]),
        ("Say a word.", "Text.", ["question", "window"]),
        ("{{ window }} Say a word.", "Text.", ["question"]),
        ("{{ question }}", "Text.", ["window"]),
        ("{{ question }}", None, []),
        ("{{ window }} Which 0? Say it.", "Text.", []),
        ("{{ window[:2] }} {{ question | upper }}", "Text.", []),
        ("{% if window %}{{ window }}{% else %}Hm.{% endif %} {{ question }}", "Text.", []),
        ("=== system ===\nBe brief.\n=== user ===\n{{ window }} {{ question }}", "Text.", []),
        ("=== system ===\n{{ window }}\n=== user ===\nWell?", "Text.", ["question"]),
    ],
)
def test_a_prompt_that_shows_too_little_is_a_warning(
    tmp_path: Path, prompt: str, window: str | None, lacks: list[str]
) -> None:
    expected = [
        f"items.jsonl:1: warning: item i0: the prompt does not show the {name} "
        f"(put {{{{ {name} }}}} where it belongs)"
        for name in lacks
    ]
    assert lines(folder(tmp_path, items(prompt, window=window))) == expected


def test_a_prompt_is_tried_with_a_window_and_without(tmp_path: Path) -> None:
    prompt = "{% if window %}{{ question }} {{ window }}{% else %}{{ nothing }}{% endif %}"
    both = [*items(prompt, window="Text."), {"id": "b", "question": "Q?", "answer": "A", "prompt": prompt}]
    (line,) = lines(folder(tmp_path, both))
    assert line.startswith("items.jsonl:2: error: item b: prompt: 'nothing' is undefined")


def test_of_a_benchmark_made_in_code_nobody_knows_the_place(tmp_path: Path) -> None:
    benchmark = load_benchmark(folder(tmp_path, items("{{ x }}"))).from_origin(None)
    assert prompt_place(benchmark, benchmark.items[0]) == ""
