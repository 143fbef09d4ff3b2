"""Rows of a chart, kind by kind: prompting techniques, decoding ones, steering ones, sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from leadline.report.charts.svg import Canvas
from leadline.report.document import FindingsDocument

T = TypeVar("T")
HEAD = 24


@dataclass(frozen=True)
class Layout(Generic[T]):
    """Where each row begins, from `top` on, and where each kind's heading stands."""

    rows: tuple[tuple[float, T], ...]
    heads: tuple[tuple[float, str], ...]
    height: float

    def __iter__(self) -> Iterator[tuple[float, T]]:
        return iter(self.rows)

    def draw_heads(self, canvas: Canvas) -> None:
        """Write the headings."""
        for y, words in self.heads:
            canvas.text(0, y + 15, words, "kind-label")


def laid_out(
    document: FindingsDocument, named: Sequence[tuple[str, T]], row: float, top: float = 0.0
) -> Layout[T]:
    """`named` are (method, whatever its row shows), in order. Headings stand where a study has several kinds.

    `height` counts from 0 to the end of the last row.
    """
    kinds = {method.name: method.kind for method in document.protocol.methods}
    several = len({kinds.get(name, "") for name, _ in named}) > 1
    rows: list[tuple[float, T]] = []
    heads: list[tuple[float, str]] = []
    y, last = top, None
    for name, shown in named:
        kind = kinds.get(name, "")
        if several and kind != last and kind:
            heads.append((y, kind))
            y += HEAD
        last = kind
        rows.append((y, shown))
        y += row
    return Layout(tuple(rows), tuple(heads), y)
