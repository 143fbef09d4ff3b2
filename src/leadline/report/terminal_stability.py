"""How steady the answers of each configuration are, as a compact table for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from leadline.report.document import FindingsDocument
from leadline.report.numbers import printed
from leadline.report.stability import POOLED, Line, by_configuration, pooled, whole
from leadline.report.terminal_text import safe

# The figures of the table and their heads; a column that no configuration has is left out.
COLUMNS = (
    ("wobble", "Wobble"),
    ("wobble_rounding", "Rounding"),
    ("rarefied", "Rarefied"),
    ("acc", "Acc"),
    ("response_rate", "Read"),
)
# More configurations than this are in the report, not on a screen.
MOST = 30


def stability_table(document: FindingsDocument) -> Table | None:
    """Wobble by the study's rule, by rounding, rarefied; accuracy. None where nothing was asked twice."""
    finding = whole(document, "wobble", "overall")
    lines = by_configuration(finding)
    if not lines:
        return None
    together = pooled(finding)
    shown = [*lines[:MOST], *([Line(POOLED, together)] if together and len(lines) > 1 else [])]
    columns = [(key, head) for key, head in COLUMNS if any(key in line.figures for line in shown)]
    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=Text("How steady the answers are (wobble: share of items not always answered alike)"),
        title_justify="left",
        title_style="",
        caption=Text(f"{len(lines) - MOST} more in the report") if len(lines) > MOST else None,
        caption_justify="left",
    )
    grid.add_column("Configuration", overflow="fold")
    for _, head in columns:
        grid.add_column(head, justify="right", overflow="fold")
    for line in shown:
        grid.add_row(Text(safe(line.label)), *(_cell(key, line) for key, _ in columns))
    return grid


def _cell(key: str, line: Line) -> Text:
    """Wobble with its counts and its interval, of the others the value alone: one line a configuration."""
    shown = printed(key, line.figures.get(key))
    return Text(str(shown) if key == "wobble" else shown.value)
