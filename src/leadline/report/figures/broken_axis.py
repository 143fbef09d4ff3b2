"""When an axis may be broken: some values far from the rest, and no interval where the break would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# An empty stretch of at least this share of the axis is worth a break: less would save little room.
WORTH = 1 / 3
# What is left of the empty stretch on both sides, so that no end of an interval touches the break.
LEFT = 0.12


@dataclass(frozen=True)
class Break:
    """The axis shows 0 to `below`, then `above` to its end."""

    below: float
    above: float


def axis_break(intervals: Sequence[tuple[float, float]], top: float) -> Break | None:
    """Where an axis from 0 to `top` is broken, or None.

    `intervals` are the (low, high) of everything drawn. The break lies in the widest stretch between two of
    them that none crosses; the stretch below the lowest is never taken, as bars begin at zero.

    >>> axis_break([(0.01, 0.03), (0.05, 0.10), (0.27, 0.35)], 0.36)
    Break(below=0.1204, above=0.2496)
    >>> axis_break([(0.01, 0.20), (0.05, 0.30), (0.27, 0.35)], 0.36) is None
    True
    """
    reached = -1.0
    widest: tuple[float, float] | None = None
    for low, high in sorted(intervals):
        if reached >= 0 and low > reached and (widest is None or low - reached > widest[1] - widest[0]):
            widest = (reached, low)
        reached = max(reached, high)
    if widest is None or widest[1] - widest[0] < WORTH * top:
        return None
    room = LEFT * (widest[1] - widest[0])
    return Break(round(widest[0] + room, 6), round(widest[1] - room, 6))
