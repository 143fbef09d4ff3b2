"""Which two runs a study holds against each other, and what either of them answered to the same items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.frame import STATES
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.whole import Whole
from leadline.stats.two_groups import Counts
from leadline.stats.two_runs import Tally, tallies

# Marks a state among values, which are text that was read.
_MARK = "\x01"


class Pair(NamedTuple):
    """Two members, by number, and what tables call them."""

    first: int
    second: int


class Compared(NamedTuple):
    """One pair's items that both runs were asked."""

    pair: Pair
    groups: tuple[Tally, ...]
    differing: int
    items: int
    stored: npt.NDArray[np.int32]  # codes of the first run's most frequent answers, by number of the item
    readable: tuple[Counts, Counts]  # of either run: readable answers and all, by item that both were asked


def shared_panel(whole: Whole) -> Panel:
    """The population with numbers compared over all configurations together, so that values match.

    An answer that has no value counts as its state, which no value is spelt like.
    """
    value = pl.coalesce("value_shared", "value")
    state = pl.lit(_MARK) + pl.col("state")
    shared = whole.readings.with_columns(
        pl.when(pl.col("state") == "ok").then(value).otherwise(state).alias("value"),
        pl.lit("ok").alias("state"),
    )
    return make_panel(shared, whole.members)


def pairs_of(whole: Whole) -> tuple[list[Pair], list[str]]:
    """The study's pairs as members; a name is a label, a configuration or a model.

    Where both names fit configurations of several models, those of the same model are paired.
    """
    found, notes = [], []
    for names in whole.protocol.stability.equivalence:
        first, second = (_fitting(whole, name) for name in names)
        missing = [name for name, fitting in zip(names, (first, second), strict=True) if not fitting]
        if missing:
            notes.append(f"{' and '.join(names)}: no answers of {', '.join(missing)}.")
            continue
        several = len(first) > 1 or len(second) > 1
        its = [
            Pair(a, b)
            for a in first
            for b in second
            if a != b and (not several or whole.members[a].model == whole.members[b].model)
        ]
        if not its:
            notes.append(f"{' and '.join(names)}: these names fit no two configurations of one model.")
        found += its
    return list(dict.fromkeys(found)), notes


def _fitting(whole: Whole, name: str) -> list[int]:
    exact = [number for number, label in enumerate(whole.labels) if label == name]
    return exact or [
        number for number, one in enumerate(whole.members) if name in (one.configuration, one.model)
    ]


def compared(panel: Panel, pair: Pair) -> Compared:
    """The answers of a pair, on a shared panel."""
    both = panel.read[pair.first] & panel.read[pair.second]
    modal = panel.modal
    is_state = np.isin(panel.values, [_MARK + state for state in STATES])
    readable = []
    for number in pair:
        codes = panel.codes[number][both]
        there = codes >= 0
        values = there.copy()
        values[there] = ~is_state[codes[there]]
        readable.append(Counts(*(part.sum(axis=1).astype(np.float64) for part in (values, there))))
    return Compared(
        pair,
        tallies(panel.codes[pair.first], panel.codes[pair.second]),
        differing=int((both & (modal[pair.first] != modal[pair.second])).sum()),
        items=int(both.sum()),
        stored=modal[pair.first],
        readable=(readable[0], readable[1]),
    )
