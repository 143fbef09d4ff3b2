"""Which column of a table holds which field of an item, and the fields that a row so has."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from leadline.bench.header import FILE_KEYS
from leadline.bench.item import SECOND_NAMES
from leadline.bench.problem import Problems, did_you_mean, shortened

# Fields of items that are lists or objects; a cell that is text may hold them as JSON.
_NESTED = frozenset({"aliases", "evidence", "quote", "vocabulary", "fields"})
NO_ANSWER = "no answer is given"
# Joins the columns of an id: ids of tables often differ within a task only.
_JOIN = "+"


class CellFault(ValueError):  # noqa: N818 - one fault of a row, told with others
    """A cell that no field can hold: what is wrong with it, and what to do about it."""

    def __init__(self, message: str, fix: str) -> None:
        """`fix` is what to do about it."""
        self.fix = fix
        super().__init__(message)


@dataclass(frozen=True)
class Columns:
    """Field -> column. Where nothing is said, a column with the name of a field holds that field.

    A dot goes into a column: "answers.text" is the `text` of what `answers` holds, of each entry if that is
    a list; "answers.text.0" is the first of them. `where` says where the mapping of a field was written.
    """

    by_field: Mapping[str, str] = field(default_factory=dict)
    where: Callable[[str], str] = lambda name: f"--column {name}=..."

    def complete(self, names: Sequence[str]) -> dict[str, str]:
        """The whole mapping for a table with these columns."""
        mapped = {SECOND_NAMES.get(name, name) for name in self.by_field}
        own = {
            name: name for name in names if name in FILE_KEYS and SECOND_NAMES.get(name, name) not in mapped
        }
        return {**own, **self.by_field}

    def check(self, names: Sequence[str], open_ended: Iterable[str], problems: Problems) -> None:
        """Each column that is named and is not there is a problem; parts of `open_ended` ones may be."""
        for name, written in self.by_field.items():
            for column in _joined(name, written, names):
                self._check_one(name, column, names, open_ended, problems)

    def _check_one(
        self, name: str, column: str, names: Sequence[str], open_ended: Iterable[str], problems: Problems
    ) -> None:
        parts = column.split(".")
        starts = {".".join(parts[:end]) for end in range(1, len(parts))}
        without_numbers = ".".join(part for part in parts if not part.isdecimal())
        if {column, without_numbers} & set(names) or starts & set(open_ended):
            return
        known = f"columns: {', '.join(names)}"
        fix = did_you_mean(column, names, otherwise=known)
        problems.add(self.where(name), f"no column is called {shortened(column)}", fix=fix)


def column_names(rows: Iterable[Mapping[str, object]]) -> tuple[list[str], set[str]]:
    """Names of all columns, those inside of them with dots; and which of them hold nothing in these rows."""
    names: dict[str, None] = {}
    filled: set[str] = set()

    def walk(value: object, name: str) -> None:
        names.setdefault(name)
        match value:
            case Mapping() if value:
                for key, inner in value.items():
                    walk(inner, f"{name}.{key}")
            case list() if value:
                for entry in value:
                    if isinstance(entry, Mapping):
                        walk(entry, name)
            case None | [] | {}:
                return
        filled.add(name)

    for row in rows:
        for key, value in row.items():
            walk(value, key)
    return list(names), set(names) - filled


def row_fields(row: Mapping[str, object], mapping: Mapping[str, str]) -> tuple[dict[str, object], str]:
    """The fields of the item that a row describes, and why the row is none ("" if it may be one).

    Raises CellFault for a number that is none.
    """
    fields: dict[str, object] = {}
    for name, column in mapping.items():
        picked = _picked(row, name, column)
        if _not_finite(picked):
            raise CellFault(
                f"{name!r}: NaN and infinity are not numbers", "leave the cell empty, or the row out"
            )
        value = _field(name, picked)
        if value is not None:
            fields[name] = value
    answer = fields.get("answer")
    if isinstance(answer, list):
        if not answer:
            return fields, NO_ANSWER
        fields["answer"] = answer[0]
        fields.setdefault("aliases", answer[1:])
    if "aliases" in fields and isinstance(aliases := fields["aliases"], list):
        texts = dict.fromkeys(alias for alias in aliases if alias not in (fields.get("answer"), None))
        fields["aliases"] = list(texts)
    return fields, ""


def _joined(name: str, column: str, names: Iterable[str]) -> list[str]:
    """The columns that a field is made of: one, but for an id such as "task+item"."""
    if name != "id" or _JOIN not in column or column in names:
        return [column]
    return [part.strip() for part in column.split(_JOIN)]


def _picked(row: Mapping[str, object], name: str, column: str) -> object:
    columns = _joined(name, column, row)
    if len(columns) == 1:
        return _pick(row, columns[0])
    parts = [_field(name, _pick(row, part)) for part in columns]
    if not all(isinstance(part, str) for part in parts):
        listed = ", ".join(columns)
        raise CellFault("'id': one of its columns holds no text or number", f"columns of the id: {listed}")
    return "/".join(map(str, parts))


def _not_finite(value: object) -> bool:
    match value:
        case float():
            return not math.isfinite(value)
        case Decimal():
            return not value.is_finite()
        case list():
            return any(map(_not_finite, value))
        case Mapping():
            return any(map(_not_finite, value.values()))
        case _:
            return False


def _pick(row: Mapping[str, object], column: str) -> object:
    if column in row:
        return row[column]
    value: object = row
    for part in column.split("."):
        value = _step(value, part)
    return value


def _step(value: object, part: str) -> object:
    match value:
        case Mapping():
            return value.get(part)
        case list() if part.isdecimal():
            return value[int(part)] if int(part) < len(value) else None
        case list():
            return [_step(entry, part) for entry in value]
        case _:
            return None


def _field(name: str, value: object) -> Any:
    """A cell as a file of ours would have it: text, or a list or object where the field is one."""
    match value:
        case None | "":
            return None
        case str():
            return _nested(name, value) if name in _NESTED else value
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case list():
            return [entry for entry in _each(name, value) if entry is not None]
        case Mapping() if name == "answer":
            return dict(value)
        case Mapping():
            # Columnar tables have every key in every row, most of them empty.
            return {key: entry for key, entry in value.items() if entry is not None}
        case _:
            return value


def _each(name: str, values: list[object]) -> Iterator[object]:
    for value in values:
        yield _field("" if name in _NESTED else name, value)


def _nested(name: str, text: str) -> object:
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass  # a text that begins with a bracket
    return text if name in ("quote", "evidence") else [text]
