"""Tables of items in other formats, row after row, whatever the format is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from leadline.bench.column_rows import arrow_rows, parquet_rows
from leadline.bench.columns import CellFault, Columns, column_names, row_fields
from leadline.bench.csv_rows import csv_rows
from leadline.bench.header import FILE_KEYS, Format
from leadline.bench.item_fields import REQUIRED, Surroundings, read_item
from leadline.bench.items_file import Ids, Placed
from leadline.bench.json_rows import json_line_rows, json_list_rows
from leadline.bench.problem import Problems
from leadline.bench.row import Row
from leadline.bench.squad import from_columns, is_squad_file, is_squad_table, squad_rows

# So many rows are looked at to know the columns of formats that do not declare them.
# Of columns, in a message.
_NAMED = 40
_LOOKED_AT = 100
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
}  # fmt: skip
_READERS: dict[Format, Callable[[Path, Problems], Iterator[Row]]] = {
    "jsonl": json_line_rows,
    "json": json_list_rows,
    "csv": partial(csv_rows, delimiter=None),
    "tsv": partial(csv_rows, delimiter="\t"),
    "parquet": parquet_rows,
    "arrow": arrow_rows,
    "squad": squad_rows,
}


def format_of(path: Path) -> Format | None:
    """What a file is, by its name."""
    return _SUFFIXES.get(path.suffix.lower())


def rows_of(files: Sequence[Path], sort: Format, problems: Problems) -> Iterator[Row]:
    """The rows of files of one format, one file after the other; those of SQuAD's shape as items have them.

    Raises OSError where a file cannot be read.
    """
    for path in files:
        reader = _READERS[sort]
        if sort == "squad" and (columnar := format_of(path)) not in (None, "json"):
            reader = _READERS[columnar]
        yield from reader(path, problems)


def read_table(
    files: Sequence[Path],
    sort: Format,
    columns: Columns,
    problems: Problems,
    around: Surroundings,
    numbered: str = "",
    required: Sequence[str] = REQUIRED,
) -> Iterator[Placed]:
    """The items that the rows are, in order; faulty rows are problems, rows without an answer are left out.

    Rows of a table without a column of ids get `numbered` and their number as an id; "" makes that a
    problem, for ids must not change when a table is sorted. `required` fields must have a column.
    """
    if sort == "json" and is_squad_file(files[0]):
        sort = "squad"
    rows = rows_of(files, sort, problems)
    first = list(islice(rows, _LOOKED_AT))
    names, open_ended = column_names(row.values for row in first)
    everything: Iterator[Row] = chain(first, rows)
    if first and (sort == "squad" or (is_squad_table(names) and not columns.by_field)):
        everything = (from_columns(row, problems) if "context" in row.values else row for row in everything)
        names = list(FILE_KEYS)
    before = len(problems.found)
    mapping = columns.complete(names)
    if first:
        columns.check(names, open_ended, problems)
        _check_required(
            mapping, files[0], names, problems, [n for n in required if n != "id" or not numbered]
        )
    if len(problems.found) > before:
        return
    ids = Ids()
    fix = _id_fix(mapping)
    for number, row in enumerate(everything, start=1):
        try:
            fields, reason = row_fields(row.values, mapping)
        except CellFault as fault:
            problems.add(row.where, str(fault), fix=fault.fix)
            continue
        if reason:
            problems.left_out[reason] += 1
            continue
        if numbered and "id" not in mapping:
            fields["id"] = f"{numbered}{number}"
        if not ids.is_new(fields.get("id"), row.where, f"in row {number}", problems, fix):
            continue
        if (item := read_item(fields, row.where, problems, around)) is not None:
            yield Placed(item, row.where)


def _id_fix(mapping: Mapping[str, str]) -> str:
    """What to do about ids that occur twice: they may be told apart by the column of a group."""
    own = "give every item its own id"
    if "id" not in mapping or "+" in mapping["id"]:
        return own
    groups = ("task", "relation", "category", "domain")
    group = next((mapping[name] for name in groups if name in mapping), None)
    if group is None or group == mapping["id"]:
        return own
    joined = f"{group}+{mapping['id']}"
    return f"{own}; where they differ within a {group} only: --column id={joined}, or so in 'columns'"


def _check_required(
    mapping: dict[str, str], path: Path, names: Sequence[str], problems: Problems, required: Sequence[str]
) -> None:
    lacking = [name for name in required if name not in mapping]
    if lacking:
        which = " and ".join(repr(name) for name in lacking)
        what = (
            f"no column is called {which}, and none is named for it"
            if len(lacking) == 1
            else (f"no columns are called {which}, and none are named for them")
        )
        example = f"--column {lacking[0]}=COLUMN, or 'columns' in benchmark.yaml"
        if lacking == ["id"]:
            example += "; leadline bench import numbers the rows"
        problems.add(str(path), what, fix=f"columns found: {_listed(names)}; {example}")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
