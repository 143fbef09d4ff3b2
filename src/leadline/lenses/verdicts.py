"""One verdict per configuration and item: the majority over its first samples.

A configuration's `vote` samples are those with index below `vote`. Readings in state ok vote with their
value; the most frequent value wins, and of equally frequent ones the value seen first (lowest sample index),
recorded as a tie. The verdict is as correct as the first reading with the winning value. Empty, refused,
truncated and unreadable answers have no vote; with no vote at all the verdict is incorrect. A failed call
(state error) is no answer: an item with nothing but errors counts as not answered, and comparisons leave it
out.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from leadline.lenses.frame import STATES

KEYS = ["model", "configuration", "item"]
VERDICTS = {
    "model": pl.String,
    "configuration": pl.String,
    "item": pl.String,
    "category": pl.String,
    "task": pl.String,
    "value": pl.String,  # the winning value; null when no reading is ok
    "state": pl.String,  # ok, or the state of the first sample when no reading is ok
    "correct": pl.Boolean,
    "correct_strict": pl.Boolean,
    "votes": pl.Int64,  # readings with the winning value
    "ok": pl.Int64,  # readings that voted
    "asked": pl.Int64,  # samples that are there, of the `vote` that were wanted
    "answered": pl.Int64,  # of these, calls that did not fail
    "right": pl.Int64,  # correct readings among them
    "tied": pl.Boolean,  # another value had as many votes
    "tokens_in": pl.Int64,  # summed over the samples asked
    "tokens_out": pl.Int64,
}

# What is wanted of the first of several readings is packed into one integer under the sample index, so that a
# plain minimum finds it: on millions of readings many times faster than looking rows up group by group.
_STATES = 8  # more than there are
_CORRECTNESS = 4  # correct and correct_strict
# A ballot in one integer: more votes first, then the earlier sample. Packed samples stay below this.
_VOTE = 2**36


def verdicts(readings: pl.DataFrame, votes: Mapping[str, int]) -> pl.DataFrame:
    """The verdicts of the configurations named in `votes` (columns of `VERDICTS`), in no set order.

    `votes` maps a configuration to the number of samples that it votes over.
    """
    limits = pl.LazyFrame(
        {"configuration": list(votes), "vote": list(votes.values())},
        schema={"configuration": pl.String, "vote": pl.Int64},
    )
    cast = readings.lazy().join(limits, on="configuration").filter(pl.col("sample") < pl.col("vote"))
    numbered = {state: number for number, state in enumerate(STATES)}
    state = pl.col("state").replace_strict(numbered, return_dtype=pl.Int64)
    asked = cast.group_by(KEYS).agg(
        pl.col("category", "task").first(),
        (pl.col("sample") * _STATES + state).min().alias("first"),
        pl.len().cast(pl.Int64).alias("asked"),
        (pl.col("state") != "error").sum().cast(pl.Int64).alias("answered"),
        pl.col("correct").sum().cast(pl.Int64).alias("right"),
        pl.col("tokens_in", "tokens_out").sum(),
    )
    correct, strict = (pl.col(name).cast(pl.Int64) for name in ("correct", "correct_strict"))
    ballot = pl.col("votes") * _VOTE - pl.col("seen")
    won = (
        cast.filter((pl.col("state") == "ok") & pl.col("value").is_not_null())
        .group_by([*KEYS, "value"])
        .agg(
            pl.len().cast(pl.Int64).alias("votes"),
            (pl.col("sample") * _CORRECTNESS + correct * 2 + strict).min().alias("seen"),
        )
        .group_by(KEYS)
        .agg(
            pl.col("value").get(ballot.arg_max()),
            (pl.col("votes").max() * _VOTE - ballot.max()).alias("seen"),
            ((pl.col("votes") == pl.col("votes").max()).sum() > 1).alias("tied"),
            pl.col("votes").max(),
            pl.col("votes").sum().alias("ok"),
        )
    )
    first_state = (pl.col("first") % _STATES).replace_strict(
        {number: state for state, number in numbered.items()}, return_dtype=pl.String
    )
    return (
        asked.join(won, on=KEYS, how="left")
        .with_columns(
            pl.when(pl.col("ok").is_null()).then(first_state).otherwise(pl.lit("ok")).alias("state"),
            (pl.col("seen") // 2 % 2 == 1).fill_null(False).alias("correct"),
            (pl.col("seen") % 2 == 1).fill_null(False).alias("correct_strict"),
            pl.col("tied").fill_null(False),
            pl.col("votes", "ok").fill_null(0),
            pl.col("category", "task").fill_null(""),
        )
        .select(VERDICTS.keys())
        .collect(engine="streaming")
    )


def paired(table: pl.DataFrame, baseline: str, method: str) -> pl.DataFrame:
    """Items that both answered: item, category, task, `y0` and `ym` (correct or not), the method's tokens.

    `table` holds the verdicts of one model. Ordered by item.
    """
    answered = table.filter(pl.col("answered") > 0)
    before = answered.filter(pl.col("configuration") == baseline).select(
        "item", "category", "task", pl.col("correct").alias("y0")
    )
    after = answered.filter(pl.col("configuration") == method).select(
        "item", pl.col("correct").alias("ym"), "tokens_in", "tokens_out"
    )
    return before.join(after, on="item").sort("item")
