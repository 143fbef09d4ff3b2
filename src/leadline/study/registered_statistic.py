"""The statistic of a registered prediction, from readings: one numerator and denominator per cell.

A cell is an item under one configuration of one model. Wobble: 1 where its readable answers are not all the
same. Dispersion: the share of them that differ from the most frequent. Accuracy: 1 where their majority is
correct. Response rate: readable answers over answers asked. Cells are pooled, each with the same weight.
Source: Probity, sections 3 and 5 (pooled cells, bootstrap over items).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from leadline.lenses.finding import Figure
from leadline.lenses.verdicts import KEYS, verdicts
from leadline.stats.bootstrap import DRAWS, Floats, bootstrap_difference, bootstrap_ratio
from leadline.stats.intervals import NO_INTERVAL, Interval, newcombe, wilson
from leadline.study.registration import Sameness, Statistic

SEED = 0
# The bootstrap knows only the spread that it sees: of items that are all alike it makes an interval without
# width. So an interval that takes the cells as independent stands beside it: Wilson's, or Newcombe's of a
# difference. It holds for any mean of values from 0 to 1, since none of them varies more than a share does
# (p(1 - p)); that of dispersion and response rate is wide.
SHARES = ("wobble", "accuracy")  # the cells are 0 or 1
# Of fewer items than this, even the range of all their values holds the median in less than 95 of 100 cases
# (1 - 2 ** (1 - n)), so that no resampling of them can: then the items count as well, each as one case.
FEW_ITEMS = 6
BOOTSTRAP = f"bootstrap over items, {DRAWS} draws, seed {SEED}"


@dataclass(frozen=True)
class Measured:
    """A figure for each way of making an interval; all of them have the same value. `items` and `cells` are
    how many it was measured over, `fewest` the items of the smaller group."""

    figures: tuple[Figure, ...]
    items: int
    cells: int
    fewest: int

    @property
    def value(self) -> float | None:
        """The value, None where there was nothing to measure."""
        return self.figures[0].value


def cells(
    readings: pl.DataFrame,
    statistic: Statistic,
    samples: Mapping[str, int],
    minimum: int = 0,
    sameness: Sameness = "default",
) -> pl.DataFrame:
    """Model, configuration, item, `numerator`, `denominator` of every measured cell, sorted.

    `samples` maps each configuration that counts to the number of its first samples that do. Cells with
    fewer readable answers than `minimum` are left out, of wobble and dispersion also those with one, in which
    nothing can differ. `sameness` is the rule by which numbers are compared.
    """
    limits = pl.DataFrame({"configuration": list(samples), "limit": list(samples.values())})
    counted = readings.join(limits, on="configuration").filter(pl.col("sample") < pl.col("limit"))
    counted = counted.drop("limit")
    if sameness != "default":
        is_number = pl.col("answer_type") == "number"
        counted = counted.with_columns(
            pl.when(is_number).then(pl.col(f"value_{sameness}")).otherwise(pl.col("value")).alias("value")
        )
    if statistic in ("wobble", "dispersion"):
        steady = _counted_values(counted).filter(pl.col("n") >= max(2, minimum))
        differ = pl.col("n") - pl.col("top")
        found = steady.select(
            *KEYS,
            ((differ > 0).cast(pl.Float64) if statistic == "wobble" else differ / pl.col("n")).alias(
                "numerator"
            ),
            pl.lit(1.0).alias("denominator"),
        )
    else:
        table = verdicts(counted, dict(samples)).filter(pl.col("ok") >= minimum)
        if statistic == "accuracy":
            table = table.filter(pl.col("answered") > 0)
            above, below = pl.col("correct"), pl.lit(1)
        else:
            above, below = pl.col("ok"), pl.col("asked")
        found = table.select(
            *KEYS, above.cast(pl.Float64).alias("numerator"), below.cast(pl.Float64).alias("denominator")
        )
    return found.sort(KEYS)


def _counted_values(readings: pl.DataFrame) -> pl.DataFrame:
    """Of every measured cell its readable answers `n`, and `top`, those with the most frequent value."""
    return (
        readings.filter((pl.col("state") == "ok") & pl.col("value").is_not_null())
        .group_by([*KEYS, "value"])
        .agg(pl.len().cast(pl.Int64).alias("c"))
        .group_by(KEYS)
        .agg(pl.col("c").sum().alias("n"), pl.col("c").max().alias("top"))
    )


def pooled(table: pl.DataFrame, statistic: Statistic) -> Measured:
    """Σ numerators / Σ denominators over all cells."""
    above, below = _sums(table)
    value = above / below if below else None
    intervals = {
        name: wilson((value or 0.0) * cases, cases)
        for name, cases in _cases("wilson", statistic, table).items()
    }
    intervals[BOOTSTRAP] = bootstrap_ratio(*_by_item(table), DRAWS, SEED)
    return _measured(value, (above, below), intervals, table)


def less(table: pl.DataFrame, other: pl.DataFrame, statistic: Statistic) -> Measured:
    """The pooled value of some items less that of others, which were drawn independently."""
    first, second = _sums(table), _sums(other)
    both = bool(first[1] and second[1])
    ours, theirs = (_cases("newcombe", statistic, group, table, other) for group in (table, other))
    intervals = {name: _newcombe(first, ours[name], second, theirs[name]) for name in ours}
    intervals[BOOTSTRAP] = (
        bootstrap_difference(_by_item(table), _by_item(other), DRAWS, SEED) if both else NO_INTERVAL
    )
    value = _difference(first, second) if both else None
    note = f"{_counted(*first)} less {_counted(*second)}"
    return _measured(value, (None, None), intervals, table, other, note=note)


def paired(table: pl.DataFrame, reference: pl.DataFrame, statistic: Statistic) -> Measured:
    """The pooled value of the cells less that of the same cells in the reference; others are left out.

    The bootstrap resamples items with both of their sides. Newcombe's interval, which the published repair
    experiment has, takes the two sides as independent; it stands beside it.
    """
    both = table.join(reference, on=KEYS, suffix="_reference").sort(KEYS)
    rate = pl.col("numerator") / pl.col("denominator")
    was = pl.col("numerator_reference") / pl.col("denominator_reference")
    sides = both.select("item", rate.alias("now"), was.alias("was"))
    n = float(sides.height)
    now, before = (float(np.sort(sides[name].to_numpy()).sum()) for name in ("now", "was"))
    per = sides.group_by("item").agg((pl.col("now") - pl.col("was")).sum().alias("d"), pl.len().alias("n"))
    cases = _cases("newcombe", statistic, both)
    intervals = {name: _newcombe((now, n), of, (before, n), of) for name, of in cases.items()}
    intervals[BOOTSTRAP] = (
        bootstrap_ratio(per["d"].to_numpy(), per["n"].to_numpy(), DRAWS, SEED) if n else NO_INTERVAL
    )
    value = _difference((now, n), (before, n)) if n else None
    note = f"{_counted(now, n)} less {_counted(before, n)}"
    return _measured(value, (None, None), intervals, both, note=note)


def _cases(name: str, statistic: Statistic, table: pl.DataFrame, *all_groups: pl.DataFrame) -> dict[str, int]:
    """How many independent cases an interval counts `table` as, by what the interval is called."""
    items = table["item"].n_unique()
    found = {name if statistic in SHARES else f"{name} over cells": table.height}
    groups = all_groups or (table,)
    fewest = min(group["item"].n_unique() for group in groups)
    if fewest < FEW_ITEMS and any(group.height > group["item"].n_unique() for group in groups):
        found[f"{name} over items"] = items
    return found


def _newcombe(
    first: tuple[float, float], first_cases: int, second: tuple[float, float], second_cases: int
) -> Interval:
    """Of two values, each its sums and how many independent cases it counts as."""
    if not (first[1] and second[1]):
        return NO_INTERVAL
    share, other = first[0] / first[1], second[0] / second[1]
    return newcombe(share * first_cases, first_cases, other * second_cases, second_cases)


def _sums(table: pl.DataFrame) -> tuple[float, float]:
    above, below = (float(np.sort(table[name].to_numpy()).sum()) for name in ("numerator", "denominator"))
    return above, below


def _by_item(table: pl.DataFrame) -> tuple[Floats, Floats]:
    items = table.group_by("item", maintain_order=True).agg(pl.col("numerator", "denominator").sum())
    return items["numerator"].to_numpy(), items["denominator"].to_numpy()


def _difference(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Exact, so that a difference that equals the threshold on paper equals it here."""
    a, b, c, d = (Fraction(number) for number in (*first, *second))
    return float(a / b - c / d)


def _counted(above: float, below: float) -> str:
    return f"{above:g}/{below:g}"


def _measured(
    value: float | None,
    counts: tuple[float | None, float | None],
    intervals: Mapping[str, Interval],
    *groups: pl.DataFrame,
    note: str = "",
) -> Measured:
    figures = tuple(
        Figure(
            value=value,
            numerator=counts[0],
            denominator=counts[1],
            low=ends.low,
            high=ends.high,
            method=method,
            note=note if value is not None else "nothing was measured",
        )
        for method, ends in intervals.items()
    )
    items = [group["item"].n_unique() for group in groups]
    return Measured(figures, sum(items), sum(group.height for group in groups), min(items))
