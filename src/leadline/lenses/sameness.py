"""Does wobble depend on when two numbers are called the same?

0.909 and 0.9090909090909091 are two answers if numbers are compared as floating-point numbers, one if the
shorter is taken for a rounding of the longer. Wobble (see `lenses.wobble`) is counted under three rules side
by side, over the items whose answers are numbers:

exact: equal as floating-point numbers. declared: equal after rounding to the precision that the item
declares, over the items that declare one. rounding: they differ by at most half a unit in the last digit of
the coarser one, which must be a decimal fraction of at least two significant digits; integers are exact.
Under `rounding` an item is stable when every pair of its values is the same.
"""

from __future__ import annotations

import polars as pl

from leadline.lenses.figures import share, unknown
from leadline.lenses.finding import Figure, Finding, Row
from leadline.lenses.groups import group_label
from leadline.lenses.registry import Lens
from leadline.lenses.view import View
from leadline.lenses.wobble import count_values, per_item

RULES = ("exact", "declared", "rounding")
DEFINITION = (
    "Wobble of the items whose answers are numbers, under three rules of when two numbers are the same. "
    "Exact: equal as floating-point numbers. Declared: equal at the precision that the item declares. "
    "Rounding: one is a correct rounding of the other (a decimal fraction of two or more significant digits; "
    "integers are exact). The other tables use what each item declares, else rounding."
)


def look(view: View) -> list[Finding]:
    """Findings `overall` and `by task`; none when no number was asked for twice."""
    numbers = view.readings.filter((pl.col("answer_type") == "number") & (pl.col("state") == "ok"))
    names = dict.fromkeys([view.protocol.baseline, *(method.name for method in view.protocol.methods)])
    ruled = {rule: _steady(numbers, rule) for rule in RULES}
    everything = ruled["exact"]
    repeated = set(everything.filter(pl.col("n") >= 2)["configuration"].unique())
    sampled = [name for name in names if name in repeated]
    if not sampled:
        return []
    overall = [
        Row(keys={"configuration": name}, figures=_figures(ruled, pl.col("configuration") == name))
        for name in sampled
    ]
    tasks = sorted(everything["task"].unique()) if (everything["task"] != "").any() else []
    by_task = [
        Row(
            keys={"task": task, "configuration": name},
            figures=_figures(ruled, (pl.col("configuration") == name) & (pl.col("task") == task)),
        )
        for task in tasks
        for name in sampled
    ]
    title = "Does the wobble of numbers depend on how they are compared?"
    found = [_finding(view, "overall", title, overall)]
    if by_task:
        title = f"Wobble of numbers under three rules, by {group_label(view.protocol, 'task')}"
        found.append(_finding(view, "by task", title, by_task))
    return found


def _finding(view: View, table: str, title: str, rows: list[Row]) -> Finding:
    return Finding(
        lens="sameness",
        table=table,
        model=view.model,
        title=title,
        definition=DEFINITION,
        rows=tuple(rows),
    )


def _steady(numbers: pl.DataFrame, rule: str) -> pl.DataFrame:
    """As `wobble.per_item`, with the values of one rule."""
    return per_item(count_values(numbers.with_columns(pl.col(f"value_{rule}").alias("value"))))


def _figures(ruled: dict[str, pl.DataFrame], which: pl.Expr) -> dict[str, Figure]:
    figures = {}
    for rule, steady in ruled.items():
        items = steady.filter(which)
        unstable = int((items["top"] < items["n"]).sum())
        figures[f"wobble_{rule}"] = (
            share(unstable, items.height) if items.height else unknown("no item declares a precision", 0)
        )
    return figures


LENS = Lens("sameness", order=51, look=look)
