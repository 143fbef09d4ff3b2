"""What the cells of a table of answers say: an item's id, a sample's number, a text, a failure, a name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal

from pydantic import ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.json_text import as_text, kind
from leadline.bench.problem import shortened
from leadline.bench.row import Row
from leadline.errors import UsageError
from leadline.interop.table_columns import TableColumns
from leadline.study.recorded_part import RecordedPart
from leadline.study.recording import RecordedAnswer

# Why an answer ends, as `Generation.finish` has it.
TOKENS = ("tokens_in", "tokens_out")
FINISHES = ("stop", "length", "content_filter", "cancelled")
_LONGEST_NAME = 100
# What programs write into a column of errors where there was none.
_NO_ERROR = ("", "none", "null", "nan", "false", "0", "[]", "{}")


def item_of(row: Row, columns: TableColumns) -> str:
    """The id of the item that was asked. Raises UsageError where the row has none."""
    item = _text(columns.cell(row.values, "item"))
    if not item:
        fix = "leave the row out, or fill it"
        raise UsageError(
            f"the row names no item: {_named(columns, 'item')} is empty", where=row.where, fix=fix
        )
    return item


def answer_of(row: Row, columns: TableColumns, sample: int | None = None) -> RecordedAnswer:
    """The answer that a row is; `sample` is its number where the table has none.

    Without a text but with an error it is a failed call; without either an empty answer. Raises UsageError,
    with the row's place, where a cell cannot be what it should.
    """
    item = item_of(row, columns)
    if sample is None:
        sample = _sample(columns.cell(row.values, "sample"), item, columns, row.where)
    text = _text(columns.cell(row.values, "text"))
    if not text and (error := _error(columns.cell(row.values, "error"))):
        kind, message = (
            (error, _text(columns.cell(row.values, "message"))) if columns.exported else ("error", error)
        )
        return RecordedAnswer(item, sample, None, kind, row.where, message)
    finish = _text(columns.cell(row.values, "finish")).strip()
    if finish and finish not in FINISHES:
        raise UsageError(
            f"{shortened(finish)} is not why an answer ends",
            where=row.where,
            fix=f"one of: {', '.join(FINISHES)}",
        )
    tokens_in, tokens_out = (
        _tokens(columns.cell(row.values, role), role, row.where) for role in ("tokens_in", "tokens_out")
    )
    return RecordedAnswer(item, sample, text, "", row.where, "", finish, tokens_in, tokens_out)


def part_of(row: Row, columns: TableColumns) -> dict[str, object] | None:
    """The part that the row's configuration played where it was exported; None where the row says nothing of
    that. Raises UsageError for what is none."""
    if not (said := _text(columns.cell(row.values, "part"))):
        return None
    try:
        return RecordedPart.model_validate_json(said).model_dump(mode="json", exclude_defaults=True)
    except ValidationError as error:
        what, fix = complaint(error.errors(include_url=False)[0])
        raise UsageError(f"the part of the configuration {what}", where=row.where, fix=fix) from None


def name_of(row: Row, columns: TableColumns, role: str, default: str = "") -> str:
    """A name in the row, such as that of the configuration. Raises UsageError for what is none."""
    said = columns.cell(row.values, role)
    name = default if said is None else _text(said).strip()
    if not name and role in ("configuration", "model"):
        raise UsageError(
            f"the row names no {role}: {_named(columns, role)} is empty",
            where=row.where,
            fix=f"fill it, or --{role} NAME where all answers are of one",
        )
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{shortened(name)} is no name of a {role}",
            where=row.where,
            fix=f"a name has up to {_LONGEST_NAME} characters that can be printed",
        )
    return name


def _tokens(cell: object, role: str, where: str) -> int:
    digits = _text(cell).strip().removesuffix(".0")
    if digits and not (digits.isdecimal() and len(digits) < 12):
        raise UsageError(f"{role} is {shortened(digits)}, no number of tokens", where=where)
    return int(digits or 0)


def _named(columns: TableColumns, role: str) -> str:
    return f"column {shortened(columns.columns.get(role, role))}"


def _sample(cell: object, item: str, columns: TableColumns, where: str) -> int:
    match cell:
        case bool():
            pass
        case int():
            return cell
        case float() | Decimal() if math.isfinite(cell) and cell == int(cell):
            return int(cell)
        case str() if (digits := cell.strip().removesuffix(".0")).isdecimal() and len(digits) < 20:
            return int(digits)
    said = "is empty" if cell is None else f"is {_shown(cell)}, no whole number from 0 on"
    raise UsageError(
        f"item {shortened(item)}: the sample, {_named(columns, 'sample')}, {said}",
        where=where,
        fix="number the answers of an item 0, 1, 2, ...; with no such column, the order of the file counts",
    )


def _shown(cell: object) -> str:
    return shortened(cell) if isinstance(cell, str) else f"{kind(cell)} ({shortened(_text(cell))})"


def _text(cell: object) -> str:
    """A cell as text: numbers as they are written, whole ones without a point, lists and objects as JSON."""
    match cell:
        case str():
            return cell
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float() if math.isnan(cell):
            return ""  # what tables of programs have where a text is lacking
        case float() if cell.is_integer() and abs(cell) < 2**53:
            return str(int(cell))
        case int() | float() | Decimal():
            return str(cell)
        case date() | time():
            return cell.isoformat()
        case bytes():
            return cell.decode("utf-8", "backslashreplace")
        case Mapping() | list():
            return as_text(cell)
        case _:
            return str(cell)


def _error(cell: object) -> str:
    text = _text(cell).strip()
    return "" if text.casefold() in _NO_ERROR else text
