"""The one table that lenses read: a row for each reading (one answer of one configuration to one item)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

# Of ten million readings, what is made of all of them on the way takes gigabytes.
_AT_ONCE = 250_000

STATES = ("ok", "empty", "refused", "unreadable", "truncated", "error")

# A byte a reading: a study in which a single item was decided on holds no text more for each of millions.
OUTCOMES = pl.Enum(["", "rejected", "corrected", "wrong", "ambiguous"])

READINGS: dict[str, type[pl.DataType] | pl.DataType] = {
    "model": pl.String,  # name of the model as the study calls it
    "configuration": pl.String,  # name of the configuration within the model: "greedy", "recite", "tau-0.7"
    "item": pl.String,
    "category": pl.String,  # domain, for facts; "" where the benchmark has none
    "task": pl.String,  # relation, for facts; "" where the benchmark has none
    "sample": pl.Int64,  # sample (or path) index, from 0
    "state": pl.String,  # ok | empty | unreadable | refused | truncated | error
    "text": pl.String,  # the raw answer, whole
    "answer_type": pl.String,  # text | number | date | enum | boolean | parts
    # What the provenance audit says of the item: "" (not audited), "clean", "not checkable", or why it is
    # flagged ("evidence absent", "computational", "label untraceable", "answer stated", "flagged").
    "audit": pl.String,
    "stated": pl.String,  # the gold answer in the window: "stated" | "not stated" | "" (not decidable)
    # Why the item is left out of the study's population, "" for its members: an audit's verdict, "named",
    # "adjudicated wrong" or "adjudicated ambiguous".
    "excluded": pl.String,
    # What a person decided of the item's label: "" (nothing), "rejected" (a doubt: the label stands),
    # "corrected", "wrong" (and nothing takes its place), "ambiguous".
    "adjudication": OUTCOMES,
    "value": pl.String,  # what the answer says, normalised for voting; null unless state is ok
    # Numbers only: the value under each rule of when two of them are the same, within (configuration, item);
    # `value` is that of the item's own rule. Null for other types, and `declared` where no precision is.
    "value_exact": pl.String,  # equal as floating-point numbers
    "value_declared": pl.String,  # equal at the precision that the item declares
    "value_rounding": pl.String,  # one is a correct rounding of the other
    # Numbers only: the value under the item's own rule, within the item over all configurations together, so
    # that what different configurations answer can be compared.
    "value_shared": pl.String,
    "correct": pl.Boolean,  # by the study's correctness rule; false unless state is ok
    "correct_strict": pl.Boolean,  # by the stricter `words` rule; false unless state is ok
    # By the study's rule and the label as it was before a person corrected it; null where nobody did, and it
    # is `correct`.
    "correct_labelled": pl.Boolean,
    "leads": pl.Boolean,  # the raw answer begins with the value that was read from it
    "tokens_in": pl.Int64,  # prompt tokens of every model call behind this answer
    "tokens_out": pl.Int64,  # generated tokens of every model call behind this answer
    "gold_token": pl.Int64,  # first token of the gold answer at the first answer position; null if not probed
    "gold_rank": pl.Int64,  # its rank there, 1 = most likely, ties share the best rank
    "gold_logprob": pl.Float64,  # its natural-log probability there
    "gold_masked": pl.Boolean,  # the technique had ruled the token out (score of -inf)
}


def readings_frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Make a readings frame; missing columns become null, unknown ones are an error."""
    if unknown := {key for row in rows for key in row} - READINGS.keys():
        raise ValueError(f"unknown reading columns: {sorted(unknown)}")
    return pl.DataFrame([{key: row.get(key) for key in READINGS} for row in rows], schema=READINGS)


def pieces(readings: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The readings in order, some at a time; one piece of an empty frame, for its columns."""
    for start in range(0, max(readings.height, 1), _AT_ONCE):
        yield readings.slice(start, _AT_ONCE)
