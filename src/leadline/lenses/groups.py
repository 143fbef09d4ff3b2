"""Tables by category and by task, and when a category may be called the worst."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import counted, in_points, share
from leadline.lenses.finding import Claim, ClaimStatus
from leadline.lenses.protocol import Protocol
from leadline.stats.intervals import newcombe

if TYPE_CHECKING:
    from leadline.lenses.panel import Panel

# Below three tasks a category's rate says more about the tasks than about the category; below five the
# worst of several categories is mostly the one with the luckiest draw of tasks.
TASKS_FOR_A_RATE = 3
TASKS_FOR_THE_WORST = 5

UNNAMED = "(none)"

By = Literal["category", "task", "answer_type"]


class Group(NamedTuple):
    """The rows of one category (or task) and how many tasks they span."""

    name: str
    rows: pl.DataFrame
    tasks: int


def groups(frame: pl.DataFrame, by: str) -> Iterator[Group]:
    """The rows of `frame` by "category" or "task", in order of name; nothing when no item has one."""
    if frame.height == 0 or not (frame[by] != "").any():
        return
    for (name,), rows in sorted(frame.partition_by(by, as_dict=True).items()):
        tasks = rows.filter(pl.col("task") != "")["task"].n_unique()
        yield Group(str(name) or UNNAMED, rows, tasks)


class ItemGroup(NamedTuple):
    """The items of one category (or task, or answer type), as numbers in the panel."""

    name: str
    items: npt.NDArray[np.intp]


def item_groups(panel: Panel, by: By) -> list[ItemGroup]:
    """The items of a panel by group, in order of name; nothing when no item has one.

    Items without a name are a group of their own, `UNNAMED`.
    """
    names = {"category": panel.categories, "task": panel.tasks, "answer_type": panel.answer_types}[by]
    if not (names != "").any():
        return []
    found, which = np.unique(names, return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
    return [ItemGroup(str(name) or UNNAMED, part) for name, part in zip(found, parts, strict=True)]


def tasks_spanned(panel: Panel, items: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """How many tasks each configuration measured at least one of these items of [C]."""
    named = items[panel.tasks[items] != ""]
    tasks, which = np.unique(panel.tasks[named], return_inverse=True)
    reached = np.zeros((len(panel.members), len(tasks)), dtype=bool)
    members, places = np.nonzero(panel.measured[:, named])
    reached[members, which[places]] = True
    counts: npt.NDArray[np.int64] = reached.sum(axis=1)
    return counts


def group_label(protocol: Protocol, by: str) -> str:
    """What the benchmark calls a category or a task."""
    return protocol.category_name if by == "category" else protocol.task_name


class GroupCount(NamedTuple):
    """A share within one category."""

    name: str
    numerator: int
    denominator: int
    tasks: int


def worst_category(what: str, counts: list[GroupCount], protocol: Protocol) -> Claim:
    """Whether the category with the highest share of `what` may be called the worst.

    Only categories of at least five tasks compete. The highest is set against all other competitors by a
    Newcombe interval, at a level corrected for having picked it out of so many (Bonferroni).
    """
    category, task = protocol.category_name, protocol.task_name
    competing = [one for one in counts if one.tasks >= TASKS_FOR_THE_WORST and one.denominator > 0]
    if len(competing) < 2:
        return Claim(
            text=f"No {category} can be called the worst for {what}: fewer than two span at least "
            f"{TASKS_FOR_THE_WORST} tasks ({task}).",
            status=ClaimStatus.NOT_ESTIMABLE,
        )
    if not any(one.numerator for one in competing):
        return Claim(
            text=f"No {category} can be called the worst for {what}: it is zero in all "
            f"{len(competing)} compared.",
            status=ClaimStatus.NOT_ESTIMABLE,
        )
    worst = max(competing, key=lambda one: (one.numerator / one.denominator, one.denominator))
    above = sum(one.numerator for one in competing) - worst.numerator
    below = sum(one.denominator for one in competing) - worst.denominator
    interval = newcombe(worst.numerator, worst.denominator, above, below, level=1 - 0.05 / len(competing))
    held = interval.low is not None and interval.low > 0
    return Claim(
        text=f"{category.capitalize()} {worst.name} is the worst for {what} of {len(competing)} compared: "
        f"{counted(share(worst.numerator, worst.denominator))} against {counted(share(above, below))} "
        "in the others.",
        status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
        point=counted(share(worst.numerator, worst.denominator)),
        conservative=f"{in_points(interval.low)} against the others at Newcombe's lower end, corrected "
        f"for {len(competing)}",
    )
