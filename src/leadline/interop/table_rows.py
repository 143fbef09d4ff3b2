"""The rows of tables of answers, one after the other into a study that is being recorded into."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from leadline.bench.columns import column_names
from leadline.bench.header import Format
from leadline.bench.problem import FirstProblem, shortened
from leadline.bench.row import Row
from leadline.bench.table import rows_of
from leadline.errors import UsageError
from leadline.interop.table_cells import answer_of, item_of, name_of, part_of
from leadline.interop.table_columns import TableColumns, table_columns
from leadline.ordinary_file import opened
from leadline.study.members import UNNAMED
from leadline.study.recorded_part import PART
from leadline.study.recording import Recorder, Target

# So many rows are looked at to know the columns of formats that do not declare them.
_LOOKED_AT = 100
_SAY_EVERY = 5_000


@dataclass(frozen=True)
class Table:
    """A file of answers: its format, its digest, its columns, and what an export says the baseline was."""

    path: Path
    format: Format
    sha256: str
    columns: TableColumns
    baseline: str = ""

    @property
    def about(self) -> dict[str, object]:
        """What a run notes of it."""
        return {"file": self.path.name, "sha256": self.sha256, "columns": self.columns.about}


@dataclass
class Tally:
    """What was counted of the rows of all tables."""

    rows: int = 0
    empty: int = 0
    failed: int = 0
    items: set[str] = field(default_factory=set)
    targets: dict[tuple[str, str], Target] = field(default_factory=dict)


def look_at(path: Path, form: Format, said: Mapping[str, str], constants: Mapping[str, str]) -> Table:
    """A table and its columns. Raises UsageError where they are not known, OSError."""
    rows = list(islice(rows_of([path], form, FirstProblem()), _LOOKED_AT))
    names, _ = column_names(row.values for row in rows)
    if not names:
        fix = "one answer a row, below the names of the columns"
        raise UsageError("the table holds no row", where=str(path), fix=fix)
    with opened(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    columns = table_columns(names, said, constants, str(path))
    part = part_of(rows[0], columns) or {}
    return Table(path, form, digest, columns, str(part.get("baseline", "")))


def record_tables(
    tables: Iterable[Table], recording: Recorder, progress: Callable[[int], None] = lambda rows: None
) -> Tally:
    """Hand every row of the tables to `recording`. Raises UsageError, with its place, at the first fault."""
    tally = Tally()
    numbering = _Numbering(recording)
    for table in tables:
        is_numbered = "sample" in table.columns.columns
        for row in rows_of([table.path], table.format, FirstProblem()):
            target = _target(row, table.columns, recording, tally)
            sample = None if is_numbered else numbering.next(target, item_of(row, table.columns))
            answer = answer_of(row, table.columns, sample)
            recording.add(target, answer)
            tally.rows += 1
            tally.items.add(answer.item)
            tally.failed += answer.text is None
            tally.empty += answer.text == ""
            if tally.rows % _SAY_EVERY == 0:
                progress(tally.rows)
    progress(tally.rows)
    return tally


def _target(row: Row, columns: TableColumns, recording: Recorder, tally: Tally) -> Target:
    name = name_of(row, columns, "configuration")
    model = name_of(row, columns, "model", UNNAMED)
    target = tally.targets.get((model, name))
    if target is None:
        target = tally.targets[model, name] = recording.target(model, name)
        if part := part_of(row, columns):
            target.about |= {PART: part, "label": name_of(row, columns, "label", name) or name}
    for role in columns.traits:
        if said := name_of(row, columns, role):
            before = target.about.setdefault(role, said)
            if before != said:
                raise UsageError(
                    f"{role} of {target.called} is {shortened(said)} here and {shortened(before)} before",
                    where=row.where,
                    fix="answers that come by two ways are of two configurations",
                )
    return target


class _Numbering:
    """Numbers answers in the order in which they come, after those that the study holds already."""

    def __init__(self, recording: Recorder) -> None:
        self._recording = recording
        self._free: dict[str, dict[str, int]] = {}

    def next(self, target: Target, item: str) -> int:
        free = self._free.get(target.id)
        if free is None:
            free = self._free[target.id] = self._recording.next_samples(target)
        number = free.get(item, target.first or 0)
        free[item] = number + 1
        return number
