"""`leadline report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.run import Adjudications, AsJson, AuditFile, Excluded, Folder, excluding, opened


def report(
    folder: Folder = Path(),
    out: Annotated[
        Path | None, typer.Option(help="Where to write it. [default: report/ in the study]")
    ] = None,
    audit: AuditFile = None,
    exclude: Excluded = None,
    adjudications: Adjudications = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Print every claim, with the conservative reading beside it.")
    ] = False,
    figures: Annotated[
        bool, typer.Option("--figures", help="Draw the figures too, into figures/ (see leadline figures).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a study's report from the answers it has: HTML page, findings.json, Markdown and LaTeX tables.

    Needs no model: answers are read again each time, so a better reader improves old studies.
    """
    from leadline.cli.show import show_report

    study = opened(folder, excluding(audit, exclude), audit, adjudications)
    show_report(study, out, as_json, claims=claims, figures=figures)
