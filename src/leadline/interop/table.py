"""Recorded answers from tables (CSV, TSV, JSON lines, Parquet, ...) into a study: all of them, or none.

A row is an answer: which item was asked, which configuration answered, the how manieth answer it is, and its
text. Rows are taken one after the other, so that millions of them need little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leadline.bench import load_benchmark
from leadline.bench.header import Format
from leadline.bench.loading import cannot_read
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.table import format_of
from leadline.errors import UsageError
from leadline.interop.table_columns import TableColumns
from leadline.interop.table_rows import Table, Tally, look_at, record_tables
from leadline.interop.taking_back import remove_database, take_back
from leadline.study.config_file import STUDY_FILE
from leadline.study.members import RECORDED
from leadline.study.new import recorded_study
from leadline.study.recording import Recorded, recorder
from leadline.study.store import DATABASE, open_store
from leadline.study.study import Study, open_study

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
    folder = study.parent if study.name == STUDY_FILE else study
    made = not (folder / STUDY_FILE).exists()
    try:
        tables = [look_at(path, _format(path, form), columns or {}, constants or {}) for path in files]
    except OSError as error:
        raise cannot_read(error, files[0]) from error
    with ExitStack() as undo:
        if made:
            place = folder
            if dry:
                place = Path(undo.enter_context(TemporaryDirectory())) / "study"
            else:
                undo.callback(take_back, folder, folder.exists())
            recorded_study(place, _needed(benchmark, folder), baseline)
            opened, (new, again) = open_study(place), (tables, list[str]())
        else:
            opened = open_study(folder)
            _check_matches(opened, benchmark, baseline)
            if not (folder / DATABASE).exists():
                undo.callback(remove_database, folder)
            new, again = _new(tables, opened)
        tally, done = _record(new, opened, dry, progress) if new else (Tally(), Recorded())
        if made and baseline:
            _check_baseline(baseline, tally)
        if not dry:
            undo.pop_all()
    return TableImport(
        study=folder,
        columns=tables[0].columns,
        rows=tally.rows,
        stored=done.stored,
        known=done.known,
        failed=tally.failed,
        empty=tally.empty,
        items=len(tally.items),
        configurations=tuple(sorted(tally.targets)),
        made=made,
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
        raise UsageError("there is no such file", where=str(path))
    found = form or format_of(path)
    if found is None:
        fix = "--format csv, tsv, jsonl, json, parquet or arrow"
        raise UsageError("the format is not known from the name", where=str(path), fix=fix)
    return found


def _needed(benchmark: str | None, folder: Path) -> str:
    if benchmark is None:
        raise UsageError(
            "there is no study yet; to make one, the benchmark that was asked must be named",
            where=str(folder),
            fix="--benchmark: a bundled name, a benchmark folder, or a file of items",
        )
    return benchmark


def _check_matches(study: Study, benchmark: str | None, baseline: str | None) -> None:
    """What was said once more must be what the study says."""
    if (
        benchmark is not None
        and (given := load_benchmark(benchmark)).content_hash != study.whole.content_hash
    ):
        raise UsageError(
            f"--benchmark: {given.name} {given.version} is not what this study asks, which is "
            f"{study.whole.name} {study.whole.version}",
            where=str(study.file),
            fix="leave --benchmark out, or name another folder with --study",
        )
    if baseline is not None and baseline != study.config.baseline:
        raise UsageError(
            f"--baseline: that of the study is {study.protocol.baseline or 'none'}",
            where=str(study.file),
            fix=f"write it there: baseline: {baseline}",
        )


def _check_baseline(baseline: str, tally: Tally) -> None:
    names = list(dict.fromkeys(name for _, name in sorted(tally.targets)))
    if baseline not in names:
        raise UsageError(
            f"--baseline: there are no answers of {shortened(baseline)} among these",
            fix=did_you_mean(baseline, names, otherwise=f"configurations: {', '.join(names)}"),
        )


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
