"""Two configurations, wherever they were answered, on the items that both answered: who is right more often?

The figures are those of `transitions`, with the first in the baseline's place, and those of `wobble`. Beside
the difference's bootstrap interval, which is that of every report, stands Tango's score interval: where the
two disagree on few items, resampling them is too sure of itself. Where they disagree on none, both are
Tango's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    counted,
    in_points,
    left_out,
    mean,
    p_value,
    points,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.protocol import Member, Protocol
from leadline.lenses.transitions import Transitions, surface_figures, transitions_of
from leadline.lenses.verdicts import paired, verdicts
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.paired_shares import tango

FIRST, SECOND = "a", "b"


@dataclass(frozen=True)
class Side:
    """Readings of one configuration (columns of `READINGS`): what it is called, and its verdict's votes."""

    label: str
    readings: pl.DataFrame
    vote: int


@dataclass(frozen=True)
class Beside:
    """What came of it. `pairs`: item, `y0`, `ym`, in order of item; `verdicts` of both (columns of
    `VERDICTS`, configuration "a" or "b"); `wobbles` of "a" and "b", each without a value where asked once."""

    pairs: pl.DataFrame
    verdicts: pl.DataFrame
    moved: Transitions
    figures: Mapping[str, Figure]
    wobbles: Mapping[str, Mapping[str, Figure]]
    claim: Claim
    notes: tuple[str, ...] = ()

    @property
    def flips(self) -> pl.DataFrame:
        """The pairs of which one side alone is right."""
        return self.pairs.filter(pl.col("y0") != pl.col("ym"))


def side_by_side(first: Side, second: Side, protocol: Protocol) -> Beside:
    """Compare `second` with `first` on the items that both answered. `protocol`: how the bootstrap draws."""
    readings = pl.concat([_named(first, FIRST), _named(second, SECOND)])
    table = verdicts(readings, {FIRST: first.vote, SECOND: second.vote})
    pairs = paired(table, FIRST, SECOND).select("item", "category", "task", "y0", "ym")
    moved = transitions_of(pairs)
    figures = _figures(moved, protocol)
    panel = make_panel(
        readings.filter(pl.col("item").is_in(pairs["item"].to_list())),
        [Member("", FIRST), Member("", SECOND)],
    )
    wobbles = {
        name: _wobble(panel, place, protocol) for place, name in enumerate((FIRST, SECOND)) if pairs.height
    }
    return Beside(
        pairs=pairs,
        verdicts=table,
        moved=moved,
        figures=figures,
        wobbles=wobbles,
        claim=_claim(first.label, second.label, moved, figures),
        notes=tuple(_notes(panel, (first, second))) if pairs.height else (),
    )


def _named(side: Side, name: str) -> pl.DataFrame:
    return side.readings.with_columns(pl.lit("").alias("model"), pl.lit(name).alias("configuration"))


def _figures(moved: Transitions, protocol: Protocol) -> dict[str, Figure]:
    figures = surface_figures(moved, protocol)
    if moved.items == 0:
        return figures | {key: unknown("no items", 0) for key in ("difference_score", "mcnemar_p")}
    low, high = tango(moved.broken, moved.recovered, moved.items)
    by_score = Figure(
        value=moved.net / moved.items,
        numerator=moved.net,
        denominator=moved.items,
        low=low,
        high=high,
        method="Tango's score interval",
    )
    p = mcnemar_exact(moved.recovered, moved.broken)
    tested = p_value(p, "exact mcnemar", moved.recovered + moved.broken)
    return {**figures, "difference_score": by_score, "mcnemar_p": tested}


def _wobble(panel: Panel, place: int, protocol: Protocol) -> dict[str, Figure]:
    """Wobble and pairwise disagreement over the paired items; not told of what was asked once."""
    n = panel.n[place]
    if not (n >= 2).any():
        once = unknown("asked once", 0)
        return {"wobble": once, "pairwise": once}
    disagreement = panel.disagreement[place]
    return {
        "wobble": share(
            int(panel.unstable[place].sum()),
            int(panel.measured[place].sum()),
            note=left_out(int(panel.once[place].sum())),
        ),
        "pairwise": mean(disagreement[~np.isnan(disagreement)], protocol),
    }


def _notes(panel: Panel, sides: Sequence[Side]) -> list[str]:
    most = [int(row.max(initial=0)) for row in panel.n]
    if min(most) < 2 or most[0] == most[1]:
        return []
    return [
        f"Wobble rises with the number of answers, and the sides have up to {most[0]} and {most[1]} of an "
        "item: compare the pairwise disagreement, which does not."
    ]


def _claim(first: str, second: str, moved: Transitions, figures: Mapping[str, Figure]) -> Claim:
    """Who is right more often, in one sentence. Supported as everywhere: the interval leaves out zero and the
    exact p is at most 0.05."""
    if moved.items == 0:
        return Claim(
            text=f"{second} against {first}: no item was answered by both.", status=ClaimStatus.NOT_ESTIMABLE
        )
    if smallest_p(moved.items) > SIGNIFICANCE:
        text = f"{second} against {first}: no result on {moved.items} items could tell them apart."
        return Claim(text=text, status=ClaimStatus.UNREACHABLE)
    difference, p = figures["difference"], figures["mcnemar_p"].value or 0.0
    cautious = figures["difference_score"]
    ahead, behind, sign = (second, first, 1) if moved.net >= 0 else (first, second, -1)
    of_ahead, of_behind = (
        (figures["acc"], figures["acc_baseline"]) if sign > 0 else (figures["acc_baseline"], figures["acc"])
    )
    gained, lost = (moved.recovered, moved.broken) if sign > 0 else (moved.broken, moved.recovered)
    turned = _turned(difference, sign)
    evidence = (
        f"{counted(of_ahead)} against {counted(of_behind)}, {points(turned)}, "
        f"{gained} item{'' if gained == 1 else 's'} won and {lost} lost, exact McNemar p {_p(p)}"
    )
    clear = p <= SIGNIFICANCE and above_zero(turned) and above_zero(_turned(cautious, sign))
    if clear:
        least = min(_turned(one, sign).low or 0.0 for one in (difference, cautious))
        return Claim(
            text=f"{ahead} is right more often than {behind}: {evidence}.",
            status=ClaimStatus.SUPPORTED,
            point=points(turned),
            conservative=f"at least {in_points(least)}",
        )
    ends = [
        end for one in (turned, _turned(cautious, sign)) for end in (one.low, one.high) if end is not None
    ]
    more = abs(moved.net)
    named = (
        f"{ahead} gets {more} item{'' if more == 1 else 's'} more right than {behind}, which may be chance"
        if more
        else f"{second} and {first} get equally many right"
    )
    return Claim(
        text=f"{named}: {evidence}.",
        status=ClaimStatus.NOT_SUPPORTED,
        point=points(turned),
        conservative=f"anything from {in_points(min(ends))} to {in_points(max(ends))} may be true",
    )


def _turned(difference: Figure, sign: int) -> Figure:
    """The difference the other way round, where the first is ahead."""
    if sign > 0 or difference.value is None:
        return difference
    low, high = difference.low, difference.high
    return difference.model_copy(
        update={
            "value": 0.0 - difference.value,
            "low": None if high is None else 0.0 - high,
            "high": None if low is None else 0.0 - low,
        }
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
