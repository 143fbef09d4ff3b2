"""What rankings share at the top: top sets, rank-biased overlap, shuffled values, and pairs drawn by their
members."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import Optional

from leadline.bundle.verifier.resampling import DRAWS

PERSISTENCE = 0.9
_OWN_PERMUTATIONS = 1000

Pair = tuple[int, int]
# Of one configuration, the score of each unit, in the order that breaks ties.
Scores = Sequence[float]


def best_first(scores: Scores) -> list[int]:
    """The units with a score above zero, the highest first, ties by place."""
    return sorted(
        (unit for unit, score in enumerate(scores) if score > 0), key=lambda unit: (-scores[unit], unit)
    )


class Shared:
    """What each ordered pair of configurations (of two families, where `kin` names these) shares at one k."""

    def __init__(
        self, rankings: Sequence[Sequence[int]], units: int, k: int, kin: Optional[Sequence[str]] = None
    ) -> None:
        self.k, self.units = k, units
        tops = [set(ranking[:k]) for ranking in rankings]
        wider = [set(ranking[: 2 * k]) for ranking in rankings]
        self.hits: dict[Pair, int] = {}
        self.shares: dict[Pair, float] = {}
        self.blind: dict[Pair, float] = {}
        self.chances: dict[Pair, float] = {}
        self.truncated = self.owed = 0
        for a, top in enumerate(tops):
            for b, wide in enumerate(wider):
                if a == b or not top or not wide or (kin and kin[a] == kin[b]):
                    continue
                both = len(top & wide)
                self.hits[a, b] = both
                self.shares[a, b] = both / len(top)
                self.blind[a, b] = len(top) * len(wide) / units
                self.chances[a, b] = len(wide) / units
                self.truncated += len(top) < k or len(wide) < 2 * k
                self.owed += len(top)

    @property
    def total(self) -> int:
        """All hits."""
        return sum(self.hits.values())

    @property
    def mean(self) -> Optional[float]:
        """The mean share."""
        return sum(self.shares.values()) / len(self.shares) if self.shares else None


def untied_shares(scores: Sequence[Scores], k: int) -> dict[Pair, float]:
    """The shares with ties at a cut broken at random, averaged over all ways of breaking them."""
    tops = [_inclusion(own, k) for own in scores]
    wider = [_inclusion(own, 2 * k) for own in scores]
    found = {}
    for a, top in enumerate(tops):
        size = sum(top.values())
        for b, wide in enumerate(wider):
            if a != b and top and wide:
                found[a, b] = sum(chance * wide.get(unit, 0.0) for unit, chance in top.items()) / size
    return found


def _inclusion(scores: Scores, k: int) -> dict[int, float]:
    """The chance of each unit to be among the first k."""
    order = best_first(scores)
    if len(order) <= k:
        return dict.fromkeys(order, 1.0)
    cut = scores[order[k - 1]]
    above = [unit for unit in order if scores[unit] > cut]
    tied = [unit for unit in order if scores[unit] == cut]
    chance = (k - len(above)) / len(tied)
    return {**dict.fromkeys(above, 1.0), **dict.fromkeys(tied, chance)}


class Shuffled:
    """Means of shares, and hits, where each configuration's values lie anywhere (within strata): by k.

    With `kin`, values of a family are moved together, and only pairs of two families count.
    """

    def __init__(
        self,
        scores: Sequence[Scores],
        ks: Sequence[int],
        strata: Optional[Sequence[int]] = None,
        kin: Optional[Sequence[str]] = None,
    ) -> None:
        units = len(scores[0])
        rng = random.Random(f"shuffled {units} {len(scores)} {strata is None}")
        deepest = 2 * max(ks)
        groups: dict[int, list[int]] = {}
        for unit in range(units):
            groups.setdefault(strata[unit] if strata else 0, []).append(unit)
        places = list(groups.values())
        # Of each configuration and group: the units that can come to count, the highest first.
        held = [[_reaching(own, group, deepest) for group in places] for own in scores]
        families = (
            [[at for at, name in enumerate(kin) if name == one] for one in sorted(set(kin))] if kin else []
        )
        families = families or [[at] for at in range(len(scores))]
        # Of each family and group: the units that any of its own needs a place for.
        needed = [
            [sorted({unit for at in family for unit in held[at][number]}) for number in range(len(places))]
            for family in families
        ]
        self.means: dict[int, list[float]] = {k: [] for k in ks}
        self.hits: dict[int, list[float]] = {k: [] for k in ks}
        for _ in range(_OWN_PERMUTATIONS):
            rankings: list[list[int]] = [[] for _ in scores]
            for family, units_of in zip(families, needed):
                moved = {
                    unit: place
                    for group, its in zip(places, units_of)
                    for unit, place in zip(its, rng.sample(group, len(its)))
                }
                for at in family:
                    placed = sorted((-scores[at][unit], moved[unit]) for group in held[at] for unit in group)
                    rankings[at] = [place for _, place in placed[:deepest]]
            for k in ks:
                shared = Shared(rankings, units, k, kin)
                if shared.mean is not None:
                    self.means[k].append(shared.mean)
                    self.hits[k].append(shared.total)


def _reaching(scores: Scores, group: Sequence[int], deepest: int) -> list[int]:
    """The units of a group with the highest values, with all that tie with the last one that can count."""
    ranked = sorted((unit for unit in group if scores[unit] > 0), key=lambda unit: -scores[unit])
    if len(ranked) <= deepest:
        return ranked
    cut = scores[ranked[deepest - 1]]
    return [unit for unit in ranked if scores[unit] >= cut]


def pair_draws(
    members: int,
    pairs: Sequence[Pair],
    statistic: Callable[[list[tuple[Pair, int]]], Optional[float]],
    kin: Optional[Sequence[str]] = None,
) -> list[float]:
    """A statistic of the pairs, each as often as both its members (their families, with `kin`) were drawn;
    draws without a pair are left out.

    Nothing for fewer than three members (families) that are in a pair.
    """
    names = list(kin) if kin else [str(member) for member in range(members)]
    if len({names[member] for pair in pairs for member in pair}) < 3:
        return []
    rng = random.Random(f"pairs {members} {len(pairs)}")
    found = []
    drawable = sorted(set(names))
    for _ in range(DRAWS // 2):
        drawn = Counter(rng.choices(drawable, k=len(drawable)))
        times = [drawn[name] for name in names]
        weighted = [
            (pair, times[pair[0]] * times[pair[1]]) for pair in pairs if times[pair[0]] * times[pair[1]]
        ]
        if weighted:
            value = statistic(weighted)
            if value is not None:
                found.append(value)
    return sorted(found)


def pair_ratio_draws(
    members: int, above: dict[Pair, float], below: dict[Pair, float], kin: Optional[Sequence[str]] = None
) -> list[float]:
    """Σ above / Σ below over drawn pairs."""

    def statistic(weighted: list[tuple[Pair, int]]) -> Optional[float]:
        bottom = sum(below[pair] * times for pair, times in weighted)
        return sum(above[pair] * times for pair, times in weighted) / bottom if bottom else None

    return pair_draws(members, list(above), statistic, kin)


def pair_median_draws(members: int, values: dict[Pair, float]) -> list[float]:
    """The median over drawn pairs."""

    def statistic(weighted: list[tuple[Pair, int]]) -> float:
        return float(median(value for pair, times in weighted for value in [values[pair]] * times))

    return pair_draws(members, list(values), statistic)


def rank_overlap(first: Sequence[int], second: Sequence[int], p: float = PERSISTENCE) -> Optional[float]:
    """(1 - p) Σ p^(d-1) |first d of both| / d up to the longer one's end; None when one is empty."""
    if not first or not second:
        return None
    seen_first: set[int] = set()
    seen_second: set[int] = set()
    common, total = 0, 0.0
    for depth in range(1, max(len(first), len(second)) + 1):
        for one, own, other in ((first, seen_first, seen_second), (second, seen_second, seen_first)):
            if depth <= len(one):
                own.add(one[depth - 1])
                common += one[depth - 1] in other
        total += p ** (depth - 1) * common / depth
    return (1 - p) * total


def overlap_ceiling(first: int, second: int) -> Optional[float]:
    """The overlap of two rankings of these lengths of which one is the beginning of the other."""
    longer = list(range(max(first, second)))
    return rank_overlap(longer, longer[: min(first, second)])
