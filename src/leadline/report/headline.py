"""The one table that a reader looks at first: each method against the baseline on all three levels."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.lenses.finding import Figure
from leadline.report.document import FindingsDocument, row_figures


@dataclass(frozen=True)
class Column:
    """A measure of the headline table: the finding that it is taken from and the figure's key there."""

    lens: str
    table: str
    figure: str
    label: str
    group: str
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Unique within the table: "sgr@0.7"."""
        return "@".join((self.figure, *(value for _, value in self.keys)))


@dataclass(frozen=True)
class HeadlineRow:
    """A method and its figures in the order of the columns; None where the study has no such figure."""

    method: str
    label: str
    kind: str
    figures: tuple[Figure | None, ...]


@dataclass(frozen=True)
class Headline:
    """The headline table of one model."""

    model: str
    baseline: str
    baseline_accuracy: Figure | None
    columns: tuple[Column, ...]
    rows: tuple[HeadlineRow, ...]


def headline(document: FindingsDocument, model: str) -> Headline | None:
    """The headline table of `model`, or None when no method of it was compared with the baseline.

    Columns that hold no figure at all are left out (a study without probed ranks has no rank shift).
    """
    overall = document.finding("transitions", "overall", model)
    methods = list(dict.fromkeys(row.keys.get("method", "") for row in overall.rows)) if overall else []
    if not methods:
        return None
    kinds = {each.name: each.kind for each in document.protocol.methods}
    columns = _columns(document, model)
    cells = {
        method: [
            row_figures(
                document.finding(column.lens, column.table, model), method=method, **dict(column.keys)
            ).get(column.figure)
            for column in columns
        ]
        for method in methods
    }
    used = [i for i in range(len(columns)) if any(cells[method][i] is not None for method in methods)]
    return Headline(
        model=model,
        baseline=document.label(document.protocol.baseline),
        baseline_accuracy=row_figures(overall, method=methods[0]).get("acc_baseline"),
        columns=tuple(columns[i] for i in used),
        rows=tuple(
            HeadlineRow(
                method, document.label(method), kinds.get(method, ""), tuple(cells[method][i] for i in used)
            )
            for method in methods
        ),
    )


def headlines(document: FindingsDocument) -> list[Headline]:
    """The headline tables of all models that have one, in the document's order."""
    return [table for model in document.models if (table := headline(document, model.name))]


def temperatures(document: FindingsDocument, model: str) -> list[str]:
    """The temperatures at which shallow and deep failures were told apart, in the order of the finding."""
    rates = document.finding("beyond_sampling", "rates", model)
    return list(dict.fromkeys(row.keys.get("temperature", "") for row in rates.rows)) if rates else []


def _columns(document: FindingsDocument, model: str) -> list[Column]:
    surface = [
        Column("transitions", "overall", key, label, "Surface")
        for key, label in (("acc", "Acc"), ("gain", "Gain"), ("loss", "Loss"), ("net", "Net"))
    ]
    ranks = [
        Column("rank_shift", "overall", key, label, "Rank shift of unrecovered failures")
        for key, label in (("improved", "Improved"), ("tied", "Tied"), ("worsened", "Worsened"))
    ]
    beyond = [
        Column("beyond_sampling", "rates", key, label, f"Beyond sampling, τ = {tau}", (("temperature", tau),))
        for tau in temperatures(document, model)
        for key, label in (("sgr", "SGR"), ("dgr", "DGR"))
    ]
    return surface + ranks + beyond
