"""A question that whoever labels writes: what its draft holds, and the question that this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.bench.item_fields import Surroundings
from leadline.bench.problem import Problems
from leadline.bench.task import TaskDeclaration
from leadline.bench.window_file import WindowFiles
from leadline.review.answer_fields import text_of
from leadline.review.drafts import Fields
from leadline.review.questions import Question, question_of

# What can be chosen, in words; answers in parts have to be declared by a task.
TYPES = {
    "text": "a short text",
    "number": "a number",
    "date": "a date",
    "boolean": "yes or no",
    "enum": "one of several",
}
_WRITTEN = ("question", "task", "category", "answer_type", "unit")


def written_question(fields: Fields, tasks: Sequence[TaskDeclaration]) -> dict[str, Any]:
    """What a draft says of its question, as fields of an item. What its task declares is the task's.

    >>> written_question({"question": "How long?", "answer_type": "number", "unit": "day"}, ())["unit"]
    'day'
    """
    written: dict[str, Any] = {name: text_of(fields, name) for name in _WRITTEN}
    declared = next((task for task in tasks if task.name == written["task"]), None)
    if declared is not None:
        return {"question": written["question"] or declared.question or "", "task": declared.name}
    if written["answer_type"] not in TYPES:
        written["answer_type"] = "text"
    if written["answer_type"] != "number":
        written["unit"] = ""
    if written["answer_type"] == "enum":
        written["vocabulary"] = lines_of(fields, "choices")
    return written


def of_label(label: Question) -> dict[str, Any]:
    """The same of a label whose draft is not there any more."""
    vocabulary = [term.value for term in label.vocabulary]
    return {**{name: getattr(label, name) for name in _WRITTEN}, "vocabulary": vocabulary}


def question_as_written(
    key: str, written: Mapping[str, Any], tasks: Sequence[TaskDeclaration], problems: Problems
) -> Question | None:
    """The question, with `key` as its id; None, and problems, where it is none yet. One without a text is
    "?", so that the rest can be looked at."""
    own = {name: value for name, value in written.items() if value}
    around = Surroundings(WindowFiles(Path()), {task.name: task for task in tasks})
    return question_of({**own, "id": key, "question": own.get("question") or "?"}, "", problems, around)


def checked_question(
    key: str, fields: Fields, tasks: Sequence[TaskDeclaration]
) -> tuple[Question | None, dict[str, str]]:
    """The question that a draft says, and what is wrong with it, by field of the draft ("": elsewhere)."""
    problems = Problems()
    written = written_question(fields, tasks)
    question = question_as_written(key, written, tasks, problems)
    found: dict[str, str] = {}
    for problem in problems.found:
        name = problem.message.partition("'")[2].partition("'")[0].partition(".")[0]
        name = {"vocabulary": "choices"}.get(name, name)
        words = f"{problem.message} ({problem.fix})" if problem.fix else problem.message
        found.setdefault(name if name in fields else "", words)
    if question is not None and question.answer_type == "enum" and not question.vocabulary:
        found["choices"] = "write what may be answered, one a line"
    if not written["question"].strip():
        found["question"] = "write the question"
    return question, found


def lines_of(fields: Fields, name: str) -> list[str]:
    """The lines of a field that say something, each once."""
    return list(dict.fromkeys(line.strip() for line in text_of(fields, name).splitlines() if line.strip()))
