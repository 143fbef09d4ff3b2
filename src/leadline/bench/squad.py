"""Files in the shape of SQuAD: paragraphs, questions on them, and where in them the answers stand.

Rajpurkar, Zhang, Lopyrev and Liang 2016 (version 1.1), Rajpurkar, Jia and Liang 2018 (2.0, with questions
that cannot be answered). An item's window is the paragraph, its evidence the words that answer, its category
the article.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.bench.json_rows import json_list_rows
from leadline.bench.json_text import kind
from leadline.bench.problem import FirstProblem, Problems
from leadline.bench.row import Row
from leadline.errors import UsageError

MISPLACED = "an answer does not stand where answer_start says: the audit will look for it"


def squad_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """One row for each question, with the fields of an item; questions without an answer have a list of none.

    Places are those of the article. Raises OSError.
    """
    for article in json_list_rows(path, problems):
        title = article.values.get("title")
        paragraphs = article.values.get("paragraphs")
        if not isinstance(paragraphs, list):
            message = f"expected an article with 'paragraphs', found {kind(paragraphs)}"
            problems.add(article.where, message, fix='{"data": [{"title": ..., "paragraphs": [...]}]}')
            continue
        for paragraph in paragraphs:
            questions = paragraph.get("qas") if isinstance(paragraph, Mapping) else None
            if not isinstance(questions, list):
                message = "expected a paragraph with 'context' and 'qas'"
                problems.add(article.where, message, fix='{"context": ..., "qas": [...]}')
                continue
            for question in questions:
                if not isinstance(question, Mapping):
                    problems.add(article.where, f"expected a question, found {kind(question)}")
                    continue
                answers = [] if question.get("is_impossible") is True else question.get("answers")
                values = _fields(question, paragraph.get("context"), title, _pairs(answers), problems)
                yield Row(article.where, values)


def is_squad_file(path: Path) -> bool:
    """The first entry of this JSON file is an article with paragraphs. Raises OSError."""
    try:
        first = next(json_list_rows(path, FirstProblem()), None)
    except UsageError:  # told when the file is read
        return False
    return first is not None and isinstance(first.values.get("paragraphs"), list)


def is_squad_table(names: Collection[str]) -> bool:
    """These columns are SQuAD's, as tables of datasets have them."""
    return {"context", "question", "answers.text", "answers.answer_start"} <= set(names)


def from_columns(row: Row, problems: Problems) -> Row:
    """A row of such a table, with the fields of an item."""
    values = row.values
    answers = values.get("answers")
    pairs = _pairs(answers)
    return Row(row.where, _fields(values, values.get("context"), values.get("title"), pairs, problems))


def _pairs(answers: object) -> list[tuple[object, object]]:
    """Text and start of each answer: a list of objects in files, an object of lists in tables."""
    match answers:
        case Mapping():
            texts, starts = answers.get("text"), answers.get("answer_start")
            if not isinstance(texts, Sequence) or isinstance(texts, str):
                return []
            known = starts if isinstance(starts, Sequence) else []
            return [(text, known[at] if at < len(known) else None) for at, text in enumerate(texts)]
        case list():
            return [
                (answer.get("text"), answer.get("answer_start"))
                if isinstance(answer, Mapping)
                else (answer, None)
                for answer in answers
            ]
        case _:
            return []


def _fields(
    question: Mapping[str, Any],
    window: object,
    title: object,
    answers: Sequence[tuple[object, object]],
    problems: Problems,
) -> dict[str, object]:
    texts = [text for text, _ in answers]
    fields: dict[str, object] = {
        "id": question.get("id"),
        "question": question.get("question"),
        "answer": texts,
        "window": window,
    }
    if isinstance(title, str) and title.strip():
        fields["category"] = title.strip()
    if answers and isinstance(window, str) and isinstance(texts[0], str):
        text, start = texts[0], answers[0][1]
        if not (isinstance(start, int) and window[start : start + len(text)] == text):
            problems.notes[MISPLACED] += 1
        fields["quote"] = text
    # SQuAD's own files have a few questions with blanks around them, and ids that are numbers elsewhere.
    return {
        name: value.strip() if name == "question" and isinstance(value, str) else value
        for name, value in fields.items()
    }
