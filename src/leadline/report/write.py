"""One call that turns findings and readings into every form a reader may want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from leadline.errors import UsageError
from leadline.report.atomic import write_text
from leadline.report.document import FindingsDocument, write_findings
from leadline.report.evidence_items import EVIDENCE, Evidence
from leadline.report.evidence_page import evidence_page
from leadline.report.items import ItemText
from leadline.report.page import render_page
from leadline.report.tables_latex import latex_tables
from leadline.report.tables_markdown import markdown_tables


@dataclass(frozen=True)
class ReportPaths:
    """Where the four files of a report are, and the evidence page where there is one."""

    html: Path
    findings: Path
    markdown: Path
    latex: Path
    evidence: Path | None = None


def write_report(
    document: FindingsDocument,
    readings: pl.DataFrame,
    items: Mapping[str, ItemText],
    out: Path,
    evidence: Evidence | None = None,
) -> ReportPaths:
    """Write report.html, findings.json, tables.md and tables.tex into the folder `out`; with `evidence` also
    evidence.html, which the items of the report then lead to.

    `readings` is a frame as `leadline.lenses.frame` describes it, `items` maps item ids to what was asked
    (an item without an entry is shown by its id). Everything is made before anything is written, and each
    file is replaced in one step. Raises UsageError when a file is in the folder's place, LeadlineError when
    the folder cannot be written.
    """
    nearest = next(place for place in (out, *out.parents) if place.exists() or place == place.parent)
    if not nearest.is_dir():
        raise UsageError(
            "is a file, where the report's folder should be",
            where=str(nearest),
            fix="move it aside, or name another folder with --out",
        )
    paths = ReportPaths(
        html=out / "report.html",
        findings=out / "findings.json",
        markdown=out / "tables.md",
        latex=out / "tables.tex",
        evidence=out / EVIDENCE if evidence else None,
    )
    page = evidence_page(evidence, document.created) if evidence else None
    html = render_page(document, readings, items, page.items if page else ())
    markdown = markdown_tables(document)
    latex = latex_tables(document)
    write_findings(document, paths.findings)
    write_text(paths.markdown, markdown)
    write_text(paths.latex, latex)
    if page:
        write_text(out / EVIDENCE, page.html)
    elif (out / EVIDENCE).is_file():  # of an earlier report, about other items
        (out / EVIDENCE).unlink()
    write_text(paths.html, html)  # last: whoever waits for the page finds the others beside it
    return paths
