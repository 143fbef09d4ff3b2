"""How far one ranking's first k lie among another's first 2k, for many rankings of the same units.

Each configuration c scores the units; those with a score above zero are ranked, the highest first, ties by
place. T_k(c) is the set of the first min(k, ranked) units. A pair (A, B) shares |T_k(A) ∩ T_2k(B)| units; its
share is that over |T_k(A)|. A pair of which one side ranks nothing has none. If B's set were drawn blindly,
the pair would share |T_k(A)| · |T_2k(B)| / N units of N.

Where more units tie at a cut than fit above it, the place decides who is in, for all configurations alike,
so that blind sets too would share more than that. `untied` breaks such ties at random instead, for each
configuration by itself, and gives the mean over all ways of breaking them, exactly: a tied unit is in the set
with probability (places left) / (units tied), and what a pair shares is the sum over units of the product of
both probabilities. Over blind scores this has the mean |T_k(A)| · |T_2k(B)| / N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# So many comparisons are held at once.
_BLOCK = 8_000_000


@dataclass(frozen=True)
class TopSets:
    """What C configurations share at one k. Matrices are [A, B], A ≠ B; `pairs` says where they hold."""

    k: int
    units: int
    hits: Floats  # units shared, ties by place
    untied: Floats  # the same with ties broken at random, in the mean
    ranked: Ints  # [C] units with a score above zero

    @property
    def own(self) -> Ints:
        """|T_k| of each configuration."""
        return np.minimum(self.ranked, self.k)

    @property
    def wide(self) -> Ints:
        """|T_2k| of each configuration."""
        return np.minimum(self.ranked, 2 * self.k)

    @property
    def pairs(self) -> Mask:
        """Ordered pairs of different configurations that both rank something."""
        some = self.ranked > 0
        found: Mask = some[:, None] & some[None, :] & ~np.eye(len(some), dtype=bool)
        return found

    @property
    def expected(self) -> Floats:
        """Units that blind sets of these sizes share."""
        return self.own[:, None] * self.wide[None, :] / max(self.units, 1)

    @property
    def share(self) -> Floats:
        """`hits` over |T_k(A)|; 0 where A ranks nothing."""
        return self._over_own(self.hits)

    @property
    def untied_share(self) -> Floats:
        """`untied` over |T_k(A)|; 0 where A ranks nothing."""
        return self._over_own(self.untied)

    @property
    def short(self) -> Mask:
        """Pairs whose sets are smaller than asked for: fewer than k ranked by A, or than 2k by B."""
        found: Mask = (self.own < self.k)[:, None] | (self.wide < 2 * self.k)[None, :]
        return found

    def _over_own(self, shared: Floats) -> Floats:
        return shared / np.maximum(self.own, 1)[:, None]


def top_sets(scores: npt.ArrayLike, k: int) -> TopSets:
    """What the rankings by `scores` [C, units] share at this k. Scores are finite and at least 0.

    >>> found = top_sets([[0.4, 0.2, 0.0, 0.0], [0.0, 0.3, 0.3, 0.0]], k=1)
    >>> int(found.hits[0, 1]), int(found.hits[1, 0])
    (0, 1)
    """
    table = np.asarray(scores, dtype=np.float64)
    ranked = (table > 0).sum(axis=1)
    order = best_first(table)[:, : 2 * k]
    hits = shared(order[None], (k,))[0, 0].astype(np.float64)
    untied = _chances(table, k) @ _chances(table, 2 * k).T
    return TopSets(k, table.shape[1], hits, untied, ranked)


def best_first(scores: Floats) -> Ints:
    """Places of the units [C, units], the highest score first, ties by place; -1 where the score is not
    above zero."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.where(np.take_along_axis(scores, order, axis=1) > 0, order, -1)


def shared(order: Ints, ks: tuple[int, ...]) -> Ints:
    """How many of A's first k are among B's first 2k: [trials, len(ks), A, B].

    `order` [trials, C, length] holds places of units, the first first, -1 for none; its length is at least
    2k, or the number of units.
    """
    trials, members, length = order.shape
    found = np.empty((trials, len(ks), members, members), dtype=np.int64)
    narrow = order[:, :, : max(ks)].astype(np.int32)
    wide = np.where(order < 0, -2, order).astype(np.int32)  # no place is not the same as no place
    block = max(1, _BLOCK // max(members * members * narrow.shape[2] * length, 1))
    for start in range(0, trials, block):
        part = slice(start, start + block)
        same = narrow[part, :, None, :, None] == wide[part, None, :, None, :]
        for at, k in enumerate(ks):
            found[part, at] = same[..., :k, : 2 * k].sum(axis=(3, 4), dtype=np.int32)
    return found


def _chances(scores: Floats, k: int) -> Floats:
    """The chance that each unit is among the first k [C, units] if ties are broken at random."""
    found = np.zeros_like(scores)
    for number, row in enumerate(scores):
        size = min(k, int((row > 0).sum()))
        if size:
            cut = np.partition(row, -size)[-size]
            above, tied = row > cut, row == cut
            found[number, above] = 1
            found[number, tied] = (size - above.sum()) / tied.sum()
    return found
