"""How each item of a benchmark is put to a model, for tasks of other tools: the text that Leadline sends.

The right answer stands beside it in a row, in fields that no tool shows to a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark, Item, is_bundled, load_benchmark
from leadline.errors import UsageError
from leadline.study.config_file import STUDY_FILE
from leadline.study.study import open_study
from leadline.techniques.prompts_library import Prompts, Style

# What ends an answer, as in a study: the line's end.
STOP = ("\n",)


@dataclass(frozen=True)
class Asked:
    """One item and what is sent: messages (role, text); a text is sent as one message of the user."""

    item: Item
    messages: tuple[tuple[str, str], ...]

    @property
    def fields(self) -> dict[str, Any]:
        """The item as a line of a benchmark's file has it."""
        return fields_of(self.item)


def fields_of(item: Item, *, with_id: bool = True) -> dict[str, Any]:
    """An item as a line of a benchmark's file has it."""
    return item.model_dump(mode="json", exclude_defaults=True, exclude=set() if with_id else {"id"})


def asked_of(benchmark: Benchmark, prompts: Prompts) -> Iterator[Asked]:
    """Each item as it is asked. Raises UsageError where an item's own prompt cannot be filled."""
    for item in benchmark.items:
        try:
            prompt = prompts.question(item.question, item.window, item.prompt)
        except UsageError as error:
            raise UsageError(error.what, where=f"{benchmark.name}: item {item.id}", fix=error.fix) from None
        yield Asked(item, prompt.messages or (("user", str(prompt.text)),))


def choices_of(item: Item) -> list[str] | None:
    """The values that an answer may have, where they are listed."""
    return [term.value for term in item.vocabulary] or None


def benchmark_at(place: str, style: Style | None) -> tuple[Benchmark, Prompts]:
    """The benchmark that `place` names, or that the study there asks, and how it is put to models.

    Of a study the part that it asks, with its prompts. Raises UsageError.
    """
    folder = Path(place)
    if folder.name == STUDY_FILE or (folder / STUDY_FILE).is_file():
        if is_bundled(place):
            return load_benchmark(place), Prompts(style or "chat")
        study = open_study(folder)
        prompts = study.prompts
        if style is not None and style != prompts.style:
            prompts = Prompts(style)
        return study.benchmark, prompts
    return load_benchmark(place), Prompts(style or "chat")


def task_name(benchmark: Benchmark, name: str | None = None) -> str:
    """A name that a tool's command line takes. Raises UsageError for one of the user's that it does not."""
    if name is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,79}", name):
        raise UsageError(
            f"--name: {name!r} is no name of a task", fix="letters, digits, _ and -, beginning with a letter"
        )
    plain = re.sub(r"[^A-Za-z0-9]+", "_", benchmark.name).strip("_")[:80]
    return name or (plain if plain[:1].isalpha() else f"task_{plain}")


def as_line(row: dict[str, Any]) -> str:
    """A row of JSON lines. Lone halves of characters are escaped, which every reader takes."""
    text = json.dumps(row, ensure_ascii=False)
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        text = json.dumps(row)
    return text + "\n"
