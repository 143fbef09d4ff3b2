"""What `make bench` is held to: each goal, what was measured, how it scattered, and whether it is met.

A benchmark module has `measure(repeats, quick, say) -> list[dict]` and, where it is held to something,
`goals(found) -> list[Goal]`, which makes goals of what it measured (also of what lies in `results/` from
an earlier run). The table of all of them closes `make bench`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Goal:
    """One line of the closing table: how many times faster than what people would use instead.

    `ratio` is their time over ours (dimensionless, larger is better), `low` and `high` its spread: the
    smallest and the largest ratio of the alternating runs, or an interval where a part was measured and
    scaled; `how` says which. `target` is the least ratio that meets the goal; None where a figure is told
    and none was set. `reason` names where it is explained why a goal is not met (a heading of
    docs/performance.md), and may be given for one that is met.
    """

    number: str
    """As it is listed: "1a", "4"."""
    what: str
    against: str
    target: float | None
    ratio: float
    low: float
    high: float
    how: str
    reason: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the ratio reaches the target; None where there is none."""
        return None if self.target is None else self.ratio >= self.target


def spread(theirs: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """The ratio of the medians of alternating runs in seconds, and the least and largest ratio of a pair.

    >>> spread([10.0, 12.0, 11.0], [2.0, 2.0, 2.2])
    (5.5, 5.0, 6.0)
    """
    pairs = [them / us for them, us in zip(theirs, ours, strict=True)]
    ratio = statistics.median(theirs) / statistics.median(ours)
    return ratio, min(*pairs, ratio), max(*pairs, ratio)


def document(goals: Sequence[Goal]) -> list[dict[str, Any]]:
    """The goals as JSON keeps them."""
    return [{**asdict(goal), "met": goal.met} for goal in goals]


def table(goals: Sequence[Goal]) -> Table:
    """Goal, measured ratio with its spread, met or not, and where the reason stands."""
    made = Table(title="Against what people would use instead: their time over ours", show_lines=True)
    made.add_column("")
    made.add_column("what", ratio=3)
    made.add_column("against", ratio=2, overflow="fold")
    for column in ("goal", "measured", "spread"):
        made.add_column(column, justify="right", no_wrap=True)
    made.add_column("met", max_width=20)
    for goal in sorted(goals, key=lambda goal: goal.number):
        met = {True: "yes", False: "no", None: ""}[goal.met]
        made.add_row(
            goal.number,
            f"{goal.what}\n[dim]{goal.how}[/dim]",
            goal.against,
            "" if goal.target is None else f"≥ {goal.target:g}×",
            f"{goal.ratio:.{_digits(goal.ratio)}f}×",
            f"{goal.low:.{_digits(goal.low)}f}–{goal.high:.{_digits(goal.high)}f}",
            f"{met}: {goal.reason}" if met == "no" and goal.reason else met,
        )
    return made


def _digits(ratio: float) -> int:
    return 2 if ratio < 10 else 1 if ratio < 100 else 0
