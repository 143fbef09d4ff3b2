"""Prompts as a study asks them: questions of the bundled facts, few-shot and by chat template."""

from __future__ import annotations

from leadline.bench import load_benchmark
from leadline.engine import Prompt
from leadline.techniques.prompts_library import Prompts, Style


def questions(count: int) -> list[tuple[str, str]]:
    """(question, answer) of `count` items, spread evenly over the benchmark."""
    items = load_benchmark("facts").items
    return [(item.question, item.answer) for item in items[:: len(items) // count][:count]]


def prompts(count: int, style: Style) -> list[Prompt]:
    """The plain question, as the baseline asks it."""
    library = Prompts(style)
    return [library.render("question/question", question=text, window="") for text, _ in questions(count)]
