"""The sheet that a reader of a pack fills in: one row a question, for a spreadsheet or for the web page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from leadline.report.atomic import write_bytes
from leadline.report.audit_csv import spreadsheet_safe
from leadline.review.pack import Pack, PackRow
from leadline.review.reader import reader_slug

SHEET = "sheet.csv"
SHEETS = "sheets"
COLUMNS = ("row", "token", "answer_type", "how_to_answer", "question", "page", "answer", "quote", "note")
# What a reader writes where the text cannot settle the question.
UNSETTLED = "?"


@dataclass(frozen=True)
class Answer:
    """What a reader put into a row: the answer, and optionally the words that it rests on, and a note."""

    answer: str
    quote: str = ""
    note: str = ""


def write_sheet(pack: Pack, answers: Mapping[str, Answer], path: Path) -> None:
    """Write the sheet of `pack` with `answers` by token, whole or not at all; rows without one stay blank.

    Raises LeadlineError where it cannot be written.
    """
    write_bytes(path, sheet_text(pack, answers).encode("utf-8", "replace"))


def sheet_text(pack: Pack, answers: Mapping[str, Answer]) -> str:
    """The sheet as CSV: comma-separated, lines end as RFC 4180 has it, a byte order mark so that Excel reads
    UTF-8. Cells that a spreadsheet would take for formulas begin with an apostrophe."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in pack.rows:
        said = answers.get(row.token, Answer(""))
        given = (said.answer, said.quote, said.note)
        writer.writerow([*map(spreadsheet_safe, [*shown_cells(row), *given])])
    return f"\N{ZERO WIDTH NO-BREAK SPACE}{sink.getvalue()}"


def shown_cells(row: PackRow) -> tuple[str, ...]:
    """The cells of a row that its reader is shown, in the order of `COLUMNS`."""
    view = row.view
    return (str(row.number), row.token, view.answer_type, view.how, view.question, row.page)


def sheet_of(folder: Path, reader: str) -> Path:
    """Where in a pack's folder a reader's own sheet lies, and no other's.

    >>> sheet_of(Path("pack"), "Ann Lee").name, sheet_of(Path("pack"), "../Ann").name
    ('ann-lee.csv', 'ann_2a8c40f72d4a.csv')
    """
    return folder / SHEETS / f"{reader_slug(reader)}.csv"
