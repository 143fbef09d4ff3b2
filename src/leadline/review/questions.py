"""Questions that wait for an answer: items without a key, from a file or written by whoever labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from leadline.bench.answer_form import AnswerForm, AnswerType, Part
from leadline.bench.columns import CellFault, Columns, column_names, row_fields
from leadline.bench.item import Item
from leadline.bench.item_fields import Surroundings, read_item
from leadline.bench.items_file import Ids
from leadline.bench.loading import cannot_read
from leadline.bench.problem import FirstProblem, Problems
from leadline.bench.table import format_of, rows_of
from leadline.bench.task import TaskDeclaration
from leadline.bench.window_file import WindowFiles
from leadline.errors import UsageError

# What only an answered item has. A file with one of these would show a key to whoever answers.
KEYS = ("answer", "aliases", "evidence", "quote")
_FORMATS = ("jsonl", "json", "csv", "tsv")


class Question(AnswerForm):
    """An item without answer, aliases and evidence; see `Item` for its fields."""

    id: str = Field(min_length=1)
    question: str = ""
    answer_type: AnswerType = "text"
    fields: tuple[Part, ...] = ()
    category: str = ""
    task: str = ""
    subject: str | None = None
    window: str | None = None
    source: str = ""
    prompt: str | None = None

    def asked(self) -> Item:
        """An item that says how to answer it, and has no answer: for views that show none."""
        return Item.model_validate({**self.of_item(), "answer": _no_answer(self.fields)})

    def of_item(self) -> dict[str, Any]:
        """The fields that it gives an item."""
        return {name: getattr(self, name) for name in Question.model_fields}


def question_of(
    fields: Mapping[str, Any], where: str, problems: Problems, around: Surroundings
) -> Question | None:
    """The question that fields of a file describe, with what its task declares; else None, and problems."""
    for name in KEYS:
        if fields.get(name) not in (None, "", [], ()):
            problems.add(where, f"has {name!r}, which whoever answers would see", fix=f"leave {name!r} out")
            return None
    item = read_item({**fields, "answer": _placeholder(fields, around)}, where, problems, around)
    if item is None:
        return None
    return Question.model_validate({name: getattr(item, name) for name in Question.model_fields})


def read_questions(path: Path, tasks: Sequence[TaskDeclaration] = ()) -> tuple[Question, ...]:
    """The questions in a file of JSON lines, JSON, CSV or TSV, whose columns are named as an item's fields.

    What `tasks` declare, their questions have. Raises UsageError with file and line at the first fault: an
    answer among the questions, an id twice, no question at all.
    """
    sort = format_of(path)
    if sort not in _FORMATS:
        raise UsageError("questions are read from .jsonl, .json, .csv or .tsv", where=str(path))
    problems = FirstProblem()
    around = Surroundings(WindowFiles(path.parent), {task.name: task for task in tasks})
    ids = Ids()
    found = []
    try:
        rows = list(rows_of((path,), sort, problems))
        columns = Columns()
        mapping = columns.complete(column_names(row.values for row in rows)[0])
        for number, row in enumerate(rows, start=1):
            unknown = [name for name in row.values if name not in mapping]
            if unknown and sort == "jsonl":
                problems.add(row.where, f"unknown field {unknown[0]!r}", fix="fields are those of an item")
            try:
                fields, _ = row_fields(row.values, mapping)
            except CellFault as fault:
                raise UsageError(str(fault), where=row.where, fix=fault.fix) from None
            ids.is_new(fields.get("id"), row.where, f"in row {number}", problems)
            if (question := question_of(fields, row.where, problems, around)) is not None:
                found.append(question)
    except OSError as error:
        raise cannot_read(error, path) from error
    if not found:
        raise UsageError("the file holds no questions", where=str(path), fix="one a line: id, question")
    return tuple(found)


def _placeholder(fields: Mapping[str, Any], around: Surroundings) -> object:
    """What stands for the answer while the rest is checked; of an answer in parts, one for each of them."""
    parts = fields.get("fields")
    if not parts and (task := around.tasks.get(str(fields.get("task", fields.get("relation"))))) is not None:
        return _no_answer(task.fields)
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return "?"
    names = [part.get("name") for part in parts if isinstance(part, Mapping)]
    return json.dumps({name: "?" for name in names if isinstance(name, str)}) if names else "?"


def _no_answer(parts: Sequence[Part]) -> str:
    return json.dumps({part.name: "?" for part in parts}) if parts else "?"
