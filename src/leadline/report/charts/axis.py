"""Where ticks go: round numbers, few of them."""

from __future__ import annotations

import math

from leadline.report.document import FindingsDocument

# Steps in which readers count in percent.
LEAST = 0.05
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


def ticks(top: float, most: int = 5) -> list[float]:
    """Round values from 0 up to at most `top` (a share), no more than `most` beside the 0."""
    step = next((step for step in _STEPS if top / step <= most), 1.0)
    return [step * place for place in range(math.floor(top / step + 1e-9) + 1)]


def reach(document: FindingsDocument, lens: str, table: str, keys: tuple[str, ...]) -> float:
    """How far an axis must go to hold these shares and their intervals, for every model alike.

    Charts that are compared with one another share their scale. It is never so short that noise looms.
    """
    ends = [
        end
        for finding in document.findings
        if (finding.lens, finding.table) == (lens, table)
        for row in finding.rows
        for key in keys
        if key in row.figures
        for end in (row.figures[key].value, row.figures[key].high)
        if end is not None
    ]
    return min(1.0, max([LEAST, *ends]))
