"""The answers of all configurations to all items as arrays: what the stability lenses compute on.

A cell is one item under one configuration. Its n readings in state ok carry values; m of them carry the most
frequent one (of equally frequent values the one seen first). The item is unstable when m < n, its dispersion
is 1 - m/n, and its p is the share of its n readings that are correct. It is measured when n ≥ 2: in a single
reading nothing can differ, however often the item was asked. Source: Probity, section 3 (which takes n ≥ 1,
and has no cell of a single reading).

Every figure is computed from `codes` (which value, by sample) and `hits` (correct or not) alone; whatever
else a panel offers is derived from them when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.frame import pieces
from leadline.lenses.protocol import Member, Sameness
from leadline.stats.binomials import log_factorial

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Names = npt.NDArray[np.str_]

_WHO = ["model", "configuration"]
# The columns that say what a reading counts as under each rule: the first that is not null.
_COMPARED: dict[Sameness, tuple[str, ...]] = {
    "own": ("value",),
    "exact": ("value_exact", "value"),
    "declared": ("value_declared", "value_rounding", "value"),
    "rounding": ("value_rounding", "value"),
}


@dataclass(frozen=True)
class Ballots:
    """How often each value occurs in each cell; arrays are [ballots], in order of cell."""

    cell: npt.NDArray[np.int64]  # configuration × number of items + item
    code: Ints
    count: Ints
    first: Ints  # the first sample that says so


@dataclass(frozen=True)
class Panel:
    """C configurations × I items × S samples. Items are in order of their id; names are [I]."""

    members: tuple[Member, ...]
    items: Names
    tasks: Names
    categories: Names
    answer_types: Names
    audit: Names
    stated: Names
    excluded: Names  # why an item is not of the population (see `lenses.frame`), "" for its members
    codes: Ints  # [C, I, S]: which value a reading carries (an index into `values`), -1 where there is none
    hits: Mask  # [C, I, S]: correct readings
    asked: Ints  # [C, I]: answers that are there, readable or not
    values: Names  # text of each code, in order

    @property
    def shape(self) -> tuple[int, int]:
        """Configurations, items."""
        return len(self.members), len(self.items)

    @cached_property
    def n(self) -> Ints:
        """Readings in state ok [C, I]."""
        counts: Ints = (self.codes >= 0).sum(axis=2, dtype=np.int32)
        return counts

    @cached_property
    def ballots(self) -> Ballots:
        """The distinct values of every cell with their counts."""
        samples = self.codes.shape[2]
        flat = self.codes.reshape(-1, samples)
        order = np.argsort(flat, axis=1, kind="stable").astype(np.int32)
        ordered = np.take_along_axis(flat, order, axis=1)
        begins = ordered >= 0
        begins[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        starts = np.flatnonzero(begins)
        cell = starts // samples if samples else starts
        # Absent values come first in an ordered row; a run ends where the next begins, or with its cell.
        ends = np.append(starts[1:], flat.size)
        ends = np.minimum(ends, (cell + 1) * samples)
        return Ballots(
            cell=cell,
            code=ordered.reshape(-1)[starts],
            count=(ends - starts).astype(np.int32),
            first=order.reshape(-1)[starts],
        )

    @cached_property
    def _winner(self) -> npt.NDArray[np.int64]:
        """Index of each cell's most frequent ballot [C·I], -1 where the cell has none."""
        ballots = self.ballots
        order = np.lexsort((ballots.first, -ballots.count, ballots.cell))
        cells, where = np.unique(ballots.cell[order], return_index=True)
        winner = np.full(self.n.size, -1, dtype=np.int64)
        winner[cells] = order[where]
        return winner

    def _of_winner(self, column: Ints, absent: int) -> Ints:
        found = np.full(self.n.size, absent, dtype=np.int32)
        has = self._winner >= 0
        found[has] = column[self._winner[has]]
        return found.reshape(self.shape)

    @cached_property
    def top(self) -> Ints:
        """Readings with the most frequent value [C, I]."""
        return self._of_winner(self.ballots.count, 0)

    @cached_property
    def modal(self) -> Ints:
        """Code of the most frequent value [C, I], -1 where nothing was read."""
        return self._of_winner(self.ballots.code, -1)

    @cached_property
    def correct(self) -> Mask:
        """Whether the majority is correct [C, I]: as correct as its first reading; false without any."""
        first = self._of_winner(self.ballots.first, 0)
        found: Mask = np.take_along_axis(self.hits, first[:, :, None], axis=2)[:, :, 0] & self.read
        return found

    @cached_property
    def right(self) -> Ints:
        """Correct readings [C, I]."""
        counts: Ints = (self.hits & (self.codes >= 0)).sum(axis=2, dtype=np.int32)
        return counts

    @cached_property
    def tied(self) -> Mask:
        """Cells in which a second value is as frequent as the most frequent one [C, I]."""
        ballots = self.ballots
        leading = ballots.count == self.top.reshape(-1)[ballots.cell]
        several = np.bincount(ballots.cell[leading], minlength=self.n.size) > 1
        return several.reshape(self.shape)

    @cached_property
    def read(self) -> Mask:
        """Cells with at least one reading [C, I]."""
        read: Mask = self.n > 0
        return read

    @cached_property
    def measured(self) -> Mask:
        """Cells with at least two readings, of which stability can be told [C, I]."""
        measured: Mask = self.n >= 2
        return measured

    @cached_property
    def once(self) -> Mask:
        """Cells with a single reading: asked once, or the others could not be read [C, I]."""
        once: Mask = self.n == 1
        return once

    @cached_property
    def unstable(self) -> Mask:
        """Cells whose readings are not all the same [C, I]."""
        unstable: Mask = self.top < self.n
        return unstable

    @cached_property
    def dispersion(self) -> Floats:
        """1 - m/n [C, I], nan where not measured."""
        return np.where(self.measured, 1 - _quotient(self.top, self.n), np.nan)

    @cached_property
    def p(self) -> Floats:
        """Share of correct readings [C, I], nan where nothing was read."""
        return _quotient(self.right, self.n)

    @cached_property
    def disagreement(self) -> Floats:
        """Chance that two readings of a cell disagree: 1 - Σ c(c-1) / (n(n-1)) [C, I], nan where n < 2."""
        counts = self.ballots.count.astype(np.int64)
        pairs = self._summed((counts * (counts - 1)).astype(np.float64))
        n = self.n.astype(np.int64)
        return 1 - _quotient(pairs, n * (n - 1))

    def rarefied(self, m: int) -> Floats:
        """Chance that m readings of a cell are not all the same: 1 - Σ C(c, m) / C(n, m) [C, I], nan, n < m.

        Source: S. H. Hurlbert, Ecology 52 (1971) 577–586.
        """
        ballots = self.ballots
        n = self.n.reshape(-1)[ballots.cell].astype(np.float64)
        c = ballots.count.astype(np.float64)
        same = np.zeros_like(c)
        enough = c >= m
        # Through logarithms, as the binomials themselves overflow; exactly 1 where c = n.
        c, n = c[enough], n[enough]
        same[enough] = np.exp(
            log_factorial(c) - log_factorial(c - m) - (log_factorial(n) - log_factorial(n - m))
        )
        flips = np.clip(1 - self._summed(same), 0, 1)
        return np.where(self.n >= m, flips, np.nan)

    def _summed(self, per_ballot: Floats) -> Floats:
        """Sums over the ballots of each cell [C, I]; small before large, so that order decides nothing."""
        order = np.lexsort((per_ballot, self.ballots.cell))
        sums = np.bincount(self.ballots.cell[order], weights=per_ballot[order], minlength=self.n.size)
        return sums.astype(np.float64).reshape(self.shape)

    def only(self, members: Sequence[int] | Mask | None = None, items: Mask | None = None) -> Panel:
        """The part with these configurations and these items."""
        rows: Any = slice(None) if members is None else np.asarray(members)
        if members is not None and not len(members):
            rows = np.zeros(0, dtype=np.intp)  # an empty list has no type of its own
        chosen: Any = slice(None) if items is None else items
        numbers = np.arange(len(self.members))[rows]
        names = ("items", "tasks", "categories", "answer_types", "audit", "stated", "excluded")
        return replace(
            self,
            members=tuple(self.members[number] for number in numbers),
            codes=self.codes[rows][:, chosen],
            hits=self.hits[rows][:, chosen],
            asked=self.asked[rows][:, chosen],
            **{name: getattr(self, name)[chosen] for name in names},
        )

    def judged(self, hits: Mask) -> Panel:
        """The same answers with other judgements [C, I, S]."""
        return replace(self, hits=hits)


def make_panel(readings: pl.DataFrame, members: Sequence[Member], rule: Sameness = "own") -> Panel:
    """The panel of `members` from a readings frame, numbers compared by `rule`.

    "own" takes `value` as it is. A rule that does not apply to a reading leaves it as it is compared
    otherwise: `declared` takes `rounding` where no precision is declared, and what is no number keeps its
    `value`. A reading that is there twice counts once.
    """
    numbers = pl.DataFrame(
        {
            "model": [one.model for one in members],
            "configuration": [one.configuration for one in members],
            "_c": range(len(members)),
        },
        schema={"model": pl.String, "configuration": pl.String, "_c": pl.Int32},
    )
    value = pl.when(pl.col("state") == "ok").then(pl.coalesce(*_COMPARED[rule])).alias("value")
    about = ("task", "category", "answer_type", "audit", "stated", "excluded")
    described = [piece.select("item", *about).unique("item") for piece in pieces(readings)]
    items = pl.concat(described).unique("item").sort("item").with_columns(pl.col(about).fill_null(""))
    given = [piece.select(value.drop_nulls().unique()) for piece in pieces(readings)]
    values = pl.concat(given)["value"].unique().sort()
    samples = max((_samples(piece, numbers) for piece in pieces(readings)), default=0)
    shape = (len(members), items.height, samples)
    codes = np.full(shape, -1, dtype=np.int32)
    hits = np.zeros(shape, dtype=bool)
    there = np.zeros(shape, dtype=bool)
    for piece in pieces(readings):
        rows = (
            piece.lazy()
            .join(numbers.lazy(), on=_WHO)
            .join(items.lazy().select("item").with_row_index("_i"), on="item")
            .select("_c", "_i", "sample", value.cast(pl.Enum(values)), pl.col("correct").fill_null(False))
            .collect()
        )
        place = (rows["_c"].to_numpy(), rows["_i"].to_numpy(), rows["sample"].to_numpy())
        codes[place] = rows["value"].to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
        hits[place] = rows["correct"].to_numpy()
        there[place] = True
    return Panel(
        members=tuple(members),
        items=_names(items["item"]),
        tasks=_names(items["task"]),
        categories=_names(items["category"]),
        answer_types=_names(items["answer_type"]),
        audit=_names(items["audit"]),
        stated=_names(items["stated"]),
        excluded=_names(items["excluded"]),
        codes=codes,
        hits=hits,
        asked=there.sum(axis=2, dtype=np.int32),
        values=_names(values),
    )


def _samples(readings: pl.DataFrame, numbers: pl.DataFrame) -> int:
    """One more than the largest number of a sample of these configurations."""
    largest = readings.group_by(_WHO).agg(pl.col("sample").max()).join(numbers, on=_WHO)["sample"].max()
    return 0 if largest is None else int(largest) + 1  # type: ignore[arg-type]


def _names(column: pl.Series) -> Names:
    return column.to_numpy().astype(np.str_) if len(column) else np.array([], dtype=np.str_)


def _quotient(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> Floats:
    found = np.full(below.shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found
