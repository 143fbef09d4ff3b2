"""What a recovered item costs, and what plain sampling recovers for the same money.

Tokens per recovered item = tokens that a method spends on all of D0 / items of D0 that it gets right. Gain at
equal budget: the Gain of a sampling method when it votes over as many of its fresh samples as the method's
generated tokens buy, at the mean price of a sample on the same items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    count,
    counted,
    in_points,
    mean_difference,
    points,
    ratio,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Method
from leadline.lenses.registry import Lens
from leadline.lenses.verdicts import verdicts
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact
from leadline.stats.multiple import holm


def look(view: View) -> list[Finding]:
    """Findings `budget` and `equal budget`; none where nothing is compared with a baseline.

    Without any counted token (recorded answers) there is no `budget`.
    """
    if not view.compares:
        return []
    failures = {
        method.name: view.paired(method).filter(~pl.col("y0"))
        for method in view.protocol.methods
        if view.has(method.name)
    }
    tokens = view.readings.select(pl.col("tokens_out", "tokens_in").fill_null(0).max()).row(0)
    counted_ones = any((most or 0) > 0 for most in tokens)
    return [*([_budget(view, failures)] if counted_ones else []), *_equal_budget(view, failures)]


def _budget(view: View, failures: dict[str, pl.DataFrame]) -> Finding:
    rows = [Row(keys={"method": name}, figures=_cost(view, answered)) for name, answered in failures.items()]
    return Finding(
        lens="beyond_sampling",
        table="budget",
        model=view.model,
        title="What a recovered item costs",
        definition="Tokens spent on all of the baseline's failures, generated (out) and read (in), over the "
        "failures that the method answers correctly. All calls behind an answer count.",
        rows=tuple(rows),
    )


def _cost(view: View, answered: pl.DataFrame) -> dict[str, Figure]:
    recovered = answered["ym"].to_numpy().astype(np.float64)
    figures = {"recovered": count(int(recovered.sum()), answered.height)}
    for key in ("tokens_out", "tokens_in"):
        spent = answered[key].to_numpy().astype(np.float64)
        figures[f"{key}_per_recovered"] = (
            ratio(spent, recovered, view.protocol, empty="nothing was recovered", is_share=False)
            if spent.sum() > 0
            else unknown(
                "tokens were not counted" if answered.height else "no failure was answered", answered.height
            )
        )
    return figures


def _equal_budget(view: View, failures: dict[str, pl.DataFrame]) -> list[Finding]:
    rows, notes = [], []
    compared: dict[tuple[Method, Method], _Comparison] = {}
    for method in view.protocol.methods:
        if method.is_sampling or method.name not in failures:
            continue
        for sampling in view.protocol.methods:
            if sampling.is_sampling and sampling.name in failures:
                found = _bought(view, method, sampling, failures[method.name])
                if isinstance(found, str):
                    notes.append(f"{method.called} against {sampling.called}: {found}.")
                    continue
                compared[method, sampling] = found
                rows.append(
                    Row(keys={"method": method.name, "sampling": sampling.name}, figures=found.figures)
                )
                if found.remark:
                    notes.append(f"{method.called} against {sampling.called}: {found.remark}.")
    if not rows and not notes:
        return []
    return [
        Finding(
            lens="beyond_sampling",
            table="equal budget",
            model=view.model,
            title="What sampling recovers for the same generated tokens",
            definition="Gain of the method, and Gain of sampling by majority vote over as many fresh samples "
            "as the method's generated tokens buy, on the same failures. Difference: method minus sampling.",
            rows=tuple(rows),
            claims=_claims(compared),
            notes=(*notes, "Only generated tokens are set equal; the method may read far more."),
        )
    ]


@dataclass(frozen=True)
class _Comparison:
    figures: dict[str, Figure]
    remark: str
    only_method: int  # failures that the method alone recovers
    only_sampling: int


def _bought(view: View, method: Method, sampling: Method, failures: pl.DataFrame) -> _Comparison | str:
    """The comparison, or why there is none."""
    samples = (
        view.readings.lazy()
        .filter((pl.col("configuration") == sampling.name) & (pl.col("state") != "error"))
        .join(failures.lazy().select("item"), on="item", how="semi")
        .select(
            "model",
            "configuration",
            "item",
            "category",
            "task",
            "sample",
            "state",
            "value",
            "correct",
            "correct_strict",
            "tokens_in",
            "tokens_out",
        )
        .collect()
    )
    both = failures.join(samples.select("item").unique(), on="item", how="semi")
    if both.height == 0:
        return "no failures that both answered"
    price = float(samples["tokens_out"].sum()) / samples.height
    spent = float(both["tokens_out"].sum()) / both.height
    if price == 0 or spent == 0:
        return "tokens were not counted"
    available = int(samples["sample"].n_unique())
    affordable = int(spent / price)
    bought = min(max(affordable, 1), available)
    remark = ""
    if affordable > available:
        remark = f"the budget buys {affordable} samples, only {available} were drawn"
    elif affordable < 1:
        remark = "the method costs less than one sample, sampling is given one"
    voted = verdicts(samples, {sampling.name: bought}).select("item", pl.col("correct").alias("ys"))
    judged = both.join(voted, on="item").sort("item")
    ym, ys = (judged[key].to_numpy().astype(np.float64) for key in ("ym", "ys"))
    n = judged.height
    figures = {
        "samples_bought": count(bought, available, note=remark),
        "gain": share(int(ym.sum()), n),
        "gain_equal_budget": share(int(ys.sum()), n),
        "difference": mean_difference(ym - ys, view.protocol),
    }
    return _Comparison(figures, remark, int((ym > ys).sum()), int((ym < ys).sum()))


def _claims(compared: dict[tuple[Method, Method], _Comparison]) -> tuple[Claim, ...]:
    """One claim per method, against the temperature that recovers most for the money."""
    tests = [mcnemar_exact(each.only_method, each.only_sampling) for each in compared.values()]
    corrected = dict(zip(compared, holm(tests), strict=True))
    claims = []
    for method in dict.fromkeys(method for method, _ in compared):
        rivals = [sampling for one, sampling in compared if one == method]
        best = max(rivals, key=lambda one: compared[method, one].figures["gain_equal_budget"].value or 0.0)
        figures, p = compared[method, best].figures, corrected[method, best]
        difference = figures["difference"]
        held = above_zero(difference) and p <= SIGNIFICANCE
        claims.append(
            Claim(
                text=f"{method.called} recovers more than sampling at {best.called} does for the same "
                f"generated tokens: {counted(figures['gain'])} against "
                f"{counted(figures['gain_equal_budget'])} of the "
                f"failures, {points(difference)}, exact McNemar p = {p:.3g} after Holm over {len(compared)} "
                "comparisons.",
                status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
                point=f"{in_points(difference.value)} of Gain",
                conservative=f"{in_points(difference.low)} at the interval's lower end",
            )
        )
    return tuple(claims)


LENS = Lens("beyond_sampling", order=42, look=look)
