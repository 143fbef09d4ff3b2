"""The smallest change between two runs of few items that would have been noticed, by simulating it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Any, Optional

# Simulated studies, here and in the report.
_STUDIES = 2000
_THEIRS = 400
_POWER = 0.8
_LEVEL = 0.05
# The chance that a change is found is known to so much, once it is known from which distance on it is; and
# where that distance stands among those of the null, to so much. Few items have few distances, and the next
# one up may be found far less often.
_EITHER = 4 * sqrt(1 / _THEIRS + 1 / _STUDIES)
_REACH = _EITHER * sqrt(_POWER * (1 - _POWER))
_RANK_REACH = _EITHER * sqrt(_LEVEL * (1 - _LEVEL))

# Of one item: all answers of both runs, and how many of them are the first run's.
Pool = tuple[Sequence[Any], int]


class OneOf:
    """A number that hangs on the report's draws: any of these may have come out, None among them."""

    def __init__(self, values: Sequence[Optional[float]]) -> None:
        self.values = list(values)
        self.theirs: Optional[int] = None

    def agrees(self, found: Optional[float], theirs: int) -> bool:
        """Whether it is one of them."""
        if found is None:
            return None in self.values
        return any(value is not None and abs(found - value) <= 1e-9 for value in self.values)


def smallest_changes(pools: Sequence[Pool]) -> list[Optional[int]]:
    """Numbers of items that may come out as the smallest whose change is found with 80 % chance.

    In each simulated study the answers of an item are dealt out to both runs. Then items, one after the
    other in a random order, are answered otherwise altogether by the second run: they are at distance 1, and
    deals of these answers make the null.
    """
    rng = random.Random("small changes")
    n = len(pools)
    observed: list[list[float]] = [[] for _ in range(n)]
    null: list[list[float]] = [[] for _ in range(n)]
    for _ in range(_STUDIES):
        order = list(range(n))
        rng.shuffle(order)
        same, turned = [], []
        for place in order:
            answers, first = pools[place]
            hand = list(answers)
            rng.shuffle(hand)
            same.append(_distance(hand[:first], hand[first:]))
            mixed = hand[:first] + [("new",)] * (len(hand) - first)
            rng.shuffle(mixed)
            turned.append(_distance(mixed[:first], mixed[first:]))
        rest, dealt = sum(same), 0.0
        for changed in range(n):
            rest -= same[changed]
            dealt += turned[changed]
            observed[changed].append(rest + changed + 1)
            null[changed].append(rest + dealt)
    found: list[Optional[int]] = []
    for changed, (seen, drawn) in enumerate(zip(observed, null), start=1):
        drawn.sort()
        least, most = (
            drawn[min(_STUDIES - 1, int((1 - _LEVEL + side * _RANK_REACH) * _STUDIES))] for side in (-1, 1)
        )
        if _beyond(seen, least) >= _POWER - _REACH:
            found.append(changed)
        if _beyond(seen, most) >= _POWER + _REACH:
            return found
    return [*found, None]


def _beyond(distances: Sequence[float], critical: float) -> float:
    return sum(one > critical + 1e-9 for one in distances) / len(distances)


def _distance(first: Sequence[Any], second: Sequence[Any]) -> float:
    one, other = Counter(first), Counter(second)
    return sum(abs(one[value] / len(first) - other[value] / len(second)) for value in {*one, *other}) / 2
