"""From findings and readings to something that a person reads: a page, tables, a terminal summary."""

from leadline.report.document import FindingsDocument, load_findings, write_findings
from leadline.report.items import ItemText
from leadline.report.write import ReportPaths, write_report

__all__ = [
    "FindingsDocument",
    "ItemText",
    "ReportPaths",
    "load_findings",
    "write_findings",
    "write_report",
]
