"""True and false statements that probes are fitted on: questions, each with right and wrong answers.

From a benchmark's own items (its gold answer, and that of another item of the same kind), or from a file of
TruthfulQA's columns (Lin et al. 2022).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UsageError
from leadline.ordinary_file import text
from leadline.techniques.contrast_pairs import ContrastPair

_COLUMNS = ("Question", "Correct Answers", "Incorrect Answers")


@dataclass(frozen=True)
class Statements:
    """One question with its answers, and which of them are true."""

    question: str
    answers: tuple[str, ...]
    true: tuple[bool, ...]

    def texts(self, follow: str | None = None) -> list[str]:
        """ "Q: {question} A: {answer}" for each answer; with `follow`, another question after it."""
        rest = "" if follow is None else f" Q: {follow}"
        return [f"Q: {self.question} A: {answer}{rest}" for answer in self.answers]


def of_pairs(pairs: Iterable[ContrastPair]) -> list[Statements]:
    """The statements of contrast pairs: the gold answer is true, the other is false."""
    return [Statements(pair.item.question, (pair.item.answer, pair.wrong), (True, False)) for pair in pairs]


def of_file(path: Path) -> list[Statements]:
    """The questions of a CSV file with the columns Question, Correct Answers and Incorrect Answers (answers
    separated by ";"), in order. Raises UsageError, with file and line, for anything else."""
    where = str(path)
    fix = f"iti:data= names a CSV file with the columns {', '.join(_COLUMNS)}"
    try:
        content = text(path)
    except FileNotFoundError:
        raise UsageError("there is no such file", where=where, fix=fix) from None
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8 text", where=where, fix=fix) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=where, fix=fix) from error
    rows = csv.DictReader(content.splitlines(keepends=True), strict=True)
    found = []
    try:
        missing = [column for column in _COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise UsageError(f"has no column {missing[0]!r}", where=f"{where}:1", fix=fix)
        for row in rows:
            question = (row["Question"] or "").strip()
            right, wrong = (_answers(row[column]) for column in _COLUMNS[1:])
            if not question or not right + wrong:
                what = "is no question" if not question else "are no answers"
                raise UsageError(f"there {what} here", where=f"{where}:{rows.line_num}", fix=fix)
            truth = (True,) * len(right) + (False,) * len(wrong)
            found.append(Statements(question, (*right, *wrong), truth))
    except csv.Error as error:
        raise UsageError(f"not CSV: {error}", where=f"{where}:{rows.reader.line_num}", fix=fix) from error
    return found


def truths(statements: Sequence[Statements]) -> list[bool]:
    """Of all answers in order, which are true."""
    return [true for each in statements for true in each.true]


def _answers(cell: str | None) -> tuple[str, ...]:
    return tuple(answer for part in (cell or "").split(";") if (answer := part.strip()))
