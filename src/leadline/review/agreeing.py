"""How far a second reading agrees with the labels, group by group: shares, kappa and alpha, or why not.

Kappa and alpha correct the share of agreement for what chance alone would give. Under a few dozen rows they
and their intervals say little: where readers agree as they should, many a sample of 20 rows holds no
disagreement at all, and an interval of no width is printed that leaves the truth out. So there is a least
number of rows, below which a group has its counts and the share's Wilson interval, and no coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadline.bench.answer_form import AnswerType
from leadline.bench.item import Item
from leadline.lenses.figures import share, unknown
from leadline.lenses.finding import Figure
from leadline.review.understood import Understood
from leadline.stats.agreement import Level, alpha, kappa, resampled_kappa
from leadline.stats.bootstrap import DRAWS
from leadline.stats.intervals import wilson

# In simulations of two readers (kappa 0.5 to 0.8, 2 to 12 labels) a 95 % interval from 20 rows covers the
# truth 57 to 94 % of the time, from 30 rows 76 to 96 %, from 50 rows 90 to 96 %.
LEAST_ROWS = 30
# Below the one, kappa is nearly the share of agreement; above the other, one label is nearly all there is.
_LITTLE_CHANCE, _MUCH_CHANCE = 0.05, 0.8
By = Literal["overall", "answer type", "category", "stratum"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Compared:
    """One row: the item, its number in the pack, and what its reader said beside the label."""

    number: int
    item: Item
    read: Understood

    @property
    def agrees(self) -> bool:
        """The answer is the label's."""
        return self.read.state == "agrees"


class Agreement(_Frozen):
    """Agreement over some rows. `labels` are the distinct values in use, `expected` the share of agreement
    that chance alone would give (None where it cannot be told).

    `weighted` is the share in the population, each row standing for as many items as its stratum has for each
    row of it; None where all rows stand for as many. `kappa` does not weigh degrees of disagreement nor rows:
    it is over values as they are counted, with a bootstrap interval over rows; `kappa_asymptotic` has the
    interval of the normal approximation instead. `alpha` is at `level`; at a level of numbers it is over the
    rows in which both have one, so that "?" is no value of it.
    """

    agree: Figure
    weighted: Figure | None = None
    kappa: Figure
    kappa_asymptotic: Figure
    alpha: Figure
    level: Level
    labels: int
    expected: float | None = None


class Group(_Frozen):
    """The rows of a stratum, a category, an answer type, or all. `items` are as many as the population has of
    them, `unsettled` the rows answered "?". `all_rows` takes these for disagreements, and "?" for a value of
    its own in kappa and nominal alpha; `settled` leaves them out, and is None where there are none."""

    by: By
    category: str | None = None
    answer_type: AnswerType | None = None
    items: int
    rows: int
    unsettled: int
    all_rows: Agreement
    settled: Agreement | None
    notes: tuple[str, ...] = ()


def grouped(
    by: By,
    rows: Sequence[Compared],
    items: int,
    *,
    seed: int = 0,
    stands_for: Callable[[Compared], float] = lambda row: 1.0,
) -> Group:
    """The agreement over `rows` (at least one), which are a sample of `items`; each `stands_for` so many."""
    left = [row for row in rows if row.read.state != "unsettled"]
    unsettled = len(rows) - len(left)
    types = {row.item.answer_type for row in rows}
    level, remarks = _level(rows, types)
    everything, notes = _agreement(rows, level, types, seed)
    settled = _agreement(left, level, types, seed)[0] if unsettled else None
    if len({stands_for(row) for row in rows}) > 1:
        everything = everything.model_copy(update={"weighted": weighted_share(rows, stands_for)})
        if settled is not None and left:
            settled = settled.model_copy(update={"weighted": weighted_share(left, stands_for)})
    return Group(
        by=by,
        items=items,
        rows=len(rows),
        unsettled=unsettled,
        all_rows=everything,
        settled=settled,
        notes=(*remarks, *notes),
    )


def weighted_share(rows: Sequence[Compared], stands_for: Callable[[Compared], float]) -> Figure:
    """The share of agreement in the population, of the `rows` that were read (its denominator). Its interval
    is Wilson's over Kish's effective number of rows.

    Source: L. Kish, Survey Sampling (1965), section 11.7.
    """
    weights = [stands_for(row) for row in rows]
    total = sum(weights)
    value = min(1.0, sum(own for own, row in zip(weights, rows, strict=True) if row.agrees) / total)
    effective = total**2 / sum(own**2 for own in weights)
    low, high = wilson(value * effective, effective)
    method = f"strata weighted by their size; wilson over {effective:.1f} effective rows (Kish)"
    return Figure(value=value, denominator=len(rows), low=low, high=high, method=method)


def _level(rows: Sequence[Compared], types: set[AnswerType]) -> tuple[Level, list[str]]:
    """At which level alpha measures how far apart two answers are: nominal where types mix."""
    if types == {"date"}:
        return "interval", []
    if types != {"number"}:
        return "nominal", []
    remarks = []
    units = {row.item.unit or "" for row in rows}
    if len(units) > 1:
        named = ", ".join(sorted(unit or "none" for unit in units))
        remarks.append(f"numbers of several units ({named}) in one alpha")
    if any(place < 0 for row in rows for place in row.read.places or ()):
        return "interval", [*remarks, "numbers below zero: alpha at the interval level"]
    return "ratio", remarks


def _agreement(
    rows: Sequence[Compared], level: Level, types: set[AnswerType], seed: int
) -> tuple[Agreement, list[str]]:
    # A value of one type is no value of another: the number 1 is not the label "1".
    first = [(row.item.answer_type, row.read.label) for row in rows]
    second = [(row.item.answer_type, row.read.said) for row in rows]
    labels = len({*first, *second})
    agreeing = sum(row.agrees for row in rows)
    agree = share(agreeing, len(rows), empty="no rows")
    bootstrap, asymptotic = _kappa(first, second, seed)
    expected = _expected(agree.value, bootstrap.value)
    notes = []
    if bootstrap.value is not None:
        if expected is not None and expected < _LITTLE_CHANCE and agreeing < len(rows):
            notes.append(
                f"{labels:,} distinct values: chance alone would give {expected:.1%} agreement, so kappa is "
                "nearly the share of agreement"
            )
        if expected is not None and expected > _MUCH_CHANCE:
            notes.append(
                f"one value is nearly all: chance alone would give {expected:.1%} agreement, so kappa is low "
                "whatever the share is"
            )
        if len(types) > 1:
            notes.append(
                "answer types are mixed: an answer cannot be of another type, so chance is understated"
            )
    return (
        Agreement(
            agree=agree,
            kappa=bootstrap,
            kappa_asymptotic=asymptotic,
            alpha=_alpha(rows, level, seed),
            level=level,
            labels=labels,
            expected=expected,
        ),
        notes,
    )


def _kappa(
    first: Sequence[tuple[str, str]], second: Sequence[tuple[str, str]], seed: int
) -> tuple[Figure, Figure]:
    few = _too_few(len(first))
    if few:
        return few, few
    value, asymptotic = kappa(first, second)
    if value is None:
        figure = unknown("both readings are one and the same value throughout", len(first))
        return figure, figure
    note = ""
    if len(set(first)) == 1 or len(set(second)) == 1:
        note = "one of the readings is the same value throughout: kappa is 0 by construction"
    same = list(first) == list(second)
    low, high = (None, None) if same else resampled_kappa(first, second, seed=seed)
    return (
        _coefficient(value, len(first), low, high, _by_rows(DRAWS, seed), same, note),
        _coefficient(value, len(first), *asymptotic, "asymptotic", same, note),
    )


def _alpha(rows: Sequence[Compared], level: Level, seed: int) -> Figure:
    if level == "nominal":
        numbers: dict[tuple[str, str], int] = {}
        pairs = [
            tuple(
                float(numbers.setdefault((row.item.answer_type, value), len(numbers)))
                for value in (row.read.label, row.read.said)
            )
            for row in rows
        ]
    else:
        pairs = [row.read.places for row in rows if row.read.places is not None]
    few = _too_few(len(pairs), "" if level == "nominal" else " with two numbers")
    if few:
        return few
    # Which disagreements it does not see is said with it: an alpha of 1 is easily taken for all rows'.
    which = f"over the {len(pairs):,} of {len(rows):,} rows with two numbers" * (len(pairs) < len(rows))
    sides = list(zip(*pairs, strict=True))
    same = sides[0] == sides[1]
    value, interval = alpha(sides, level, draws=1 if same else DRAWS, seed=seed)
    if value is None:
        return unknown("both readings are one and the same value throughout", len(pairs))
    low, high = (None, None) if same else interval
    return _coefficient(value, len(pairs), low, high, f"{level}; {_by_rows(DRAWS, seed)}", same, which=which)


def _coefficient(
    value: float,
    rows: int,
    low: float | None,
    high: float | None,
    method: str,
    same: bool,
    note: str = "",
    which: str = "",
) -> Figure:
    if same:
        note = "no disagreement, so no interval: see that of the share"
        if which:
            note = "no disagreement among these, so no interval"
        low = high = None
    elif low is not None and high is not None and math.isclose(low, high):
        low, high, note = None, None, note or "resamples are all alike"
    note = "; ".join(filter(None, (which, note)))
    return Figure(value=value, denominator=rows, low=low, high=high, method=method, note=note)


def _too_few(rows: int, which: str = "") -> Figure | None:
    return unknown(f"{rows:,} rows{which}, fewer than {LEAST_ROWS}", rows) if rows < LEAST_ROWS else None


def _expected(observed: float | None, coefficient: float | None) -> float | None:
    """What chance would give, from kappa = (observed - expected) / (1 - expected)."""
    if observed is None or coefficient is None or coefficient >= 1:
        return None
    return max(0.0, (observed - coefficient) / (1 - coefficient))


def _by_rows(draws: int, seed: int) -> str:
    return f"bootstrap over rows, {draws} draws, seed {seed}"
