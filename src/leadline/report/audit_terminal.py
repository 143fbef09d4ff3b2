"""An audit on a terminal: the self-test, the counts, the flagged items, what may not be claimed."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadline.audit.document import AuditDocument, ItemVerdict
from leadline.report.audit_summary import Breakdown, Group, summary
from leadline.report.audit_words import (
    NO_CLAIMS,
    failure_name,
    first_reason,
    not_checked,
    nothing_checked,
    population,
    self_test_line,
)
from leadline.report.labels import spelt_out
from leadline.report.numbers import count, plural, printed

# Flagged items that are listed unless more are asked for.
LISTED = 10
_REASON = 320
# A table with more rows than this is left to the files.
_ROWS = 12


def audit_summary(document: AuditDocument, listed: int = LISTED, by_group: bool = True) -> RenderableType:
    """What rich prints: at most `listed` flagged items. No counts when the self-test failed.

    The tables by category and answer type are left out without `by_group`; the longer one by task also when
    nothing was flagged and everything could be checked.

    Nothing in the texts of items reaches the terminal as a control code or as markup.
    """
    parts: list[RenderableType] = [audit_head(document), Text()]
    unchecked = not_checked(document)
    if not document.self_test.passed:
        return Stack(*parts, Text(unchecked, style="bold"))
    found = summary(document)
    flagged = f"Flagged: {printed('flagged', found.flagged)}"
    parts.append(Text(spelt_out(nothing_checked(document)) or flagged, style="bold"))
    if unchecked:
        parts.append(Text(unchecked))
    parts += [Text(), _breakdowns(found.breakdowns), Text()]
    tells = bool(unchecked or found.flagged.numerator)
    for title, groups in found.groups if by_group else ():
        parts += [] if title == "task" and not tells else [_groups(title, groups), Text()]
    parts += _flagged(document.flagged, listed)
    if found.remarked.numerator:
        remarked = plural(int(found.remarked.numerator), "item")
        parts += [Text(f"Remarks on {remarked}: signs for a person to look at, not verdicts.")]
    return Stack(*parts, Text(NO_CLAIMS[0], style="dim"))


def audit_head(document: AuditDocument) -> RenderableType:
    """Who was audited, and whether the checker may be trusted."""
    return Stack(
        Text(printable(population(document)), style="bold"),
        Text(printable(document.benchmark.content_hash), style="dim"),
        Text(),
        *_self_test(document),
    )


def printable(text: str, lines: bool = False) -> str:
    """Text from a file, without anything that a terminal would obey; `lines` keeps its line breaks."""
    text = text.replace("\r\n", "\n")
    kept = "\n" if lines else ""
    return "".join(
        sign if sign.isprintable() or sign in kept else " " if sign in "\n\t\r" else ascii(sign)[1:-1]
        for sign in text
    )


def _self_test(document: AuditDocument) -> list[RenderableType]:
    test = document.self_test
    line = Text(printable(self_test_line(document)), style="bold green" if test.passed else "bold red")
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for trial in test.trials:
        style = "" if trial.right == trial.tried else "red"
        table.add_row(
            Text(printable(trial.name), style=style),
            Text(f"{count(trial.right)}/{count(trial.tried)}" if trial.tried else "not tried", style=style),
        )
        if trial.note:
            table.add_row(Text(f"  {printable(trial.note.removeprefix('not tried: '))}", style="dim"), Text())
        for failure in trial.failures:
            table.add_row(Text(f"  {printable(failure)}", style="red"), Text())
    return [line, table] if test.tried else [line]


def _breakdowns(breakdowns: Sequence[Breakdown]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for entry in breakdowns:
        for place, (name, figure) in enumerate(entry.rows):
            title = f"{entry.title}, of {entry.over}" if place == 0 else ""
            table.add_row(Text(title), Text(name), Text(str(printed("share", figure))))
    return table


def _groups(title: str, groups: tuple[Group, ...]) -> RenderableType:
    if len(groups) > _ROWS:
        shown = [group for group in groups[:_ROWS] if group.flagged.numerator] or list(groups[:_ROWS])
    else:
        shown = list(groups)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(spelt_out(title), overflow="fold")
    table.add_column("Items", justify="right")
    table.add_column("Flagged", justify="right", no_wrap=True)
    table.add_column("Failure types", overflow="fold")
    table.add_column("Not checkable", justify="right", overflow="fold")
    for group in shown:
        kinds = ", ".join(f"{kind} {count(number)}" for kind, number in group.by_failure)
        table.add_row(
            Text(printable(group.name) or "(none)"),
            Text(count(group.items)),
            Text(str(printed("flagged", group.flagged))),
            Text(kinds),
            Text(count(group.unchecked)),
        )
    if len(shown) == len(groups):
        return table
    rest = f"and {count(len(groups) - len(shown))} more; {count(len(groups))} in all"
    return Stack(table, Text(f"… {rest}, which the files (--out) have", style="dim"))


def _flagged(verdicts: Sequence[ItemVerdict], listed: int) -> list[RenderableType]:
    shown = verdicts[:listed]
    parts: list[RenderableType] = []
    for verdict in shown:
        reason = first_reason(verdict)
        reason = reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"
        parts.append(
            Text.assemble(
                ("✗ ", "red"),
                (printable(verdict.item), "bold"),
                f"  {failure_name(verdict)}  ",
                (printable(verdict.where), "dim"),
            )
        )
        parts.append(Padding(Text(printable(reason)), (0, 0, 0, 2), expand=False))
    if len(shown) < len(verdicts):
        rest = count(len(verdicts) - len(shown))
        parts.append(Text(f"… and {rest} more (--list {len(verdicts)} shows all, --item ID one in full)"))
    elif verdicts:
        parts.append(Text("--item ID shows one in full", style="dim"))
    return [*parts, Text()] if parts else []
