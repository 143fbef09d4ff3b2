"""`leadline bench import`, and the options that say how files in other formats are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.errors import EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from leadline.bench.opened import Reading

FormatName = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "squad"]
ColumnFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="FIELD=COLUMN",
        help="Which column of a table holds a field of the items, such as question=Q, "
        "answer=answers.text, or id=task+item of two. May be given several times.",
    ),
]
FormatFlag = Annotated[
    FormatName | None, typer.Option("--format", help="What the file is, where its name does not tell.")
]
SplitFlag = Annotated[str | None, typer.Option("--split", help="Which split of a dataset.")]
ConfigFlag = Annotated[str | None, typer.Option("--config", help="Which configuration of a dataset.")]
_SHOWN = 20


def import_items(
    source: Annotated[Path, typer.Argument(help="A file, or the folder of a dataset.")],
    out: Annotated[Path, typer.Option("--out", help="The benchmark folder to write.")],
    name: Annotated[str | None, typer.Option(help="[default: the name of the file]")] = None,
    version: Annotated[str, typer.Option(help="The benchmark's version.")] = "1",
    licence: Annotated[str | None, typer.Option(help="[default: what a dataset's card says]")] = None,
    column: ColumnFlag = None,
    form: FormatFlag = None,
    split: SplitFlag = None,
    config: ConfigFlag = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a benchmark that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a benchmark folder of a CSV, Parquet or JSON file, a SQuAD file, or the folder of a dataset.

    Columns named as fields of items are taken as they are; name the others with --column. Rows that cannot
    be read are left out, listed, and end in exit code 1.
    """
    from leadline.bench.importing import import_benchmark
    from leadline.cli.plain_text import count, print_json, printable

    done = import_benchmark(
        source,
        out,
        name=name,
        version=version,
        licence=licence,
        reading=reading_of(column, form, split, config),
        force=force,
    )
    if as_json:
        print_json(
            {
                "folder": str(done.folder),
                "items": done.items,
                "left_out": dict(done.left_out),
                "notes": dict(done.notes),
                "faulty_rows": done.faulty,
                "faults": done.faults,
                "problems": [{"where": p.where, "message": p.message, "item": p.item} for p in done.problems],
            }
        )
    else:
        for problem in done.problems[:_SHOWN]:
            typer.echo(printable(problem.line()))
        if done.faults > _SHOWN:
            typer.echo(f"... and {done.faults - _SHOWN:,} more faults; --json lists a thousand")
        for reason, number in done.left_out.items():
            typer.echo(f"left out: {count(number, 'row')}: {reason}")
        if done.faults:
            rows = count(done.faulty, "faulty row")
            typer.echo(f"left out: {rows}, with {count(done.faults, 'fault')}")
        for note, number in done.notes.items():
            typer.echo(f"note: {number:,} × {note}" if number > 1 else f"note: {note}")
        typer.echo(printable(f"{done.folder}: {count(done.items, 'item')}"))
    if done.faults:
        raise typer.Exit(EXIT_FINDINGS)


def reading_of(
    columns: list[str] | None, form: FormatName | None, split: str | None, config: str | None
) -> Reading:
    """The options as the loader takes them. Raises UsageError for a --column that names no field."""
    from leadline.bench.header import FILE_KEYS
    from leadline.bench.opened import Reading
    from leadline.bench.problem import did_you_mean, shortened

    by_field: dict[str, str] = {}
    for written in columns or ():
        field, equals, column = written.partition("=")
        if not equals or not field or not column:
            raise UsageError(f"--column {shortened(written)} is not FIELD=COLUMN", fix="such as question=Q")
        if field not in FILE_KEYS:
            known = f"fields: {', '.join(FILE_KEYS)}"
            fix = did_you_mean(field, FILE_KEYS, otherwise=known)
            raise UsageError(
                f"--column {shortened(written)}: an item has no field {shortened(field)}", fix=fix
            )
        if field in by_field:
            raise UsageError(f"--column names {field!r} twice", fix="keep one of them")
        by_field[field] = column
    return Reading(by_field, form, split, config)
