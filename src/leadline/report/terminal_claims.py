"""The claims of a report on a terminal: how many of each status, and all of them as a table."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.registry import ALL_MODELS
from leadline.report.claims import LEAD, ClaimGroup, claim_counts, claim_groups
from leadline.report.document import FindingsDocument
from leadline.report.labels import spelt_out
from leadline.report.terminal_text import safe

# As many supported sentences as stand on a screen beside the headline; `--claims` prints the rest.
MOST = 8
# Sentences are read best in lines of no more columns, however wide the terminal is.
WIDTH = 100


def claims_summary(document: FindingsDocument) -> RenderableType:
    """The statuses as counts, and the supported claims in words."""
    groups = claim_groups(document)
    lines: list[RenderableType] = [Text(f"Claims: {claim_counts(document)}.", style="bold")]
    supported = next((group for group in groups if group.status == ClaimStatus.SUPPORTED), None)
    if supported is not None:
        lines += [_item(supported, place) for place in range(min(MOST, len(supported.sentences)))]
        if (more := len(supported.sentences) - MOST) > 0:
            lines.append(Text(f"  ... and {more} more supported; --claims prints all."))
    return Constrain(Group(*lines, Text()), WIDTH)


def claims_table(document: FindingsDocument) -> RenderableType:
    """Every claim with its status, what would be quoted, and what is left of it."""
    groups = claim_groups(document)
    if not groups:
        return Text("This study's findings make no claims.")
    shown = (_table(group, len(document.models) > 1) for group in groups)
    return Constrain(Group(Text(LEAD), *shown), WIDTH)


def _item(group: ClaimGroup, place: int) -> RenderableType:
    sentence = group.sentences[place]
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    left = f"  Conservatively: {safe(sentence.conservative)}." if sentence.conservative else ""
    grid.add_row(group.sign, Text.assemble(safe(sentence.text), (left, "dim")))
    return grid


def _table(group: ClaimGroup, several: bool) -> Table:
    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=Text(f"{group.sign} {spelt_out(group.status)} ({len(group.sentences)}). {group.meaning}"),
        title_justify="left",
        title_style="bold",
        expand=True,
    )
    grid.add_column("Claim", ratio=5, overflow="fold")
    grid.add_column("Point estimate", ratio=2, overflow="fold")
    grid.add_column("Conservative reading", ratio=3, overflow="fold")
    for one in group.sentences:
        text = f"{one.model}: {one.text}" if several and one.model != ALL_MODELS else one.text
        grid.add_row(*(Text(safe(words)) for words in (text, one.point, one.conservative)))
    return grid
