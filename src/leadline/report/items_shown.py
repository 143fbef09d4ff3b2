"""Which items a page can show: all of them, or of a very large study those on which answers differ most."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from leadline.report.numbers import count, plural

# A page is one file that a browser reads whole. At these sizes it takes some tens of megabytes, which a phone
# still opens; ten million answers would take gigabytes.
ANSWERS = 200_000  # distinct ones, over all items and configurations
CHARACTERS = 40_000_000
# Of one answer at most so much is shown; the study's database keeps it whole.
RAW_LIMIT = 1500

_CELL = ["model", "configuration", "item"]


@dataclass(frozen=True)
class Shown:
    """The readings of the items that are shown, and a sentence on those that are not ("" when all are)."""

    readings: pl.DataFrame
    left_out: str = ""


def shown(readings: pl.DataFrame, answers: int = ANSWERS, characters: int = CHARACTERS) -> Shown:
    """The readings of as many items as hold `answers` distinct answers and `characters` of their text.

    Items come by how many configurations are unsteady on them, then those on which configurations are not
    all right or all wrong, then by id. Items that are not of the study's population are never shown.
    """
    if "excluded" in readings.columns:
        readings = readings.filter(pl.col("excluded").fill_null("") == "")
    length = pl.col("text").str.len_chars().fill_null(0).clip(upper_bound=RAW_LIMIT)
    if readings.height <= answers and readings.select(length.cast(pl.Int64).sum()).item() <= characters:
        return Shown(readings)
    # Hashes in the place of texts: ten million of them fit where the texts would not.
    distinct = (
        readings.lazy()
        .select(
            *_CELL,
            pl.struct("state", "value", "correct", "text").hash().alias("answer"),
            pl.when(pl.col("state") == "ok").then(pl.col("value").hash()).alias("value"),
            pl.col("correct").fill_null(value=False),
            length.alias("length"),
        )
        .unique([*_CELL, "answer"])
    )
    cells = distinct.group_by(_CELL).agg(
        pl.len().alias("answers"),
        pl.col("length").cast(pl.Int64).sum(),
        (pl.col("value").drop_nulls().n_unique() > 1).alias("unsteady"),
        pl.col("correct").any().alias("some"),
        pl.col("correct").all().alias("all"),
    )
    items = (
        cells.group_by("item")
        .agg(
            pl.col("answers", "length", "unsteady").sum(),
            (pl.col("some").any() & ~pl.col("all").all()).alias("split"),
        )
        .sort("unsteady", "split", "item", descending=[True, True, False])
        .with_columns(pl.col("answers", "length").cum_sum())
        .collect()
    )
    kept = items.filter((pl.col("answers") <= answers) & (pl.col("length") <= characters))
    kept = items.head(1) if kept.height == 0 else kept
    if kept.height == items.height:
        return Shown(readings)
    some = readings.filter(pl.col("item").is_in(kept["item"].implode()))
    return Shown(
        some,
        f"Shown are {count(kept.height)} of {plural(items.height, 'item')}, those on which most "
        f"configurations are unsteady: all {count(readings.height)} answers would not fit into a page. The "
        "tables and figures above count every item; the study's database holds every answer.",
    )
