"""What a terminal shows of a report, and as plain text where there is none: headline, stability, claims."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from leadline.report.document import FindingsDocument
from leadline.report.headline import Headline, headlines
from leadline.report.numbers import printed
from leadline.report.tables import tables
from leadline.report.terminal_adjudication import adjudication_table
from leadline.report.terminal_claims import claims_summary
from leadline.report.terminal_stability import stability_table
from leadline.report.terminal_text import safe, two_lines


def summary(document: FindingsDocument) -> RenderableType:
    """What `leadline report` prints: each method against the baseline, how steady answers are, what people's
    decisions on labels change, the claims.

    A study without a baseline begins with how steady its answers are.
    """
    stability = stability_table(document)
    parts = [headline_table(document)] if headlines(document) or stability is None else []
    if not parts and document.benchmark.population:
        parts.append(Text(f"Population: {document.benchmark.population}."))
    parts += [table for table in (stability, adjudication_table(document)) if table is not None]
    return Group(*parts, claims_summary(document))


def headline_table(document: FindingsDocument) -> RenderableType:
    """What rich prints: for each model its methods' figures against the baseline.

    One table per level (surface, ranks, beyond sampling) keeps every line within 80 columns.
    """
    found = headlines(document)
    if not found:
        return Text("No method was compared with the baseline.")
    population = document.benchmark.population
    head = [Text(f"Population: {population}.")] if population else []
    return Group(*head, *(part for entry in found for part in _parts(entry)))


def headline_text(document: FindingsDocument, width: int = 100) -> str:
    """The same as plain text without colour or control codes, for files and pipes."""
    return plain(headline_table(document), width)


def plain(shown: RenderableType, width: int = 100) -> str:
    """Anything that rich prints as plain text without colour or control codes, for files and pipes."""
    sink = io.StringIO()
    console = Console(file=sink, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(shown)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()) + "\n"


def finding_table(document: FindingsDocument, lens: str, name: str) -> RenderableType:
    """One finding of each model, as rich prints it."""
    parts: list[RenderableType] = []
    for entry in tables(document):
        if (entry.lens, entry.name) != (lens, name):
            continue
        grid = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, title=Text(entry.title), title_justify="left", title_style=""
        )
        for head in entry.key_heads:
            grid.add_column(head, overflow="fold")
        for head in entry.figure_heads:
            grid.add_column(head, justify="right", overflow="fold")
        for row in entry.rows:
            cells = [str(cell.printed) if cell else "" for cell in row.cells]
            grid.add_row(*(Text(safe(words)) for words in (*row.keys, *cells)))
        parts.append(grid)
    return Group(*parts)


def _parts(entry: Headline) -> list[RenderableType]:
    accuracy = printed("acc", entry.baseline_accuracy)
    parts: list[RenderableType] = [
        Text(f"{entry.model}: baseline {entry.baseline}, Acc {accuracy}", style="bold")
    ]
    for group in dict.fromkeys(column.group for column in entry.columns):
        places = [place for place, column in enumerate(entry.columns) if column.group == group]
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, title=Text(group), title_justify="left", title_style=""
        )
        # In a narrow terminal words go to the next line; nothing is ever cut off.
        table.add_column("Method", overflow="fold")
        for place in places:
            table.add_column(entry.columns[place].label, justify="right", overflow="fold")
        for row in entry.rows:
            figures = [row.figures[place] for place in places]
            if any(figure is not None for figure in figures):
                keys = [entry.columns[place].figure for place in places]
                table.add_row(Text(safe(row.label)), *map(two_lines, keys, figures))
        parts.append(table)
    return parts
