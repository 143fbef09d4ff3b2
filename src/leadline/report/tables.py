"""A finding as a table that any format can print: headings, keys, printed figures, and numbered remarks.

Nothing here knows which lenses exist: a new lens's tables come out without a change.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from leadline.lenses.finding import Figure, Finding, Row
from leadline.report.document import FindingsDocument
from leadline.report.labels import figure_label, key_columns, key_label, key_value, spelt_out
from leadline.report.numbers import Kind, Printed, kind_of, printed


@dataclass(frozen=True)
class Cell:
    """A printed figure, what to sort it by, and the number of its remark (0 for none)."""

    printed: Printed
    sort: str
    remark: int = 0


@dataclass(frozen=True)
class TableRow:
    """A line: what it is about, and the figures in the order of the columns (None: not in this row)."""

    keys: tuple[str, ...]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Table:
    """A finding, ready to be printed."""

    anchor: str
    lens: str
    name: str
    model: str
    title: str
    definition: str
    key_heads: tuple[str, ...]
    figure_heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]
    remarks: tuple[str, ...]
    methods: tuple[str, ...] = field(default=())  # "Gain, Loss: wilson"
    item_key: int = -1  # the place among the keys of the one that is an item's id


def anchor(finding: Finding) -> str:
    """The id of the finding's table within a page."""
    return slug("t", finding.lens, finding.table, finding.model)


def slug(*parts: str) -> str:
    """An id for a page; parts that differ keep different ids, whatever signs they are made of."""
    plain = ":".join(re.sub(r"[^A-Za-z0-9._-]+", "+", part) for part in parts)
    if all(re.fullmatch(r"[A-Za-z0-9._-]*( [A-Za-z0-9._-]+)*", part) for part in parts):
        return plain
    return f"{plain}:{hashlib.sha256('/'.join(parts).encode('utf-8', 'replace')).hexdigest()[:8]}"


def table(document: FindingsDocument, finding: Finding) -> Table:
    """Print a finding's rows."""
    keys = key_columns([row.keys for row in finding.rows])
    figures = key_columns([dict.fromkeys(row.figures, "") for row in finding.rows])
    kinds = {
        key: kind_of(key, [row.figures[key] for row in finding.rows if key in row.figures]) for key in figures
    }
    remarks: dict[str, int] = {}
    rows = tuple(
        TableRow(
            tuple(key_value(document, key, row.keys.get(key, ""), finding.model) for key in keys),
            tuple(
                _cell(key, row.figures.get(key), (_own_kinds(row) or kinds)[key], remarks) for key in figures
            ),
        )
        for row in finding.rows
    )
    return Table(
        anchor=anchor(finding),
        lens=finding.lens,
        name=finding.table,
        model=finding.model,
        title=finding.title or spelt_out(finding.table),
        definition=finding.definition,
        key_heads=tuple(key_label(document, key) for key in keys),
        figure_heads=tuple(figure_label(key) for key in figures),
        rows=rows,
        notes=finding.notes,
        remarks=tuple(remarks),
        methods=_methods(finding, figures),
        item_key=keys.index("item") if "item" in keys else -1,
    )


def _own_kinds(row: Row) -> dict[str, Kind]:
    """What the figures of a row are where each row is a quantity of its own unit; else empty."""
    if list(row.keys) != ["quantity"]:
        return {}
    measured = [figure for key, figure in row.figures.items() if key != "change"]
    kind = kind_of("quantity", measured)
    change = {Kind.SHARE: Kind.DIFFERENCE, Kind.COUNT: Kind.SIGNED_COUNT}.get(kind, Kind.SHIFT)
    return {key: change if key == "change" else kind for key in [*row.figures, "change"]}


def tables(document: FindingsDocument) -> list[Table]:
    """All findings of the document, in its order."""
    return [table(document, finding) for finding in document.findings]


def _cell(key: str, figure: Figure | None, kind: Kind, remarks: dict[str, int]) -> Cell | None:
    if figure is None:
        return None
    remark = remarks.setdefault(figure.note, len(remarks) + 1) if figure.note else 0
    return Cell(printed(key, figure, kind), "" if figure.value is None else repr(figure.value), remark)


def _methods(finding: Finding, figures: list[str]) -> tuple[str, ...]:
    """How the figures were obtained, one entry per way: intervals are only as good as their method."""
    ways: dict[str, list[str]] = {}
    for key in figures:
        for way in dict.fromkeys(row.figures[key].method for row in finding.rows if key in row.figures):
            if way:
                ways.setdefault(way, []).append(figure_label(key))
    return tuple(f"{', '.join(heads)}: {way}" for way, heads in ways.items())
