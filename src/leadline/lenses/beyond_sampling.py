"""Does a method recover what the model's own sampling does not reach?

SGR = share of the shallow failures that a method answers correctly, DGR = the same of the deep failures
(see `partition`). Temperatures are judged as methods too, by majority vote over K fresh samples (Seed B), so
that what a method adds can be told from what another draw of samples would have found.
Source: MAPLE, section 3.2, eqs. 5 and 6.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    counted,
    in_points,
    mean,
    mean_difference,
    points,
    share,
    unknown,
)
from leadline.lenses.figures import p_value as p_figure
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.partition import Outcomes, Split, outcomes, split
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import Lens
from leadline.lenses.view import View, beyond_vote
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm

Mask = npt.NDArray[np.bool_]

DEFINITION = (
    "SGR: share of the shallow failures (reached at least once by the partition's K samples) that the method "
    "answers correctly. DGR: the same of the deep failures (never reached). Margin: the method's rate minus "
    "that of the best sampling method, which is judged over fresh samples."
)


def look(view: View) -> list[Finding]:
    """Findings `partition`, `rates` and `sampling rules`; none when the study has no partition samples."""
    splits = [split(view, one) for one in view.protocol.partitions if view.has(one.configuration)]
    if not splits:
        return []
    found = [_partition(view, splits), _rates(view, splits)]
    if rules := _rules(view, splits):
        found.append(rules)
    return found


def _partition(view: View, splits: list[Split]) -> Finding:
    rows, notes = [], []
    for one in splits:
        n, k = len(one.items), one.partition.k
        figures = {
            "shallow": share(int(one.shallow.sum()), n, empty="no failures to split"),
            "deep": share(int(one.deep.sum()), n, empty="no failures to split"),
        }
        rows.append(Row(keys={"temperature": one.temperature}, figures=figures))
        if one.left_out:
            notes.append(
                f"τ = {one.temperature}: {one.left_out} failures have no partition sample, left out."
            )
        if short := int((one.drawn < k).sum()):
            notes.append(f"τ = {one.temperature}: {short} failures have fewer than {k} partition samples.")
    return Finding(
        lens="beyond_sampling",
        table="partition",
        model=view.model,
        title="Shallow and deep failures",
        definition="Of the baseline's failures, those that at least one of the partition's first K samples "
        "answers correctly (shallow) and those that none does (deep). They depend on K and on the "
        "temperature, and say nothing about how hard a fact is.",
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _rates(view: View, splits: list[Split]) -> Finding:
    rows, claims, notes = [], [], []
    label = view.protocol.label
    for one in splits:
        judged = outcomes(view, one.items)
        rates = {
            name: {"sgr": _rate(right, one.shallow, "shallow"), "dgr": _rate(right, one.deep, "deep")}
            for name, right in judged.items()
        }
        sampling = [m.name for m in view.protocol.methods if m.is_sampling and m.name in judged]
        techniques = [m.name for m in view.protocol.methods if not m.is_sampling and m.name in judged]
        if sampling:
            best = {key: _best(rates, sampling, key) for key in ("sgr", "dgr")}
            p_values = holm(
                [
                    mcnemar_exact(*_disputed(judged[name], judged[best["dgr"]], one.deep))
                    for name in techniques
                ]
            )
            for name, p in zip(techniques, p_values, strict=True):
                figures = rates[name]
                for key, where in (("sgr", one.shallow), ("dgr", one.deep)):
                    figures[f"{key}_margin"] = _margin(
                        view, judged[name], judged[best[key]], where, label(best[key])
                    )
                disputed = sum(_disputed(judged[name], judged[best["dgr"]], one.deep))
                method = f"exact mcnemar against {label(best['dgr'])}, holm over {len(techniques)} methods"
                figures["dgr_p_holm"] = p_figure(p, method, disputed)
                reach = smallest_p(int(one.deep.sum())) * len(techniques)
                claims.append(_claim(view.protocol, name, best["dgr"], one, rates, reach))
        else:
            notes.append(f"τ = {one.temperature}: no sampling method to compare with, so no margins.")
        rows += [
            Row(keys={"temperature": one.temperature, "method": name}, figures=figures)
            for name, figures in rates.items()
        ]
        for name, right in judged.items():
            if missing := int(np.isnan(right).sum()):
                notes.append(
                    f"τ = {one.temperature}, {label(name)}: {missing} failures were not answered, left out."
                )
    return Finding(
        lens="beyond_sampling",
        table="rates",
        model=view.model,
        title="Recovery within and beyond the reach of sampling",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def _rules(view: View, splits: list[Split]) -> Finding | None:
    """The rates of the sampling methods when an item counts by majority, in the mean, or by any sample."""
    rows = []
    for one in splits:
        where = {"sgr": one.shallow, "dgr": one.deep}
        asked = pl.DataFrame({"item": one.items}, schema={"item": pl.String})
        for method in view.protocol.methods:
            table = view.beyond_verdicts.filter(
                (pl.col("configuration") == method.name) & (pl.col("answered") > 0)
            )
            if not method.is_sampling or table.height == 0:
                continue
            found = asked.join(table, on="item", how="left", maintain_order="left").select(
                pl.col("correct").cast(pl.Float64).alias("majority"),
                (pl.col("right") / pl.col("answered")).alias("mean"),
                (pl.col("right") > 0).cast(pl.Float64).alias("any"),
            )
            for rule in found.columns:
                right = found[rule].fill_null(float("nan")).to_numpy()
                figures = {
                    key: _mean(view, right, mask) if rule == "mean" else _rate(right, mask, "such")
                    for key, mask in where.items()
                }
                keys = {"temperature": one.temperature, "method": method.name, "rule": rule}
                rows.append(Row(keys=keys, figures=figures))
    if not rows:
        return None
    votes = sorted({beyond_vote(method) for method in view.protocol.methods if method.is_sampling})
    return Finding(
        lens="beyond_sampling",
        table="sampling rules",
        model=view.model,
        title="How much hangs on how samples become a verdict",
        definition="SGR and DGR of the sampling methods when an item counts as recovered by the majority of "
        "its fresh samples, by the share of them that are correct (mean), or by any one of them. The other "
        "tables use the majority; `any` is what a user who can check answers would get.",
        rows=tuple(rows),
        notes=(f"Fresh samples per item: {', '.join(map(str, votes))}.",),
    )


def _rate(right: Outcomes, where: Mask, kind: str) -> Figure:
    counted_over = right[where & ~np.isnan(right)]
    return share(int(counted_over.sum()), len(counted_over), empty=f"no {kind} failures")


def _mean(view: View, right: Outcomes, where: Mask) -> Figure:
    return mean(right[where & ~np.isnan(right)], view.protocol)


def _best(rates: dict[str, dict[str, Figure]], sampling: list[str], key: str) -> str:
    """The sampling method with the highest rate; the first of equals in the protocol's order.

    One that answered none of these failures has no rate, and is beaten by a rate of zero.
    """
    values = {name: rates[name][key].value for name in sampling}
    return max(sampling, key=lambda name: -1.0 if (rate := values[name]) is None else rate)


def _margin(view: View, method: Outcomes, sampling: Outcomes, where: Mask, name: str) -> Figure:
    both = where & ~np.isnan(method) & ~np.isnan(sampling)
    if not both.any():
        return unknown(f"no failures that {name} answered too", 0)
    return mean_difference(method[both] - sampling[both], view.protocol, note=f"against {name}")


def _disputed(method: Outcomes, sampling: Outcomes, where: Mask) -> tuple[int, int]:
    """Items that only the method gets right, and items that only sampling gets right."""
    return int(((method > sampling) & where).sum()), int(((method < sampling) & where).sum())


def _claim(
    protocol: Protocol, name: str, best: str, one: Split, rates: dict[str, dict[str, Figure]], reach: float
) -> Claim:
    """`reach` is the smallest corrected p-value that so many deep failures allow."""
    who, rival = protocol.label(name), protocol.label(best)
    text = f"{who} reaches deep failures (τ = {one.temperature}) beyond what fresh samples reach"
    figures, sampling = rates[name], rates[best]["dgr"]
    margin, p = figures["dgr_margin"], figures["dgr_p_holm"].value
    if margin.value is None:
        return Claim(text=f"{text}: there are no deep failures.", status=ClaimStatus.NOT_ESTIMABLE)
    if reach > SIGNIFICANCE:
        return Claim(
            text=f"{text}: {int(one.deep.sum())} deep failures are too few for any result to support this.",
            status=ClaimStatus.UNREACHABLE,
        )
    supported = above_zero(margin) and p is not None and p <= SIGNIFICANCE
    return Claim(
        text=f"{text}: DGR {counted(figures['dgr'])} against {counted(sampling)} of {rival}, margin "
        f"{points(margin)}, p = {p:.3g} ({figures['dgr_p_holm'].method}).",
        status=ClaimStatus.SUPPORTED if supported else ClaimStatus.NOT_SUPPORTED,
        point=f"DGR {counted(figures['dgr'])}",
        conservative=f"{in_points(margin.low)} over fresh samples at the interval's lower end",
    )


LENS = Lens("beyond_sampling", order=40, look=look)
