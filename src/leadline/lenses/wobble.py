"""Is the answer steady when asked again?

n_i = readings in state ok of an item, m_i = how often its most frequent value occurs. An item is unstable
when m_i < n_i. Wobble = share of measured items (n_i ≥ 1) that are unstable. Dispersion = mean 1 - m_i/n_i.
Pairwise = mean over items of 1 - Σ c(c-1) / (n(n-1)), c the count of each value: the chance that two readings
of an item disagree. Rarefied = mean over items of 1 - Σ C(c, m) / C(n, m): the wobble that m readings of each
item would show, for an m common to the configurations compared.
Sources: Probity, section 4 (wobble, dispersion); S. H. Hurlbert, Ecology 52 (1971) 577–586 (rarefaction);
E. H. Simpson, Nature 163 (1949) 688 (the pairwise form).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import gammaln

from leadline.lenses.figures import count, mean, ratio, share, unknown
from leadline.lenses.finding import Figure, Finding, Row
from leadline.lenses.groups import (
    TASKS_FOR_A_RATE,
    Group,
    GroupCount,
    group_label,
    groups,
    worst_category,
)
from leadline.lenses.registry import Lens
from leadline.lenses.verdicts import KEYS, verdicts
from leadline.lenses.view import View

DEFINITION = (
    "Wobble: share of measured items whose readable answers are not all the same. Dispersion: mean share of "
    "an item's readings that differ from its most frequent value. Pairwise: chance that two readings of an "
    "item disagree. Rarefied: the wobble that m readings of each item would show. Response rate: readable "
    "answers over answers asked for. Accuracy (majority over the same readings) stands beside them, "
    "never in them."
)
# The common m of rarefaction keeps at least this share of each configuration's items; the rest have too few
# readings and are left out, since a single item with two readings would otherwise force m = 2 on all.
_KEPT = 0.95


def look(view: View) -> list[Finding]:
    """Findings `overall`, `by category` and `by task`; none when nothing was asked twice."""
    names = dict.fromkeys([view.protocol.baseline, *(method.name for method in view.protocol.methods)])
    ballots = count_values(view.readings.filter(pl.col("configuration").is_in(list(names))))
    steadiness = per_item(ballots)
    repeated = set(steadiness.filter(pl.col("n") >= 2)["configuration"].unique())
    sampled = [name for name in names if name in repeated]
    if not sampled:
        return []
    steadiness = steadiness.filter(pl.col("configuration").is_in(sampled))
    m = common_readings(steadiness)
    steadiness = steadiness.join(rarefied(ballots, m), on=KEYS, how="left")
    found = [_overall(view, sampled, steadiness, m)]
    for by in ("category", "task"):
        if grouped := _grouped(view, sampled, steadiness, by):
            found.append(grouped)
    return found


def count_values(readings: pl.DataFrame) -> pl.DataFrame:
    """How often each value occurs: model, configuration, item, value, category, task, `c`."""
    return (
        readings.lazy()
        .filter((pl.col("state") == "ok") & pl.col("value").is_not_null())
        .group_by([*KEYS, "value"])
        .agg(pl.len().cast(pl.Int64).alias("c"), pl.col("category", "task").first())
        .sort("c")  # sums of fractions over an item's counts then come out the same to the last digit
        .collect()
    )


def per_item(ballots: pl.DataFrame) -> pl.DataFrame:
    """Per measured item: `n` readings, `top` with the most frequent value, ordered `pairs` that agree."""
    return ballots.group_by(KEYS).agg(
        pl.col("category", "task").first().fill_null(""),
        pl.col("c").sum().alias("n"),
        pl.col("c").max().alias("top"),
        (pl.col("c") * (pl.col("c") - 1)).sum().alias("pairs"),
    )


def common_readings(steadiness: pl.DataFrame) -> int:
    """The largest m that at least 95% of each configuration's items (of two or more readings) have."""
    lowest = (
        steadiness.filter(pl.col("n") >= 2)
        .group_by("configuration")
        .agg(pl.col("n").quantile(1 - _KEPT, interpolation="lower"))
    )
    return int(lowest["n"].to_numpy().min())


def rarefied(ballots: pl.DataFrame, m: int) -> pl.DataFrame:
    """Per item with at least `m` readings: `flips`, the chance that `m` of them are not all the same."""
    counted = ballots.with_columns(pl.col("c").sum().over(KEYS).alias("n")).filter(pl.col("n") >= m)
    c, n = (counted[name].to_numpy().astype(np.float64) for name in ("c", "n"))
    same = np.zeros_like(c)
    enough = c >= m
    # C(c, m) / C(n, m) through logarithms, as the binomials themselves overflow; exactly 1 where c = n.
    same[enough] = np.exp(
        gammaln(c[enough] + 1)
        - gammaln(c[enough] - m + 1)
        - (gammaln(n[enough] + 1) - gammaln(n[enough] - m + 1))
    )
    return (
        counted.with_columns(pl.Series("same", same))
        .group_by(KEYS)
        .agg((1 - pl.col("same").sum()).clip(0, 1).alias("flips"))
    )


def _overall(view: View, sampled: list[str], steadiness: pl.DataFrame, m: int) -> Finding:
    everything = int(view.readings["sample"].max() or 0) + 1  # type: ignore[arg-type]  # an integer column
    table = verdicts(view.readings, dict.fromkeys(sampled, everything))
    rows, notes = [], []
    for name in sampled:
        label = view.protocol.label(name)
        items = steadiness.filter(pl.col("configuration") == name)
        asked = table.filter(pl.col("configuration") == name)
        figures = steadiness_figures(view, items, m)
        figures["response_rate"] = ratio(
            asked["ok"].to_numpy(), asked["asked"].to_numpy(), view.protocol, empty="nothing was asked"
        )
        measured = asked.filter(pl.col("ok") > 0)
        figures["acc"] = share(int(measured["correct"].sum()), measured.height)
        rows.append(Row(keys={"configuration": name}, figures=figures))
        if unmeasured := asked.height - items.height:
            notes.append(f"{label}: {unmeasured} of {asked.height} items have no readable answer, left out.")
        n = items["n"].to_numpy()
        if n.min() != n.max():
            notes.append(
                f"{label}: items have {n.min()} to {n.max()} readable answers; fewer answers have fewer "
                "chances to differ, so compare by the rarefied or the pairwise figure."
            )
    return Finding(
        lens="wobble",
        table="overall",
        model=view.model,
        title="Is the answer steady when asked again?",
        definition=DEFINITION,
        rows=tuple(rows),
        notes=(*notes, "The samples that split shallow from deep are left out: only failures were asked."),
    )


def _grouped(view: View, sampled: list[str], steadiness: pl.DataFrame, by: str) -> Finding | None:
    rows, claims = [], []
    has_tasks = bool((steadiness["task"] != "").any())
    for name in sampled:
        unsteady = []
        for group in groups(steadiness.filter(pl.col("configuration") == name), by):
            unstable = int((group.rows["top"] < group.rows["n"]).sum())
            figures = {"wobble": _group_rate(group, unstable, by, has_tasks)}
            if by == "category":
                figures["tasks"] = count(group.tasks)
            rows.append(Row(keys={by: group.name, "configuration": name}, figures=figures))
            unsteady.append(GroupCount(group.name, unstable, group.rows.height, group.tasks))
        if by == "category" and unsteady:
            claims.append(
                worst_category(f"the wobble of {view.protocol.label(name)}", unsteady, view.protocol)
            )
    if not rows:
        return None
    rows.sort(key=lambda row: row.keys[by])  # stable: configurations keep their order within a group
    return Finding(
        lens="wobble",
        table=f"by {by}",
        model=view.model,
        title=f"Wobble by {group_label(view.protocol, by)}",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=("The benchmark declares no tasks, so none could be counted.",) if not has_tasks else (),
    )


def _group_rate(group: Group, unstable: int, by: str, has_tasks: bool) -> Figure:
    if by == "category" and has_tasks and group.tasks < TASKS_FOR_A_RATE:
        note = f"{group.tasks} tasks, at least {TASKS_FOR_A_RATE} are needed"
        return Figure(value=None, numerator=unstable, denominator=group.rows.height, note=note)
    return share(unstable, group.rows.height)


def steadiness_figures(view: View, items: pl.DataFrame, m: int) -> dict[str, Figure]:
    """The figures of one configuration's measured items (columns of `per_item`, and `flips`)."""
    n, top = (items[name].to_numpy().astype(np.float64) for name in ("n", "top"))
    repeated = items.filter(pl.col("n") >= 2)
    pairs, of = (repeated[name].to_numpy().astype(np.float64) for name in ("pairs", "n"))
    flips = items["flips"].drop_nulls().to_numpy()
    left_out = items.height - len(flips)
    note = f"m = {m}" + (f", items with fewer readings left out: {left_out}" if left_out else "")
    return {
        "wobble": share(int((top < n).sum()), items.height),
        "dispersion": mean(np.sort(1 - top / n), view.protocol),
        "rarefied": mean(np.sort(flips), view.protocol, note=note),
        "pairwise": mean(np.sort(1 - pairs / (of * (of - 1))), view.protocol)
        if repeated.height
        else unknown("no item has two readings", 0),
    }


LENS = Lens("wobble", order=50, look=look)
