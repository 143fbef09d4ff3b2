"""An audit as a table with one row per item, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from leadline.audit.document import AuditDocument, ItemVerdict
from leadline.report.audit_words import SCOPE, failure_name, self_test_line

COLUMNS = (
    "item", "task", "category", "answer_type", "where", "flagged", "failure", "quote_in_window",
    "quote_in_source", "state", "route", "source", "answer_in_window", "derivation", "missing_spans",
    "nearest_text", "similarity", "reasons", "remarks", "benchmark", "version", "content_hash",
    "items_in_benchmark", "scope",
)  # fmt: skip
# Control characters but for line breaks and tabs, signs that turn the direction of writing, halves of
# characters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# A spreadsheet reads a cell that begins so as a formula; the full-width forms too, in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def audit_csv(document: AuditDocument) -> str:
    """Lines end as RFC 4180 has it. Cells with several entries put them on lines of their own.

    A cell that a spreadsheet would take for a formula begins with an apostrophe. When the self-test failed,
    there is one row without an item, which says so.
    """
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    whole = document.benchmark
    about = [whole.name, whole.version, whole.content_hash, str(whole.items), SCOPE]
    if not document.self_test.passed:
        lacking = [""] * (len(COLUMNS) - len(about) - 2)
        writer.writerow(
            [*map(spreadsheet_safe, [*lacking, f"{self_test_line(document)}; no verdicts", "", *about])]
        )
    for verdict in document.items:
        writer.writerow([*map(spreadsheet_safe, [*_row(verdict), *about])])
    return sink.getvalue()


def _row(verdict: ItemVerdict) -> list[str]:
    missing = [span for span in verdict.spans if span.required and span.in_window is None]
    checked = verdict.quote_in_window is not None
    return [
        verdict.item,
        verdict.task,
        verdict.category,
        verdict.answer_type,
        verdict.where,
        "yes" if verdict.flagged else "no",
        failure_name(verdict),
        _said(verdict.quote_in_window),
        _said(verdict.quote_in_source),
        verdict.state.value,
        verdict.route.value,
        verdict.source,
        verdict.answer_in_window.value,
        verdict.derivation,
        _lines([span.text for span in missing] if checked else []),
        _lines([span.nearest for span in missing if span.nearest]),
        _lines([f"{span.similarity:.2f}" for span in missing if span.similarity is not None]),
        _lines(verdict.reasons),
        _lines(verdict.remarks),
    ]


def _said(verdict: bool | None) -> str:
    return {True: "yes", False: "no", None: "not checkable"}[verdict]


def _lines(entries: Sequence[str]) -> str:
    return "\n".join(entries)


def spreadsheet_safe(cell: str) -> str:
    """Neutralise formulas, also behind spaces and line breaks, which some programs skip; and characters that
    a terminal or an editor would obey."""
    cell = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", cell.replace("\r\n", "\n"))
    begins = cell.startswith(_FORMULA) or cell.lstrip().startswith(_FORMULA)
    return f"'{cell}" if begins else cell
