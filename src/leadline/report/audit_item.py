"""One audited item on a terminal, in full: its verdicts, its spans, and the window with the spans marked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadline.audit.document import ItemVerdict, Place, SpanCheck
from leadline.report.audit_marks import marked
from leadline.report.audit_terminal import printable
from leadline.report.audit_texts import WINDOW_LIMIT, ItemTexts
from leadline.report.audit_words import failure_name
from leadline.report.numbers import count, plural

_QUOTE = 2_000


def audit_item(verdict: ItemVerdict, texts: ItemTexts | None) -> RenderableType:
    """What rich prints. Found spans stand in the window between «n and n», so that they can be told without
    colour, too; `texts` is None when the item's texts are not at hand."""
    failed = failure_name(verdict)
    title = failed or ("nothing failed, with remarks" if verdict.remarks else "nothing failed")
    facts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(verdict, texts):
        if value:
            facts.add_row(Text(name), Text(printable(value, lines=True)))
    head = Text.assemble(
        (printable(verdict.item), "bold"), "  ", (title, "bold red" if failed else "bold green")
    )
    parts: list[RenderableType] = [head, facts]
    if verdict.spans:
        parts += [Text(), _spans(verdict.spans)]
    if texts is not None and texts.window:
        length = plural(len(texts.window), "character")
        parts += [Text(), Text(f"Window, {length}:", style="dim")]
        parts.append(Padding(_window(texts.window, verdict.spans), (0, 0, 0, 2), expand=False))
    return Stack(*parts)


def _facts(verdict: ItemVerdict, texts: ItemTexts | None) -> list[tuple[str, str]]:
    quotes = texts.quotes if texts else ()
    return [
        ("where", verdict.where),
        ("task", " · ".join(part for part in (verdict.category, verdict.task) if part)),
        ("question", texts.question if texts else ""),
        ("label", f"{texts.answer} ({verdict.answer_type})" if texts else f"({verdict.answer_type})"),
        *(("quote", _shortened(quote)) for quote in quotes),
        ("in window", _said(verdict.quote_in_window, "not checkable")),
        ("in source", f"{verdict.state.value}; source: {verdict.route.value}"),
        ("source", verdict.source),
        ("answer", f"{verdict.answer_in_window.value} in the window"),
        ("derivation", verdict.derivation),
        *(("reason", reason) for reason in verdict.reasons),
        *(("remark", remark) for remark in verdict.remarks),
    ]


def _said(verdict: bool | None, unknown: str) -> str:
    return {True: "the quote is there", False: "the quote is not there", None: unknown}[verdict]


def _shortened(text: str) -> str:
    return text if len(text) <= _QUOTE else f"{text[: _QUOTE - 1]}…"


def _spans(spans: Sequence[SpanCheck]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("span", "in window", "in source", "text"):
        table.add_column(name, overflow="fold", header_style="dim")
    for number, span in enumerate(spans, start=1):
        missing = span.in_window is None and span.required
        text = Text(_shortened(printable(span.text)), style="red" if missing else "")
        if not span.required:
            text.append("  (connective, not required)", style="dim")
        table.add_row(Text(str(number)), Text(place(span.in_window)), Text(place(span.in_source)), text)
        if span.nearest:
            alike = "" if span.similarity is None else f" ({span.similarity:.0%} alike)"
            nearest = Text.assemble(
                (f"nearest in the window{alike}: ", "dim"), _shortened(printable(span.nearest))
            )
            table.add_row(Text(), Text(), Text(), nearest)
    return table


def place(where: Place | None) -> str:
    """Offsets in characters, or a dash where the span was not found."""
    return f"{count(where.start)}–{count(where.end)}" if where else "–"


def _window(window: str, spans: Sequence[SpanCheck]) -> Text:
    text = Text(overflow="fold")
    before: tuple[int, ...] = ()
    for piece in marked(window, spans, WINDOW_LIMIT):
        for number in before:
            if number not in piece.spans:
                text.append(f"{number}»", style="bold green")
        for number in piece.spans:
            if number not in before:
                text.append(f"«{number}", style="bold green")
        if piece.cut:
            text.append(f"\n[{plural(piece.cut, 'character')} left out]\n", style="dim")
        text.append(
            printable(piece.text, lines=True),
            style="reverse" if piece.spans else "underline" if piece.near else "",
        )
        before = piece.spans
    for number in before:
        text.append(f"{number}»", style="bold green")
    return text
