"""Shallow and deep failures: which of the baseline's failures the model's own sampling reaches.

Over the first K samples of a partition configuration (Seed A), an item of D0 is shallow when at least one
sample is correct, deep when none is. The words speak of this model's sampling, not of how hard a fact is.
Source: MAPLE, section 3.2, beyond-sampling level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.protocol import Partition
from leadline.lenses.view import View

Counts = npt.NDArray[np.int64]
Outcomes = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """What the partition samples say about each item of D0 that they cover; arrays are [items], in order."""

    partition: Partition
    items: list[str]
    hits: Counts  # correct samples among the first K
    drawn: Counts  # samples among the first K whose call did not fail
    first_hit: Counts  # index of the first correct sample of the sweep; `sweep` where there is none
    sweep_hits: Counts  # correct samples among all of the sweep
    sweep_drawn: Counts  # samples of the sweep whose call did not fail
    left_out: int  # items of D0 without any partition sample

    @property
    def shallow(self) -> npt.NDArray[np.bool_]:
        """Items that some of the first K samples answer correctly."""
        reached: npt.NDArray[np.bool_] = self.hits > 0
        return reached

    @property
    def deep(self) -> npt.NDArray[np.bool_]:
        """Items that none of the first K samples answers correctly."""
        return ~self.shallow

    @property
    def temperature(self) -> str:
        """The temperature as a row's key: "0.7", "1"."""
        return f"{self.partition.temperature:g}"


def split(view: View, partition: Partition) -> Split:
    """Split D0 by the samples of `partition`; items of D0 that it does not cover are counted, not judged."""
    failures = view.baseline_failures
    k, sweep = partition.k, max(partition.k, partition.sweep)
    sample, correct = pl.col("sample"), pl.col("correct")
    table = (
        view.readings.lazy()
        .filter((pl.col("configuration") == partition.configuration) & (sample < sweep))
        .filter(pl.col("state") != "error")
        .join(pl.LazyFrame({"item": failures}, schema={"item": pl.String}), on="item", how="semi")
        .group_by("item")
        .agg(
            (correct & (sample < k)).sum().alias("hits"),
            (sample < k).sum().alias("drawn"),
            sample.filter(correct).min().fill_null(sweep).alias("first_hit"),
            correct.sum().alias("sweep_hits"),
            pl.len().alias("sweep_drawn"),
        )
        .filter(pl.col("drawn") > 0)
        .sort("item")
        .collect()
    )
    columns = {name: table[name].to_numpy().astype(np.int64) for name in table.columns if name != "item"}
    return Split(partition, table["item"].to_list(), **columns, left_out=len(failures) - table.height)


def outcomes(view: View, items: list[str]) -> dict[str, Outcomes]:
    """What each method makes of `items` at the beyond-sampling level: 1 right, 0 wrong, nan not answered.

    Methods without any answer to these items are left out; the others come in the protocol's order.
    """
    found = {}
    asked = pl.DataFrame({"item": items}, schema={"item": pl.String})
    table = view.beyond_verdicts.filter(pl.col("answered") > 0)
    for method in view.protocol.methods:
        verdict = table.filter(pl.col("configuration") == method.name).select(
            "item", pl.col("correct").cast(pl.Float64)
        )
        right = asked.join(verdict, on="item", how="left", maintain_order="left")["correct"]
        if right.null_count() < len(right):
            found[method.name] = right.fill_null(float("nan")).to_numpy()
    return found
