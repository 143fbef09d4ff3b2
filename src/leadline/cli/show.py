"""Makes a study's report and prints what it found: shared by `run`, `report` and `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from leadline.report.study_report import StudyReport
    from leadline.study.study import Study


def show_report(
    study: Study,
    out: Path | None,
    as_json: bool,
    quiet: bool = False,
    *,
    claims: bool = False,
    figures: bool = False,
) -> None:
    """Write the report; print what it found in short and the paths, or findings.json itself.

    With `claims` every claim is printed in place of the tables, with `figures` the figures are drawn as well.
    """
    from rich.console import Console

    from leadline.report.study_report import report_study
    from leadline.report.terminal import summary
    from leadline.report.terminal_claims import claims_table

    made = report_study(study, out)
    if made.missing and not quiet:
        noun, are = ("answer", "is") if made.missing == 1 else ("answers", "are")
        typer.echo(
            f"note: {made.missing:,} {noun} that the study asks for {are} not there yet "
            f"(leadline run {study.folder})",
            err=True,
        )
    if made.failed and not quiet:
        are = "answer is missing: its call" if made.failed == 1 else "answers are missing: their calls"
        typer.echo(f"note: {made.failed:,} {are} failed", err=True)
    for sentence in () if quiet else (*made.document.changes, *made.document.remarks):
        typer.echo(f"note: {sentence}", err=True)
    if as_json:
        if figures:
            _draw(made, quiet=True)
        typer.echo(made.paths.findings.read_text(encoding="utf-8"), nl=False)
        return
    console = Console()
    if not console.is_terminal:  # a file or a pipe is as wide as need be
        console = Console(width=max(120, console.width))
    console.print(claims_table(made.document) if claims else summary(made.document))
    for name, path in (
        ("report", made.paths.html),
        ("findings", made.paths.findings),
        ("tables", made.paths.markdown),
        ("", made.paths.latex),
        ("evidence", made.paths.evidence),
    ):
        if path is not None:
            typer.echo(f"{name:<9} {path}")
    if figures:
        _draw(made, quiet)


def _draw(made: StudyReport, quiet: bool) -> None:
    from leadline.cli.figures import draw

    draw(made.document, made.paths.html.parent / "figures", quiet=quiet)


def print_finding(folder: Path, lens: str, table: str) -> None:
    """Print one table of the report that a study has."""
    from rich.console import Console

    from leadline.report.document import load_findings
    from leadline.report.terminal import finding_table

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(120, console.width))
    console.print(finding_table(load_findings(folder / "report" / "findings.json"), lens, table))
