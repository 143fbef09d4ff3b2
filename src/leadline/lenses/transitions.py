"""What a method recovers and what it breaks, against the same model's baseline.

D0 = items that the baseline gets wrong, D1 = items that it gets right. Gain = share of D0 that the method
gets right, Loss = share of D1 that it gets wrong, so that Acc_m = Acc_0 + Gain·(1-Acc_0) - Loss·Acc_0.
Source: MAPLE, section 3.2, eqs. 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    below_zero,
    count,
    in_points,
    mean_difference,
    p_value,
    points,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.groups import GroupCount, group_label, groups, worst_category
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import Lens
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm

DEFINITION = (
    "Gain: share of the baseline's failures that the method answers correctly. Loss: share of the baseline's "
    "successes that it answers incorrectly. Acc = Acc of the baseline + Gain × (1 - Acc of the baseline) "
    "- Loss × Acc of the baseline, over the items that both answered."
)


@dataclass(frozen=True)
class Transitions:
    """How many items moved: failures (d0), recovered among them; successes (d1), broken among them."""

    d0: int
    recovered: int
    d1: int
    broken: int

    @property
    def items(self) -> int:
        """Items that both answered."""
        return self.d0 + self.d1

    @property
    def net(self) -> int:
        """Recovered minus broken."""
        return self.recovered - self.broken


def transitions_of(pairs: pl.DataFrame) -> Transitions:
    """Count the moves in a frame with the columns `y0` and `ym`."""
    d1 = int(pairs["y0"].sum())
    return Transitions(
        d0=pairs.height - d1,
        recovered=int((~pairs["y0"] & pairs["ym"]).sum()),
        d1=d1,
        broken=int((pairs["y0"] & ~pairs["ym"]).sum()),
    )


def look(view: View) -> list[Finding]:
    """Findings `overall`, `by category` and `by task`; none where nothing is compared with a baseline."""
    if not view.compares:
        return []
    compared = {
        method.name: view.paired(method)
        for method in view.protocol.methods
        if view.has(method.name) and view.has(view.protocol.baseline)
    }
    found = [_overall(view, compared)]
    for by in ("category", "task"):
        if rows := _grouped(view, compared, by):
            found.append(rows)
    return found


def _overall(view: View, compared: dict[str, pl.DataFrame]) -> Finding:
    moves = {name: transitions_of(pairs) for name, pairs in compared.items()}
    tested = [name for name, moved in moves.items() if moved.items]
    corrected = dict(
        zip(
            tested,
            holm([mcnemar_exact(moves[name].recovered, moves[name].broken) for name in tested]),
            strict=True,
        )
    )
    rows, claims, notes = [], [], []
    for name, moved in moves.items():
        figures = surface_figures(moved, view.protocol)
        figures |= _tests(moved, corrected.get(name), len(tested))
        rows.append(Row(keys={"method": name}, figures=figures))
        label = view.protocol.label(name)
        claims.append(_claim(label, moved, figures, len(tested)))
        if left_out := view.items - moved.items:
            notes.append(
                f"{label}: {left_out} of {view.items} items are left out, the baseline or the method has no "
                "answer to them."
            )
    notes += [
        f"{method.called}: no readings, not compared."
        for method in view.protocol.methods
        if method.name not in compared
    ]
    return Finding(
        lens="transitions",
        table="overall",
        model=view.model,
        title="What each method recovers and what it breaks",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def _grouped(view: View, compared: dict[str, pl.DataFrame], by: str) -> Finding | None:
    rows, claims = [], []
    label = group_label(view.protocol, by)
    for name, pairs in compared.items():
        losses = []
        for group in groups(pairs, by):
            moved = transitions_of(group.rows)
            figures = surface_figures(moved, view.protocol)
            if by == "category":
                figures["tasks"] = count(group.tasks)
            rows.append(Row(keys={by: group.name, "method": name}, figures=figures))
            losses.append(GroupCount(group.name, moved.broken, moved.d1, group.tasks))
        if by == "category" and losses:
            claims.append(worst_category(f"the Loss of {view.protocol.label(name)}", losses, view.protocol))
    if not rows:
        return None
    rows.sort(key=lambda row: row.keys[by])  # stable: methods keep their order within a group
    return Finding(
        lens="transitions",
        table=f"by {by}",
        model=view.model,
        title=f"Gain and Loss by {label}",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=("Small groups have wide intervals: read the interval, not the rate.",),
    )


def surface_figures(moved: Transitions, protocol: Protocol) -> dict[str, Figure]:
    """The figures of one comparison, without its tests."""
    n = moved.items
    # One number per item: +1 recovered, -1 broken, 0 unmoved. Its mean is the difference in accuracy.
    steps = np.repeat([1.0, -1.0, 0.0], [moved.recovered, moved.broken, n - moved.recovered - moved.broken])
    difference = mean_difference(steps, protocol)
    return {
        "acc": share(moved.d1 - moved.broken + moved.recovered, n),
        "acc_baseline": share(moved.d1, n),
        "gain": share(moved.recovered, moved.d0, empty="the baseline has no failure to recover"),
        "loss": share(moved.broken, moved.d1, empty="the baseline has no success to break"),
        "difference": difference,
        "net": _net(moved, difference),
    }


def _net(moved: Transitions, difference: Figure) -> Figure:
    if difference.value is None or difference.low is None or difference.high is None:
        return unknown("no items", 0)
    n = moved.items
    return Figure(
        value=moved.net,
        numerator=moved.net,
        denominator=n,
        low=difference.low * n,
        high=difference.high * n,
        method=difference.method,
        note=f"{moved.recovered} recovered - {moved.broken} broken",
    )


def _tests(moved: Transitions, corrected: float | None, compared: int) -> dict[str, Figure]:
    if corrected is None:
        return {key: unknown("no items", 0) for key in ("mcnemar_p", "mcnemar_p_holm")}
    disputed = moved.recovered + moved.broken
    p = mcnemar_exact(moved.recovered, moved.broken)
    return {
        "mcnemar_p": p_value(p, "exact mcnemar", disputed),
        "mcnemar_p_holm": p_value(corrected, f"exact mcnemar, holm over {compared} methods", disputed),
    }


def _claim(name: str, moved: Transitions, figures: dict[str, Figure], compared: int) -> Claim:
    """Whether the method may be said to recover more than it breaks (or the reverse)."""
    more = f"{name} recovers more than it breaks"
    if moved.items == 0:
        return Claim(text=f"{more}: no item was answered by both.", status=ClaimStatus.NOT_ESTIMABLE)
    if moved.d0 == 0:
        return Claim(
            text=f"{more}: the baseline has no failure to recover.", status=ClaimStatus.NOT_ESTIMABLE
        )
    if smallest_p(moved.items) * compared > SIGNIFICANCE:
        return Claim(
            text=f"{more}: with {moved.items} items and {compared} methods no result could support this.",
            status=ClaimStatus.UNREACHABLE,
        )
    p = figures["mcnemar_p_holm"].value
    difference = figures["difference"]
    evidence = (
        f"{moved.recovered} recovered, {moved.broken} broken of {moved.items} items, accuracy "
        f"{points(difference)}, exact McNemar p = {p:.3g} after Holm over {compared} methods."
    )
    significant = p is not None and p <= SIGNIFICANCE
    point = f"{in_points(difference.value)} of accuracy"
    if significant and below_zero(difference):
        return Claim(
            text=f"{name} breaks more than it recovers: {evidence}",
            status=ClaimStatus.SUPPORTED,
            point=point,
            conservative=f"{in_points(difference.high)} at the interval's upper end",
        )
    supported = significant and above_zero(difference)
    return Claim(
        text=f"{more}: {evidence}",
        status=ClaimStatus.SUPPORTED if supported else ClaimStatus.NOT_SUPPORTED,
        point=point,
        conservative=f"{in_points(difference.low)} at the interval's lower end",
    )


LENS = Lens("transitions", order=20, look=look)
