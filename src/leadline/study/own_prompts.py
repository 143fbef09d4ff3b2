"""Prompts that items bring along, tried before anybody is asked."""

from __future__ import annotations

from leadline.bench import Benchmark
from leadline.bench.prompt_rules import prompt_place
from leadline.errors import UsageError
from leadline.techniques.prompts_library import Prompts


def filled(question: str, window: str | None, prompt: str) -> str:
    """What a model reads of an item's own prompt, whatever the style. Raises UsageError where it is broken.

    >>> filled("Who?", None, "Answer briefly. {{ question }}")
    'Answer briefly. Who?'
    """
    # Any own prompt can be a chat; one that names its messages can be nothing else.
    made = Prompts("chat").question(question, window, prompt)
    return "\n".join(text for _, text in made.messages or ())


def try_own_prompts(benchmark: Benchmark, prompts: Prompts) -> None:
    """Raise UsageError, with file and line where they are known, where an item's prompt cannot be filled."""
    tried = set()
    for item in benchmark.items:
        if item.prompt is not None and (known := (item.prompt, item.window is None)) not in tried:
            tried.add(known)
            try:
                prompts.question(item.question, item.window, item.prompt)
            except UsageError as error:
                where = prompt_place(benchmark, item) or benchmark.name
                raise UsageError(
                    f"item {item.id}: prompt: {error.what}", where=where, fix=error.fix
                ) from None
