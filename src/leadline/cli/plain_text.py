"""Texts from files, and figures, as a terminal or a pipe gets them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import typer


def count(number: int, noun: str) -> str:
    """ "1 item", "2,000 items"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """Texts come from files: a terminal must not obey what stands in them."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def print_json(value: object) -> None:
    """A value for another program."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A drawn table on a terminal; tab-separated lines for pipes and files."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            typer.echo("\t".join(printable(cell) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(table)
