"""The worked example of docs/benchmarks.md is a sound benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.bench.validate import validate
from leadline.study.own_prompts import filled
from leadline.study.readings import gold_fault, readable_types

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    text = PAGE.read_text(encoding="utf-8").partition("### A worked example")[2]
    for name, language in (("benchmark.yaml", "yaml"), ("items.jsonl", "json"), ("README.md", "markdown")):
        block = re.search(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        assert block is not None
        (tmp_path / name).write_text(block[1], encoding="utf-8")
    return tmp_path


def test_the_worked_example_is_sound(example: Path) -> None:
    _, problems = validate(example, readable_types(), gold_fault, fill=filled)
    assert [problem.line() for problem in problems] == []


def test_it_says_what_the_page_says(example: Path) -> None:
    deductible, waiver, notice = load_benchmark(example).items
    assert (deductible.answer, deductible.unit, deductible.question) == (
        "2500.00", "USD", "What is the deductible for each claim?",
    )  # fmt: skip
    assert [term.value for term in waiver.vocabulary] == ["yes", "no", "unclear"]
    assert notice.answer == '{"days": 30, "form": "written"}' and len(notice.evidence) == 2
