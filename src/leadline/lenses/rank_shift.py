"""Where the gold token went on the failures that a method leaves unrecovered.

D00 = items that baseline and method both get wrong. On these, the rank of the gold answer's first token at
the first answer position under the method (r_m, after its own reshaping of the distribution) is set against
its rank under the baseline (r_0): improved r_m < r_0, tied r_m = r_0, worsened r_m > r_0. The three shares
sum to 1. Of a method with several paths the median rank over its paths counts.
Source: MAPLE, section 3.2, probability level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import SIGNIFICANCE, counted, median, p_value, percent, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.groups import group_label, groups
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.registry import Lens
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact
from leadline.stats.multiple import holm

DEFINITION = (
    "On items that baseline and method both get wrong: share whose gold token stands higher (improved), "
    "equally high (tied) or lower (worsened) in the next-token distribution under the method than under the "
    "baseline. Masked: share whose gold token the method rules out altogether. Median shift: log2 of the "
    "baseline's rank over the method's, positive when the token rises."
)


def look(view: View) -> list[Finding]:
    """Findings `overall`, `by category` and `by task`; with no rows when no method has ranks.

    None where nothing is compared with a baseline, or no gold token was ever probed (recorded answers).
    """
    if not view.compares or not view.readings["gold_rank"].is_not_null().any():
        return []
    notes: list[str] = []
    compared = {
        method.name: shifts
        for method in view.protocol.methods
        if (shifts := _compare(view, method, notes)) is not None
    }
    found = [_overall(view, compared, notes)]
    for by in ("category", "task"):
        rows = [
            Row(keys={by: group.name, "method": name}, figures=shift_figures(group.rows, view.protocol))
            for name, shifts in compared.items()
            for group in groups(shifts, by)
        ]
        if rows:
            rows.sort(key=lambda row: row.keys[by])  # stable: methods keep their order within a group
            label = group_label(view.protocol, by)
            found.append(_finding(view, f"by {by}", f"Rank shift by {label}", rows))
    return found


def gold_ranks(readings: pl.DataFrame, configuration: str, vote: int) -> pl.DataFrame:
    """Per item: median `rank` over the first `vote` samples, `masked` on at least half of them, `token`.

    A token that is ruled out has no place among the others. It stands behind all of them (infinity), however
    few tokens were left in: a smaller number would make ruling it out look like an improvement.
    """
    out = pl.col("gold_masked").fill_null(False)
    return (
        readings.lazy()
        .filter(
            (pl.col("configuration") == configuration)
            & (pl.col("sample") < vote)
            & pl.col("gold_rank").is_not_null()
        )
        .group_by("item")
        .agg(
            pl.when(out).then(pl.lit(float("inf"))).otherwise(pl.col("gold_rank")).median().alias("rank"),
            (out.mean() >= 0.5).alias("masked"),
            pl.col("gold_token").min().alias("token"),
        )
        .collect()
    )


def _compare(view: View, method: Method, notes: list[str]) -> pl.DataFrame | None:
    """D00 with both ranks (`r0`, `rm`), or None, with a note, when the method has no ranks to compare."""
    label = method.called
    if method.is_sampling:
        notes.append(f"{label}: not applicable, temperature does not change the order of the tokens.")
        return None
    ranks_0 = gold_ranks(view.readings, view.protocol.baseline, 1)
    ranks_m = gold_ranks(view.readings, method.name, method.vote)
    if ranks_0.height == 0 or ranks_m.height == 0:
        who = label if ranks_0.height else "the baseline"
        notes.append(f"{label}: not compared, the gold token was not probed under {who}.")
        return None
    unrecovered = view.paired(method).filter(~pl.col("y0") & ~pl.col("ym"))
    shifts = (
        unrecovered.join(
            ranks_0.select("item", pl.col("rank").alias("r0"), pl.col("token").alias("t0")), on="item"
        )
        .join(ranks_m.rename({"rank": "rm", "token": "tm"}), on="item")
        .sort("item")
    )
    if left_out := unrecovered.height - shifts.height:
        notes.append(f"{label}: {left_out} of {unrecovered.height} unrecovered failures have no rank.")
    if other := shifts.filter(pl.col("t0") != pl.col("tm")).height:
        notes.append(
            f"{label}: on {other} of {shifts.height} unrecovered failures the gold answer begins with "
            "another token than under the baseline (a leading space, say)."
        )
    return shifts


def _overall(view: View, compared: dict[str, pl.DataFrame], notes: list[str]) -> Finding:
    moved = {
        name: (
            shifts.filter(pl.col("rm") < pl.col("r0")).height,
            shifts.filter(pl.col("rm") > pl.col("r0")).height,
        )
        for name, shifts in compared.items()
    }
    corrected = holm([mcnemar_exact(up, down) for up, down in moved.values()])
    rows, claims = [], []
    for (name, shifts), p in zip(compared.items(), corrected, strict=True):
        up, down = moved[name]
        figures = shift_figures(shifts, view.protocol)
        figures["sign_p"] = p_value(mcnemar_exact(up, down), "exact sign test", up + down)
        figures["sign_p_holm"] = p_value(p, f"exact sign test, holm over {len(moved)} methods", up + down)
        rows.append(Row(keys={"method": name}, figures=figures))
        claims.append(_claim(view.protocol.label(name), figures, up, down, len(moved)))
    title = "Where the gold token went on unrecovered failures"
    return _finding(view, "overall", title, rows, claims=tuple(claims), notes=tuple(notes))


def shift_figures(shifts: pl.DataFrame, protocol: Protocol) -> dict[str, Figure]:
    """The figures of one method's D00, a frame with the columns `r0`, `rm` and `masked`."""
    r0, rm = shifts["r0"].to_numpy(), shifts["rm"].to_numpy()
    n = len(r0)
    empty = "no unrecovered failure has both ranks"
    return {
        "improved": share(int((rm < r0).sum()), n, empty=empty),
        "tied": share(int((rm == r0).sum()), n, empty=empty),
        "worsened": share(int((rm > r0).sum()), n, empty=empty),
        "masked": share(int(shifts["masked"].sum()), n, empty=empty),
        "median_log2_shift": _median_shift(r0, rm, protocol) if n else unknown(empty, 0),
    }


def _median_shift(r0: npt.NDArray[Any], rm: npt.NDArray[Any], protocol: Protocol) -> Figure:
    """The median of log2(r0 / rm), as far as tokens that are ruled out do not reach it or its interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = median(np.log2(r0 / rm), protocol)
    if found.value is None or not np.isfinite(found.value):
        out = int(np.isinf(rm).sum())
        return unknown(f"{out} of {len(rm)} gold tokens are ruled out: their shift has no size", len(rm))
    if found.low is None or not np.isfinite(found.low):
        note = "no lower end: some resamples have mostly tokens that are ruled out"
        return found.model_copy(update={"low": None, "note": note})
    return found


def _claim(name: str, figures: dict[str, Figure], up: int, down: int, compared: int) -> Claim:
    text = f"{name} moves the gold token up more often than down on the failures that it leaves unrecovered"
    if figures["improved"].value is None:
        return Claim(text=f"{text}: there are none with both ranks.", status=ClaimStatus.NOT_ESTIMABLE)
    p = figures["sign_p_holm"].value
    significant = p is not None and p <= SIGNIFICANCE
    moved = share(down if significant and down > up else up, up + down, empty="no gold token moved")
    if significant and down > up:
        text = text.replace("up more often than down", "down more often than up")
    return Claim(
        text=f"{text}: improved {counted(figures['improved'])}, worsened {counted(figures['worsened'])}, "
        f"exact sign test p = {p:.3g} after Holm over {compared} methods.",
        status=ClaimStatus.SUPPORTED if significant else ClaimStatus.NOT_SUPPORTED,
        point=f"{counted(moved)} of the tokens that moved",
        conservative=f"{percent(moved.low)} of them at Wilson's lower bound, where chance is 50 %"
        if moved.value is not None
        else "no gold token moved",
    )


def _finding(
    view: View,
    table: str,
    title: str,
    rows: list[Row],
    *,
    claims: tuple[Claim, ...] = (),
    notes: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        lens="rank_shift",
        table=table,
        model=view.model,
        title=title,
        definition=DEFINITION,
        rows=tuple(rows),
        claims=claims,
        notes=(
            *notes,
            "A token ruled out (masked) has the worst rank there is, so it counts as worsened; it is counted "
            "apart as well.",
        ),
    )


LENS = Lens("rank_shift", order=30, look=look)
