"""Which column of a table of answers holds what, as it is said or as its names suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError

# What a column may hold; of several names that a table has, the earlier is taken. Those without names are
# used only where they are asked for.
GUESSES: dict[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "doc_id", "id"),
    "configuration": ("configuration", "model", "system"),
    "sample": ("sample", "epoch", "run", "run_idx"),
    "text": ("text", "answer", "response", "output", "value"),
    "error": ("error",),
    "model": ("model",),
    "serving": (),
    "family": (),
    "finish": (),
    "tokens_in": (),
    "tokens_out": (),
}
# A table of `leadline export answers` is known by the first two of these columns; the others hold what their
# names say, if nobody says otherwise.
EXPORTED = ("part", "configuration_id")
_OF_EXPORT = (
    "part",
    "label",
    "message",
    "finish",
    "tokens_in",
    "tokens_out",
    "serving",
    "family",
    "apostrophe",
)
# "value" says that answers were normalised before; they are read as any other text.
_ALIASES = {"value": "text"}
# What may be said once for the whole table.
CONSTANTS = ("configuration", "model", "serving", "family")
# Joins the columns of an id: ids of tables often differ within a task only.
_JOIN = "+"


@dataclass(frozen=True)
class TableColumns:
    """`columns` by what they hold, `constants` for what is the same in all rows; `guessed` were not named."""

    columns: Mapping[str, str]
    constants: Mapping[str, str]
    guessed: tuple[str, ...] = ()
    exported: bool = False  # a table of `leadline export answers`

    def cell(self, row: Mapping[str, object], role: str) -> object:
        """What a row holds of `role`, None where it holds nothing; "a.b" is `b` of what `a` holds."""
        if role in self.constants:
            return self.constants[role]
        column = self.columns.get(role)
        if column is None:
            return None
        if column in row or _JOIN not in column:
            found = _picked(row, column)
            return found[1:] if self._has_apostrophe(row, column) and isinstance(found, str) else found
        parts = [_picked(row, part.strip()) for part in column.split(_JOIN)]
        return None if None in parts else "/".join(str(part) for part in parts)

    def _has_apostrophe(self, row: Mapping[str, object], column: str) -> bool:
        """An export writes an apostrophe before what a spreadsheet would compute, and says where it did."""
        return self.exported and column in str(row.get("apostrophe") or "").split()

    @property
    def traits(self) -> tuple[str, ...]:
        """What is said of configurations beside their names."""
        return tuple(role for role in ("serving", "family") if role in self.columns or role in self.constants)

    @property
    def about(self) -> dict[str, str]:
        """Everything that decides what is read out of a row."""
        return {**self.columns, **{f"{role}=": said for role, said in self.constants.items()}}


def parsed_columns(written: Sequence[str]) -> dict[str, str]:
    """What `--map ROLE=COLUMN` says. Raises UsageError for what is no role, or is said twice."""
    found: dict[str, str] = {}
    known = [*GUESSES, *_ALIASES]
    for one in written:
        role, equals, column = (part.strip() for part in one.partition("="))
        if not equals or not role or not column:
            raise UsageError(
                f"--map {shortened(one)} is not WHAT=COLUMN", fix="such as --map item=question_id"
            )
        if role not in known:
            fix = did_you_mean(role, known, otherwise=f"a column may hold: {', '.join(known)}")
            raise UsageError(f"--map {shortened(one)}: a row has no {shortened(role)}", fix=fix)
        if _ALIASES.get(role, role) in found:
            raise UsageError(f"--map says twice where the {role} is", fix="keep one of them")
        found[_ALIASES.get(role, role)] = column
    return found


def table_columns(
    names: Sequence[str], said: Mapping[str, str], constants: Mapping[str, str], where: str
) -> TableColumns:
    """The columns of a table with these names. Raises UsageError for one that is not there or not known."""
    for role in constants:
        if role in said:
            fix = f"--{role} is for tables without such a column"
            raise UsageError(f"--map and --{role} both say what the {role} is", fix=fix)
    columns: dict[str, str] = {}
    exported = all(name in names for name in EXPORTED)
    for role, column in said.items():
        parts = [column] if column in names or role != "item" else column.split(_JOIN)
        for part in parts:
            _check(part.strip(), names, f"--map {role}={column}", where)
        columns[role] = column
    guessed = []
    for role, options in GUESSES.items():
        taken = set(columns.values())
        if role in columns or role in constants:
            continue
        by_name = {name.casefold(): name for name in reversed(names)}
        free = [by_name[one] for one in options if one in by_name and by_name[one] not in taken]
        if free:
            columns[role] = free[0]
            guessed.append(role)
    _check_needed(columns, constants, names, where)
    if exported:
        for role in _OF_EXPORT:
            if role in names and role not in constants:
                columns.setdefault(role, role)
    return TableColumns(columns, constants, tuple(guessed), exported)


def _check(column: str, names: Sequence[str], written: str, where: str) -> None:
    starts = {column.rsplit(".", depth)[0] for depth in range(column.count(".") + 1)}
    if not starts & set(names):
        fix = did_you_mean(column, names, otherwise=f"columns: {', '.join(names)}")
        raise UsageError(f"{written}: no column is called {shortened(column)}", where=where, fix=fix)


def _check_needed(
    columns: Mapping[str, str], constants: Mapping[str, str], names: Sequence[str], where: str
) -> None:
    found = f"columns found: {', '.join(names) or 'none'}"
    for role, what in (
        ("item", "no column says which item was asked"),
        ("text", "no column holds the answers"),
        ("configuration", "no column says which configuration an answer is of"),
    ):
        if role not in columns and role not in constants:
            ways = f"--map {role}=COLUMN"
            if role == "configuration":
                ways += ", or --configuration NAME where all answers are of one"
            raise UsageError(what, where=where, fix=f"{ways}; {found}")


def _picked(row: Mapping[str, object], column: str) -> Any:
    if column in row or "." not in column:
        return row.get(column)
    value: object = row
    for part in column.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
