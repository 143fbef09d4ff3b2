"""What rankings would share if each configuration's scores lay anywhere: a permutation null for `top_sets`.

Each configuration's scores are shuffled among its own places, so that how many units it ranks and how they
tie stays as it is. With strata, scores are shuffled among the places of a stratum only: then the null
holds whatever the strata explain. With families, all configurations of one are shuffled together, as what
they share among themselves is no chance, and only pairs of two families count.

p = (1 + number of permutations that reach what was observed) / (1 + permutations), which is never zero and,
over shuffled scores, at most its level. Source: B. Phipson and G. K. Smyth, Statistical Applications in
Genetics and Molecular Biology 9 (2010) article 39.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.stats.top_sets import best_first, shared

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PERMUTATIONS = 2000
# Permutations are made a block at a time: about this many places are held at once.
_BLOCK = 1_000_000
# Places are drawn, and drawn again where they meet, if there are this many for each that is needed; else all
# of them are shuffled.
_SPARSE = 4


@dataclass(frozen=True)
class SharedByChance:
    """The mean share over pairs, and all units shared, in each permutation [permutations]."""

    mean: Floats
    hits: Ints


def shared_by_chance(
    scores: npt.ArrayLike,
    ks: tuple[int, ...],
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    strata: npt.ArrayLike | None = None,
    families: npt.ArrayLike | None = None,
) -> dict[int, SharedByChance]:
    """By k, what permuted `scores` [C, units] share; `strata` [units] are numbers that are kept apart.

    `families` [C] names those that are shuffled together; None: each by itself, which is what families of
    one make as well. Every k is looked at in the same permutations. Rankings that are all empty share
    nothing: means are nan.
    """
    table = np.asarray(scores, dtype=np.float64)
    some = table.sum(axis=1) > 0
    kin = np.arange(len(table)) if families is None else np.asarray(families)
    table, kin = table[some], kin[some]
    ranked = (table > 0).sum(axis=1)
    apart = kin[:, None] != kin[None, :]
    pairs = int(apart.sum())
    hits = {k: [np.zeros(0, dtype=np.int64)] for k in ks}
    means = {k: [np.zeros(0)] for k in ks}
    if not pairs:
        nothing = SharedByChance(np.full(permutations, np.nan), np.zeros(permutations, dtype=np.int64))
        return dict.fromkeys(ks, nothing)
    for order in _permuted(table, 2 * max(ks), permutations, seed, strata, kin):
        found = shared(order, ks)
        for at, k in enumerate(ks):
            by_own = np.where(apart, found[:, at], 0).sum(axis=2)
            hits[k].append(by_own.sum(axis=1))
            means[k].append((by_own / np.minimum(ranked, k)).sum(axis=1) / pairs)
    return {k: SharedByChance(np.concatenate(means[k]), np.concatenate(hits[k])) for k in ks}


def p_of(null: npt.ArrayLike, observed: float) -> float:
    """One-sided p: how often permutations reach `observed`, itself counted among them."""
    values = np.asarray(null, dtype=np.float64)
    # What is a sum of the same fractions in another order is equal, whatever its last bit says.
    return float(((values >= observed - 1e-12).sum() + 1) / (len(values) + 1))


def _permuted(
    scores: Floats,
    depth: int,
    permutations: int,
    seed: int,
    strata: npt.ArrayLike | None,
    kin: npt.NDArray[Any],
) -> Iterator[Ints]:
    """The first `depth` places of each permuted ranking, in blocks [block, C, depth]; -1 for none."""
    units = scores.shape[1]
    ranked = best_first(scores)
    cut = np.sort(scores, axis=1)[:, ::-1][:, min(depth, units) - 1]
    reach = (scores > 0) & (scores >= cut[:, None])  # whatever may come to lie among the first
    width = int(reach.sum(axis=1).max())
    ranked = ranked[:, :width]
    there = np.arange(width) < reach.sum(axis=1)[:, None]
    # Among equal scores the place decides: a rank class, then the place, in one number.
    tied = _classes(scores, ranked)
    groups = np.zeros(units, dtype=np.int64) if strata is None else np.asarray(strata)
    pools = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    family, its_units = _by_family(kin, ranked, there)
    # Which column of a stratum's drawn places each ranked unit of a family takes.
    column_of = np.zeros((len(its_units), units), dtype=np.int64)
    widths: list[int] = []
    for pool in pools:
        start = sum(widths)
        within = [own[groups[own] == groups[pool[0]]] for own in its_units]
        for number, own in enumerate(within):
            column_of[number, own] = start + np.arange(len(own))
        widths.append(max(map(len, within)))
    columns = np.where(there, column_of[family[:, None], ranked], 0)
    rng = np.random.default_rng(seed)
    drawings = len(its_units)
    held = max(
        len(scores) * width,
        *(drawings * _held(*each) for each in zip(widths, map(len, pools), strict=True)),
        1,
    )
    block = max(1, _BLOCK // held)
    for start in range(0, permutations, block):
        trials = min(block, permutations - start)
        drawn = [
            pool[_distinct(rng, trials * drawings, number, len(pool))]
            for pool, number in zip(pools, widths, strict=True)
        ]
        places = np.concatenate(drawn, axis=1).reshape(trials, drawings, -1)
        places = places[:, family[:, None], columns]
        keys = np.where(there, places + tied * units, np.iinfo(np.int64).max)
        if width > depth:
            keys = np.partition(keys, depth - 1, axis=2)[:, :, :depth]
        keys.sort(axis=2)
        yield np.where(keys == np.iinfo(np.int64).max, -1, keys % units)


def _by_family(kin: npt.NDArray[Any], ranked: Ints, there: npt.NDArray[np.bool_]) -> tuple[Ints, list[Ints]]:
    """The family's number of each configuration [C], and by family the units that any of its own ranks."""
    names, first, inverse = np.unique(kin, return_index=True, return_inverse=True)
    family = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    found = []
    for number in range(len(names)):
        listed = ranked[family == number][there[family == number]]
        _, places = np.unique(listed, return_index=True)
        found.append(listed[np.sort(places)])
    return family, found


def _held(number: int, places: int) -> int:
    """How many numbers per row `_distinct` holds."""
    return number if _SPARSE * number <= places else places


def _distinct(rng: np.random.Generator, rows: int, number: int, places: int) -> Ints:
    """`number` different ones of 0 .. places - 1 in random order, in every row [rows, number]."""
    if _SPARSE * number > places:
        every = np.tile(np.arange(places, dtype=np.int32), (rows, 1))
        return rng.permuted(every, axis=1, out=every)[:, :number].astype(np.int64)
    drawn = (rng.random((rows, number)) * places).astype(np.int64)
    again = np.arange(rows)
    # Of those that meet, the first in the row stays. Nothing here hangs on what a place is called, so every
    # choice of different places is as likely as any other.
    while number > 1 and len(again):
        its = drawn[again]
        order = np.argsort(its, axis=1, kind="stable")
        ordered = np.take_along_axis(its, order, axis=1)
        row, at = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        drawn[again[row], order[row, at + 1]] = (rng.random(len(row)) * places).astype(np.int64)
        again = again[np.unique(row)]
    return drawn


def _classes(scores: Floats, ranked: Ints) -> Ints:
    """Which of the distinct scores, from the highest, each ranked unit has [C, ranked]."""
    ordered = np.take_along_axis(scores, ranked, axis=1)
    steps = np.zeros(ordered.shape, dtype=np.int64)
    steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return steps.cumsum(axis=1)
