"""Recorded answers from tables (CSV, TSV, JSON lines, Parquet, ...) into a study: all of them, or none.

A row is an answer: which item was asked, which configuration answered, the how manieth answer it is, and its
text. Rows are taken one after the other, so that millions of them need little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bench.header import Format
from leadline.bench.loading import cannot_read
from leadline.bench.problem import shortened
from leadline.bench.table import format_of
from leadline.errors import UsageError
from leadline.interop.filling import check_baseline, filling
from leadline.interop.table_columns import TableColumns
from leadline.interop.table_rows import Table, Tally, look_at, record_tables
from leadline.study.config_file import STUDY_FILE
from leadline.study.members import RECORDED
from leadline.study.recording import Recorded, recorder
from leadline.study.store import DATABASE, open_store
from leadline.study.study import Study

_TABLES = "tables"


@dataclass(frozen=True)
class TableImport:
    """What became of tables; counts are of answers. `known` were there, or stand twice in the tables.

    `empty` are answers without a text and `failed` calls that failed. `again` names the files that had been
    imported before in the same way, and were left alone. `made` says that the study is new, `dry` that
    nothing was kept.
    """

    study: Path
    columns: TableColumns
    rows: int
    stored: int
    known: int
    failed: int
    empty: int
    items: int
    configurations: tuple[tuple[str, str], ...]  # model and name
    made: bool
    dry: bool
    again: tuple[str, ...] = ()


def import_table(
    files: Sequence[Path],
    study: Path,
    *,
    benchmark: str | None = None,
    columns: Mapping[str, str] | None = None,
    constants: Mapping[str, str] | None = None,
    form: Format | None = None,
    baseline: str | None = None,
    dry: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> TableImport:
    """Store the answers in `files` in the study at `study`, which is made where there is none.

    `columns` and `constants` say where a row's item, configuration, sample, text, error and model are (see
    `table_columns`); what they do not say is guessed. `baseline` is written into a study that is made.
    With `dry` everything is checked and nothing stays. `progress` is told how many rows were read. Raises
    UsageError with file and line at the first fault; then nothing of the tables is stored.
    """
    try:
        tables = [look_at(path, _format(path, form), columns or {}, constants or {}) for path in files]
    except OSError as error:
        raise cannot_read(error, files[0]) from error
    is_new = not (study if study.name == STUDY_FILE else study / STUDY_FILE).exists()
    exported = next((table.baseline for table in tables if table.baseline), None) if is_new else None
    with filling(study, benchmark=benchmark, baseline=baseline or exported, dry=dry) as into:
        new, again = (tables, list[str]()) if into.made else _new(tables, into.study)
        tally, done = _record(new, into.study, dry, progress) if new else (Tally(), Recorded())
        names = list(dict.fromkeys(name for _, name in sorted(tally.targets)))
        if into.made and baseline:
            check_baseline(baseline, names)
        elif into.made and exported and exported not in names:
            raise UsageError(
                f"the table was exported with the baseline {shortened(exported)}, and holds no answers of it",
                where=str(files[0]),
                fix="name another: --baseline NAME",
            )
    return TableImport(
        study=into.folder,
        columns=tables[0].columns,
        rows=tally.rows,
        stored=done.stored,
        known=done.known,
        failed=tally.failed,
        empty=tally.empty,
        items=len(tally.items),
        configurations=tuple(sorted(tally.targets)),
        made=into.made,
        dry=dry,
        again=tuple(again),
    )


def _record(
    tables: Sequence[Table], study: Study, dry: bool, progress: Callable[[int], None]
) -> tuple[Tally, Recorded]:
    about = {_TABLES: [table.about for table in tables]}
    try:
        with recorder(study, about, keep=not dry) as recording:
            tally = record_tables(tables, recording, progress)
            return tally, recording.finish()
    except OSError as error:
        raise cannot_read(error, tables[0].path) from error


def _format(path: Path, form: Format | None) -> Format:
    if path.is_dir():
        raise UsageError("is a folder, not a table", where=str(path), fix="name the files in it")
    if not path.is_file():
        raise UsageError("is no file" if path.exists() else "there is no such file", where=str(path))
    found = form or format_of(path)
    if found is None:
        fix = "--format csv, tsv, jsonl, json, parquet or arrow"
        raise UsageError("the format is not known from the name", where=str(path), fix=fix)
    return found


def _new(tables: Sequence[Table], study: Study) -> tuple[list[Table], list[str]]:
    """The tables that were not imported before, and the names of those that were, in the same way.

    Raises UsageError for one that was, with other columns, where its answers would be counted twice.
    """
    if not (study.folder / DATABASE).exists():
        return list(tables), []
    with open_store(study.folder, write=False) as store:
        notes = [note.about.get(RECORDED, {}) for note in store.history() if note.finished]
    earlier: list[dict[str, Any]] = [one for note in notes for one in note.get(_TABLES, ())]
    new, again = [], []
    for table in tables:
        same = [one["columns"] for one in earlier if one["sha256"] == table.sha256]
        if table.columns.about in same:
            again.append(table.path.name)
            continue
        numbered = "sample" in table.columns.columns
        if not numbered and any(_of_same(table.columns.about, columns) for columns in same):
            raise UsageError(
                "the same file was imported before, with other columns: its answers would count twice",
                where=str(table.path),
                fix="make a new study of it, or map its column of samples",
            )
        new.append(table)
    return new, again


def _of_same(columns: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """Both readings of a table are about the same configurations."""
    return all(
        columns.get(key) == others.get(key)
        for role in ("configuration", "model")
        for key in (role, f"{role}=")
    )
