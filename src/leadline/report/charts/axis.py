"""Where ticks go: round numbers, few of them."""

from __future__ import annotations

import math

# Steps in which readers count in percent.
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


def ticks(top: float, most: int = 5) -> list[float]:
    """Round values from 0 up to at most `top` (a share), no more than `most` beside the 0."""
    step = next((step for step in _STEPS if top / step <= most), 1.0)
    return [step * place for place in range(math.floor(top / step + 1e-9) + 1)]


def reach(values: list[float], least: float = 0.05) -> float:
    """How far an axis must go to hold `values` (shares): their maximum, but not so little that noise looms."""
    return min(1.0, max([least, *values]))
