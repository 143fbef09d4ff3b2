"""Rules for prompts that items bring along: they can be filled, and they show what they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from leadline.bench.benchmark import Benchmark
from leadline.bench.header import HEADER_NAME, line_in_header
from leadline.bench.item import Item
from leadline.bench.rule import Breach, Rule
from leadline.bench.stream import open_stream
from leadline.errors import LeadlineError, UsageError

# Fills a prompt: (question, window, template) -> what a model reads. Raises UsageError.
Filling = Callable[[str, str | None, str], str]

_OTHER = "Is this another text, which nothing else says?"


def prompts_fill(fill: Filling) -> Rule:
    """Every prompt is a template that can be filled with its question and window."""

    def check(benchmark: Benchmark) -> Iterator[Breach]:
        for item, prompt, also in _each_prompt(benchmark):
            try:
                fill(item.question, item.window, prompt)
            except UsageError as error:
                message = f"prompt: {error.what}{also}"
                yield Breach(item, message, error.fix or "", declared_at(benchmark, item))

    return Rule("prompts-fill", check)


def prompts_show(fill: Filling) -> Rule:
    """A prompt shows the question, and the window where there is one; else all items are asked the same."""

    def check(benchmark: Benchmark) -> Iterator[Breach]:
        for item, prompt, also in _each_prompt(benchmark):
            try:
                filled = fill(item.question, item.window, prompt)
                others = {
                    "question": (item.question, fill(_OTHER, item.window, prompt)),
                    "window": (item.window, fill(item.question, item.window and _OTHER, prompt)),
                }
            except UsageError:  # told by the other rule
                continue
            for name, (text, other) in others.items():
                # Written out, or put in by whatever way.
                if text is not None and text.strip() not in filled and other == filled:
                    fix = f"put {{{{ {name} }}}} where it belongs"
                    yield Breach(
                        item, f"the prompt does not show the {name}{also}", fix, declared_at(benchmark, item)
                    )

    return Rule("prompts-show", check, severity="warning")


def declared_at(benchmark: Benchmark, item: Item) -> str:
    """ "file:line" of the task's prompt in the header, "" where the item has one of its own."""
    for number, task in enumerate(benchmark.tasks):
        if task.name == item.task and task.prompt is not None and task.prompt == item.prompt:
            origin = benchmark.origin
            if origin is not None:
                header = origin / HEADER_NAME if origin.is_dir() else origin
                return line_in_header(header, "tasks", number, "prompt")
    return ""


def prompt_place(benchmark: Benchmark, item: Item) -> str:
    """ "file:line" where the prompt of an item stands; "" for a benchmark that was made in code.

    Reads the files again, up to the item: for messages.
    """
    if place := declared_at(benchmark, item):
        return place
    origin = benchmark.origin
    try:
        stream = open_stream(origin) if origin is not None else ()
        return next((placed.where for placed in stream if placed.item.id == item.id), "")
    except (LeadlineError, OSError):  # changed since it was read, or read with options
        return ""


def _each_prompt(benchmark: Benchmark) -> Iterator[tuple[Item, str, str]]:
    """Each prompt once (with a window and without), by the first item that has it, and for how many more."""
    first: dict[tuple[str, bool, str], Item] = {}
    number: Counter[tuple[str, bool, str]] = Counter()
    for item in benchmark.items:
        if item.prompt is not None:
            key = (item.prompt, item.window is not None, item.task)
            first.setdefault(key, item)
            number[key] += 1
    for (prompt, windowed, task), item in first.items():
        more = number[prompt, windowed, task] - 1
        yield item, prompt, f" (and in {more:,} more item{'s' * (more > 1)})" if more else ""
