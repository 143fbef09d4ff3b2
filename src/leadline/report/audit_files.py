"""An audit in the form that a file's ending asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from leadline.audit.document import AuditDocument
from leadline.errors import UsageError
from leadline.report.atomic import write_text
from leadline.report.audit_gate import Gate, judge
from leadline.report.audit_texts import ItemTexts

Form = Literal["json", "csv", "markdown", "html", "sarif"]
ENDINGS: dict[str, Form] = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".sarif": "sarif",
}


def form_of(path: Path) -> Form:
    """The form that a file's name asks for; "audit.sarif.json" is SARIF. Raises UsageError."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-2:] == [".sarif", ".json"]:
        return "sarif"
    if not suffixes or suffixes[-1] not in ENDINGS:
        raise UsageError(
            f"--out {path}: its ending does not say what to write",
            fix=f"one of {', '.join(ENDINGS)}",
        )
    if path.is_dir():
        raise UsageError("a folder is in the file's place", where=str(path))
    return ENDINGS[suffixes[-1]]


def check_folder(path: Path) -> None:
    """Raises UsageError when the folder that a file is to be written into does not exist."""
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}", fix="make it first")


def rendered(
    document: AuditDocument, form: Form, gate: Gate, root: Path, texts: Mapping[str, ItemTexts]
) -> str:
    """The audit as text of this form. `root` is the repository's root (for SARIF); `texts` holds questions
    and windows of the items that the page shows in full."""
    match form:
        case "json":
            from leadline.report.audit_json import audit_json

            return audit_json(document)
        case "csv":
            from leadline.report.audit_csv import audit_csv

            return audit_csv(document)
        case "sarif":
            from leadline.report.audit_sarif import audit_sarif

            return audit_sarif(document, gate, root)
        case "markdown":
            from leadline.report.audit_markdown import audit_markdown

            verdict = judge(document, gate).sentence if document.self_test.passed else ""
            return audit_markdown(document, verdict)
        case "html":
            from leadline.report.audit_page import audit_page

            return audit_page(document, texts)


def write_audit(
    document: AuditDocument,
    paths: list[Path],
    gate: Gate,
    root: Path,
    texts: Mapping[str, ItemTexts],
) -> None:
    """Make everything first, then write each file whole. Raises UsageError, LeadlineError."""
    made = [(path, rendered(document, form_of(path), gate, root, texts)) for path in paths]
    for path, text in made:
        write_text(path, text)


def repository_root(start: Path) -> Path:
    """The folder that holds .git, from `start` upwards; `start` itself when there is none."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)
