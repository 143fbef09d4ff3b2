"""`leadline import probity-release`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer


def probity_release(
    path: Annotated[Path, typer.Argument(help="The artefact: the folder that holds leaves/.")],
    study: Annotated[Path, typer.Option(help="The study's folder; made where there is none.")],
    arm: Annotated[
        str,
        typer.Option(
            help="Which arm: '' is the published one (runs_LABEL.jsonl), t01 that at temperature 0.1, "
            "t07 the second run of some at 0.7."
        ),
    ] = "",
    configuration: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Only this configuration. Repeat for several.  "
            "[default: those of dump/INDEX.json, else all]",
        ),
    ] = None,
    read_again: Annotated[
        bool,
        typer.Option(
            "--read-again",
            help="Read answers that the artefact could not normalise with our readers; else they count as "
            "failed calls, as published.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a study of the public Probity artefact: its items, and the recorded answers of its configurations.

    `leadline report` then prints the tables of the paper, with numbers compared as there, and beside each the
    same figure under rounding sameness and rarefied to a common number of answers. Audit the benchmark that
    it makes (STUDY/benchmark) to compare flagged items with clean ones. Run it again to go on.
    """
    from leadline.cli.plain_text import count, print_json, printable
    from leadline.interop.probity_release import import_release

    def done(label: str) -> None:
        if not quiet:
            print(f"{printable(label)}: stored", file=sys.stderr)

    made = import_release(path, study, arm=arm, labels=configuration, read_again=read_again, done=done)
    if as_json:
        print_json({**vars(made), "study": str(study)})
        return
    typer.echo(
        f"{study}: {count(made.tasks, 'task')}, {count(made.items, 'item')}, "
        f"{count(len(made.configurations), 'configuration')}; {count(made.stored, 'answer')} stored "
        f"({made.failed:,} calls failed or could not be read), {made.known:,} were there"
    )
    for name in made.missing:
        typer.echo(f"no answers: {printable(name)}", err=True)
    for note in made.notes:
        typer.echo(f"note: {printable(note)}", err=True)
    typer.echo(f"next: leadline report {shlex.quote(str(study))}")
