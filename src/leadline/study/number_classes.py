"""Which numbers are the same answer: within an item under one configuration, and over all configurations.

Only what is said counts, and how often: see `leadline.answers.sameness`. Where all answers to an item are the
same number there is nothing to decide, which is most often so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import polars as pl

from leadline.answers.classes import classes, counted_classes
from leadline.answers.same_said import Said
from leadline.answers.sameness import Rule
from leadline.bench import Item
from leadline.lenses.protocol import Sameness
from leadline.study.answers_table import Asked

_KEYS = ["place", "raw", "printed"]


def with_classes(asked: Asked, said: pl.DataFrame) -> pl.DataFrame:
    """What one configuration said, with what each number counts as under each rule.

    `value` becomes that of the item's own rule; what it was is `raw`.
    """
    said = said.with_columns(pl.col("value").alias("raw")).join(_forms(asked), on="place", how="left")
    found: dict[Rule, list[str]] = {"exact": [], "declared": [], "rounding": []}
    keys: list[tuple[object, ...]] = []
    for place, numbers in _undecided(said.filter(is_number())):
        of_rules = counted_classes(asked.items[place], numbers)
        keys += [(place, *number) for number in numbers]
        for rule, labels in of_rules.items():
            found[rule] += [labels[number] for number in numbers]
    decided = _keyed(keys).with_columns(
        pl.Series(f"value_{rule}", labels, dtype=pl.String) for rule, labels in found.items()
    )
    when_number = pl.when(is_number())
    return (
        said.join(decided, on=_KEYS, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            when_number.then(pl.coalesce(f"value_{rule}", "raw")).alias(f"value_{rule}") for rule in found
        )
        .with_columns(
            pl.when("declares").then("value_declared").alias("value_declared"),
            when_number.then(pl.when("declares").then("value_declared").otherwise("value_rounding"))
            .otherwise("value")
            .alias("value"),
        )
        .drop("declares")
    )


def with_shared(asked: Asked, tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """What all configurations said, with `value_shared`: the class within the item over all of them together.

    Of an item that one configuration alone answered it is `value`. Of equally frequent numbers the one that
    an earlier configuration says, or says first, stands for the class.
    """
    numbers = [
        table.filter(is_number()).select(*_KEYS, "count", pl.lit(at).alias("_of"))
        for at, table in enumerate(tables)
    ]
    together = pl.concat(numbers).filter(pl.col("_of").n_unique().over("place") > 1)
    keys: list[tuple[object, ...]] = []
    labels: list[str] = []
    for place, counted in _undecided(together.sort("place", maintain_order=True)):
        item = asked.items[place]
        own: Rule = "declared" if _declares(item) else "rounding"
        of_own = counted_classes(item, counted, (own,))[own]
        keys += [(place, *number) for number in counted]
        labels += [of_own[number] for number in counted]
    decided = _keyed(keys).with_columns(pl.Series("value_shared", labels, dtype=pl.String))
    several = together.select("place").unique().with_columns(pl.lit(True).alias("_several"))
    alone = pl.when("_several").then("raw").otherwise("value")
    return [
        table.join(decided, on=_KEYS, how="left", nulls_equal=True, maintain_order="left")
        .join(several, on="place", how="left", maintain_order="left")
        .with_columns(pl.when(is_number()).then(pl.coalesce("value_shared", alone)).alias("value_shared"))
        .drop("_several")
        for table in tables
    ]


def same_values(
    item: Item, said: Sequence[tuple[str | None, str | None]], rule: Sameness = "own"
) -> list[str | None]:
    """What each of several answers to `item` (its value, its printed digits) counts as under `rule`, without
    a study: equal texts for the same answer, None where nothing was read.

    >>> item = Item(id="1", question="How much?", answer="0.909", answer_type="number")
    >>> same_values(item, [("0.909", "0.909"), ("0.90909", "0.90909"), (None, None)])
    ['0.909', '0.909', None]
    """
    found = classes(item, said)
    match rule:
        case "exact" | "rounding":
            return found[rule]
        case _:
            return found["declared" if _declares(item) else "rounding"]


def is_number() -> pl.Expr:
    """Whether a row of what was said is one that rules of sameness compare."""
    return pl.col("numeric") & pl.col("raw").is_not_null()


def _forms(asked: Asked) -> pl.DataFrame:
    compared = [item.answer_type in ("number", "parts") for item in asked.items]
    return pl.DataFrame(
        {
            "place": range(len(asked.items)),
            "numeric": compared,
            "declares": [one and _declares(item) for one, item in zip(compared, asked.items, strict=True)],
        },
        schema={"place": pl.UInt32, "numeric": pl.Boolean, "declares": pl.Boolean},
    )


def _declares(item: Item) -> bool:
    return any(form.precision is not None for form in (item, *item.fields))


def _undecided(said: pl.DataFrame) -> Iterator[tuple[int, Counter[Said]]]:
    """Items with several numbers, and how often each was said, in the order in which they were."""
    several = said.filter(pl.struct("raw", "printed").n_unique().over("place") > 1)
    rows = several.select("place", "raw", "printed", "count").iter_rows()
    for place, of_item in groupby(rows, key=lambda row: row[0]):
        counts: Counter[Said] = Counter()
        for _, raw, printed, count in of_item:
            counts[raw, printed] += count
        yield place, counts


def _keyed(keys: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    schema = {"place": pl.UInt32, "raw": pl.String, "printed": pl.String}
    return pl.DataFrame(keys, schema=schema, orient="row")
