"""What people's decisions on labels change, as a compact table for a terminal: both readings in one line."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from leadline.lenses.finding import Figure, Finding
from leadline.report.document import FindingsDocument
from leadline.report.labels import figure_label
from leadline.report.numbers import printed
from leadline.report.stability import whole
from leadline.report.terminal_text import safe

COLUMNS = ("acc_labelled", "acc_adjudicated", "acc_change", "wobble_labelled", "wobble_adjudicated")
# More configurations than this are in the report, not on a screen; the pooled one comes first.
MOST = 30


def adjudication_table(document: FindingsDocument) -> Table | None:
    """Accuracy and wobble by the labels as they were, and as people decided. None without decisions."""
    finding = whole(document, "adjudication", "both")
    if finding is None or not finding.rows:
        return None
    more = len(finding.rows) - MOST
    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=Text("What people's decisions on labels change (labelled: without, adjudicated: with them)"),
        title_justify="left",
        title_style="",
        caption=Text(safe(_caption(finding, more))),
        caption_justify="left",
        caption_style="",
    )
    grid.add_column("Configuration", overflow="fold")
    for key in COLUMNS:
        grid.add_column(figure_label(key), justify="right", overflow="fold")
    for row in finding.rows[:MOST]:
        cells = (_cell(key, row.figures.get(key)) for key in COLUMNS)
        grid.add_row(Text(safe(row.keys["configuration"])), *cells)
    return grid


def _caption(finding: Finding, more: int) -> str:
    """What was done, and what it does not show: a change that was chosen never stands alone."""
    rest = [f"{more} more configurations are in the report."] if more > 0 else []
    return " ".join([*rest, *finding.notes[:-1], *(claim.text for claim in finding.claims)])


def _cell(key: str, figure: Figure | None) -> Text:
    """A share with what it was counted over, a change with its interval, so that a line fits a screen."""
    shown = printed(key, figure)
    if key.endswith("_change"):
        return Text(f"{shown.value} {shown.interval}".strip())
    return Text(f"{shown.value} ({shown.counted})" if shown.counted else shown.value)
