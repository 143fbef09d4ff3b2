"""Texts and figures as cells of a terminal's table."""

from __future__ import annotations

from rich.text import Text

from leadline.lenses.finding import Figure
from leadline.report.numbers import printed


def safe(text: str) -> str:
    """Text of a study for a terminal, which must not obey what stands in it: no escape code gets through."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def two_lines(key: str, figure: Figure | None) -> Text:
    """A figure on two lines: the value with its counts, and its interval below."""
    text = printed(key, figure)
    counted = f" ({text.counted})" if text.counted else ""
    return Text.assemble(f"{text.value}{counted}", (f"\n{text.interval}" if text.interval else "", "dim"))
