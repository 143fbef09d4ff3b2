"""`leadline init` and `leadline run`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from leadline.study.config import Exclude

Folder = Annotated[Path, typer.Argument(help="The study's folder (with its study.yaml).", show_default=True)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
AuditFile = Annotated[
    Path | None,
    typer.Option(
        "--audit",
        help="An audit's JSON: leave out the items that it flags (or see --exclude), and tell apart what is "
        "steady by its verdicts. Takes the place of the study's own `exclude` and `audit`.",
    ),
]
Excluded = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        help="With --audit, which verdicts exclude an item: flagged (the default), 'evidence absent', "
        "computational, 'label untraceable', 'answer stated', 'not checkable'; or none: then no item is left "
        "out. Repeat for several.",
    ),
]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    benchmark: Annotated[str, typer.Option(help="A bundled benchmark's name, or a path.")] = "facts",
    model: Annotated[
        str, typer.Option(help="A catalogue name, a folder, a .gguf file or a Hugging Face id.")
    ] = "smollm2",
    items: Annotated[int | None, typer.Option(min=1, help="Ask only this many items.")] = None,
) -> None:
    """Make a study: a folder with a commented study.yaml and its JSON schema for editors."""
    from leadline.study.new import new_study

    file = new_study(folder, benchmark, model, items)
    typer.echo(f"{file}\nnext: leadline run {shlex.quote(str(folder))}")


def excluding(audit: Path | None, verdicts: list[str] | None) -> Exclude | None:
    """What --audit and --exclude say, or None where they say nothing."""
    from leadline.errors import UsageError
    from leadline.study.population import NONE, exclude_by

    if audit is None:
        if verdicts == [NONE]:
            return exclude_by(Path(), verdicts)
        if verdicts:
            raise UsageError("--exclude needs the audit whose verdicts it names", fix="--audit audit.json")
        return None
    return exclude_by(audit, verdicts or ["flagged"])


def run(
    folder: Folder = Path(),
    audit: AuditFile = None,
    exclude: Excluded = None,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Only ask; write no report.")] = False,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on although a model, an item's wording or the code changed since earlier answers were "
            "drawn; database, manifest and report keep a record of it.",
        ),
    ] = False,
) -> None:
    """Ask the models everything that the study lacks, then write its report.

    Stop it at any moment and run it again: stored answers are never asked twice. Calls that failed make the
    exit code 3, with a report of what is there.
    """
    import json

    from leadline.cli.show import show_report
    from leadline.errors import LeadlineError
    from leadline.study.progress import reporter
    from leadline.study.run import calls_failed, run_study
    from leadline.study.study import open_study

    study = open_study(folder, excluding(audit, exclude), audit)
    try:
        with reporter(quiet) as progress:
            outcome = run_study(study, progress, accept_changes=accept_changes)
    except KeyboardInterrupt:
        if not quiet:
            typer.echo("interrupted; what was answered is stored, run again to go on", err=True)
        raise  # exit code 130
    if not quiet:
        typer.echo(
            f"{outcome.drawn:,} answers drawn, {outcome.kept:,} were there; {outcome.seconds:,.1f} s",
            err=True,
        )
    if not no_report:
        show_report(study, None, as_json, quiet)
    elif as_json:
        typer.echo(json.dumps(vars(outcome)))
    if outcome.failed:
        raise LeadlineError(
            f"{calls_failed(outcome.failed)}, the study is not complete",
            where=str(folder),
            fix="run it again to ask these again",
        )
