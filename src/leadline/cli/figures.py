"""`leadline figures`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli.run import AsJson, QuietFlag

if TYPE_CHECKING:
    from leadline.report.document import FindingsDocument
    from leadline.report.figures.write import Figures


def figures(
    source: Annotated[
        Path, typer.Argument(help="A study's folder, or a findings.json.", show_default=True)
    ] = Path(),
    out: Annotated[
        Path | None, typer.Option(help="Where to write them. [default: figures/ beside findings.json]")
    ] = None,
    formats: Annotated[str, typer.Option("--format", help="One or more of svg, pdf, png.")] = "svg",
    width: Annotated[
        str, typer.Option(help="column (3.3 in, half a two-column page) or page (7 in).")
    ] = "column",
    quiet: QuietFlag = False,
    as_json: AsJson = False,
) -> None:
    """Draw the figures of a study for a paper, from its findings.json alone.

    Wobble by configuration, flagged against clean items, the distribution of right answers and its ceiling,
    transfer against its null, split-half reliability, wobble by category; with captions.md. A figure whose
    findings are absent is skipped, with the reason. Needs matplotlib: pip install 'leadline[figures]'.
    """
    from leadline.report.document import load_findings

    path = source / "report" / "findings.json" if source.is_dir() else source
    if source.is_dir() and not path.exists() and (source / "findings.json").exists():
        path = source / "findings.json"  # a report's own folder, or a bundle
    wanted = tuple(part.strip() for part in formats.split(",") if part.strip())
    drawn = draw(load_findings(path), out or path.parent / "figures", wanted, width, quiet=quiet or as_json)
    if as_json:
        skipped = dict(drawn.skipped)
        typer.echo(json.dumps({"figures": [str(each) for each in drawn.paths], "skipped": skipped}))


def draw(
    document: FindingsDocument,
    out: Path,
    formats: tuple[str, ...] = ("svg",),
    width: str = "column",
    *,
    quiet: bool = False,
) -> Figures:
    """Write the figures and say what was written and what was skipped."""
    from leadline.errors import LeadlineError

    try:
        from leadline.report.figures.write import write_figures
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise LeadlineError(
            "figures are drawn with matplotlib, which is not installed", fix="pip install 'leadline[figures]'"
        ) from error
    drawn = write_figures(document, out, formats, width)
    if not quiet:
        for path in (*drawn.paths, *((drawn.captions,) if drawn.captions else ())):
            typer.echo(f"{'figure' if path.suffix != '.md' else 'captions':<9} {path}")
        for name, reason in drawn.skipped:
            typer.echo(f"skipped   {name}: {reason}", err=True)
        if drawn.missing:
            shown = " ".join(drawn.missing[:12]) + (" ..." if len(drawn.missing) > 12 else "")
            typer.echo(
                f"boxes     no installed font has {shown} (install one, such as Noto Sans CJK; "
                "the svg files do without)",
                err=True,
            )
    return drawn
