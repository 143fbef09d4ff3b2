"""Are two runs draws from the same? Both runs' answers to an item are pooled and dealt out again.

If the runs are of the same thing, it is chance which of the pooled answers fell to which run: every deal in
the same sizes was as likely (exchangeability), so the null holds exactly, whatever the answers are and
however many each run has. Two statistics, summed over items: whether the most frequent answers differ (of
equally frequent ones either is as likely), and the total variation distance ½ Σ |c_a/n_a - c_b/n_b| of the
answers, which also sees shifts that leave the most frequent answer in place.

The first is weak where the second is strong: of 20 answers "x" and 20 answers "y" nearly every deal has two
different most frequent answers too, but hardly any has a distance of 1.
Source: P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses (2005), chapters 3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

PERMUTATIONS = 2000
# Deals are made a block at a time: about this many numbers are held at once.
_BLOCK = 2_000_000
# Sums of distances that are equal on paper may differ in their last digits.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Tally:
    """Items with the same number k of different answers: how often each run gave which."""

    items: Ints  # [items]: their numbers
    codes: Ints  # [k, items]: which answer, in ascending order
    a: Ints  # [k, items]
    b: Ints  # [k, items]

    @property
    def pooled(self) -> Ints:
        """Both runs together [k, items]."""
        return self.a + self.b


def tallies(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Tally, ...]:
    """Counts of the answers of two runs, both [items, samples] of codes with -1 where there is no answer.

    Only items that both runs answered; smallest k first.
    """
    runs: list[Ints] = [np.asarray(run, dtype=np.int64) for run in (first, second)]
    both: Mask = np.logical_and(*[np.any(run >= 0, axis=1) for run in runs])
    width = max(int(run.max(initial=-1)) for run in runs) + 1
    keys = []
    for run in runs:
        item, _ = there = np.nonzero((run >= 0) & both[:, None])
        keys.append(item * width + run[there])
    answers, where = np.unique(np.concatenate(keys), return_inverse=True)
    a, b = (np.bincount(part, minlength=len(answers)) for part in np.split(where, [len(keys[0])]))
    item, code = np.divmod(answers, max(width, 1))
    different = np.bincount(item, minlength=len(both))[item]
    found = []
    for k in np.unique(different):
        its = different == k
        item_k, code_k, a_k, b_k = (part[its].reshape(-1, k).T for part in (item, code, a, b))
        found.append(Tally(item_k[0], code_k, a_k, b_k))
    return tuple(found)


def variation(tally: Tally) -> Floats:
    """Total variation distance of the two runs' answers [items]: 0 the same shares, 1 nothing in common."""
    return distance(tally.a, tally.b)


def distance(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Floats:
    """½ Σ |a/Σa - b/Σb| over the first axis, of counts of answers [k, ...]."""
    apart: Floats = np.abs(a / a.sum(axis=0) - b / b.sum(axis=0)).sum(axis=0)
    return apart / 2


@dataclass(frozen=True)
class Deals:
    """What each deal shows [permutations]: items whose most frequent answers differ, and summed distances."""

    differing: Floats
    variation: Floats

    def p_differing(self, observed: float) -> float:
        """Share of deals, and of the data, with at least so many items differing."""
        return _p(self.differing, observed)

    def p_variation(self, observed: float) -> float:
        """Share of deals, and of the data, with at least so large a sum of distances."""
        return _p(self.variation, observed)


def deal(groups: tuple[Tally, ...], permutations: int = PERMUTATIONS, seed: int = 0) -> Deals:
    """The null distribution of both statistics; items with one answer alone add nothing to either."""
    rng = np.random.default_rng(seed)
    differing, distances = np.zeros(permutations), np.zeros(permutations)
    for group in groups:
        if len(group.codes) < 2:
            continue
        for block in blocks(permutations, group.codes.size):
            shape = (block.stop - block.start, len(group.items))
            a = dealt(group.pooled[:, None, :], group.a.sum(axis=0), shape, rng)
            b = group.pooled[:, None, :] - a
            distances[block] += distance(a, b).sum(axis=1)
            differing[block] += (rng.random(shape) < modes_differ(a, b)).sum(axis=1)
    return Deals(differing, distances)


def dealt(pooled: Ints, hands: npt.NDArray[Any], shape: tuple[int, int], rng: np.random.Generator) -> Ints:
    """How many of each answer fall to a hand of so many: [k, deals, items], without replacement.

    `pooled` [k, deals or 1, items], `hands` [items]. One answer after the other, each hypergeometric given
    those before it.
    """
    found = np.empty((len(pooled), *shape), dtype=np.int64)
    wanted = np.broadcast_to(hands, shape).astype(np.int64)
    left = np.broadcast_to(pooled.sum(axis=0), shape)
    for number, count in enumerate(pooled[:-1]):
        left = left - count
        found[number] = rng.hypergeometric(np.broadcast_to(count, shape), left, wanted)
        wanted = wanted - found[number]
    found[-1] = wanted
    return found


def modes_differ(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Floats:
    """Chance that the most frequent answers differ, ties decided at random, of counts [k, ...]."""
    most_a, most_b = a == a.max(axis=0), b == b.max(axis=0)
    same: Floats = (most_a & most_b).sum(axis=0) / (most_a.sum(axis=0) * most_b.sum(axis=0))
    return 1 - same


def blocks(draws: int, size: int) -> Iterator[slice]:
    """The draws cut into blocks of about two million numbers, where one draw holds `size` of them."""
    step = max(1, _BLOCK // max(size, 1))
    for start in range(0, draws, step):
        yield slice(start, min(start + step, draws))


def _p(null: Floats, observed: float) -> float:
    return (1 + int((null >= observed - _ROUNDING).sum())) / (1 + len(null))
