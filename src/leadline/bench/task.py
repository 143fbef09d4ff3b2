"""What a task declares: it holds for each of its items that does not say otherwise itself."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from leadline.bench.answer_form import AnswerForm, AnswerType, Part
from leadline.bench.item import MAX_CHARACTERS, Name, NonBlank

# What an item takes over from its task.
TAKEN_OVER = (
    "category", "answer_type", "question", "prompt", "unit", "precision", "vocabulary", "locale",
    "date_order", "fields",
)  # fmt: skip


class TaskDeclaration(AnswerForm):
    """One question asked of many documents, as benchmark.yaml declares it. See `AnswerForm` for the rest."""

    name: Name = Field(min_length=1, max_length=MAX_CHARACTERS["task"])
    category: Name | None = Field(default=None, max_length=MAX_CHARACTERS["category"])
    answer_type: AnswerType | None = None
    fields: tuple[Part, ...] = ()
    question: NonBlank | None = Field(default=None, max_length=MAX_CHARACTERS["question"])
    prompt: NonBlank | None = Field(default=None, max_length=MAX_CHARACTERS["prompt"])
    description: str = ""


def filled(fields: Mapping[str, object], task: TaskDeclaration) -> dict[str, object]:
    """An item's fields, as a file holds them, with what they lack taken from their task."""
    lacking = {name: getattr(task, name) for name in TAKEN_OVER if name not in fields}
    return {**fields, **{name: value for name, value in lacking.items() if value not in (None, ())}}
