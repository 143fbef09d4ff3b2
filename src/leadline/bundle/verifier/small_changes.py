"""The smallest change between two runs of few items that would have been noticed, by simulating it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Any, Optional

# Simulated studies, here and in the report; the chance that a change is found is known to so much.
_STUDIES = 400
_REACH = 4 * sqrt(0.8 * 0.2 * 2 / _STUDIES)
_POWER = 0.8
_LEVEL = 0.05

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
    chances = []
    for seen, drawn in zip(observed, null):
        critical = sorted(drawn)[_STUDIES - int(_LEVEL * _STUDIES) - 1]
        chances.append(sum(one > critical + 1e-9 for one in seen) / _STUDIES)
    found: list[Optional[int]] = []
    for changed, chance in enumerate(chances, start=1):
        if chance >= _POWER - _REACH:
            found.append(changed)
        if chance >= _POWER + _REACH:
            return found
    return [*found, None]


def _distance(first: Sequence[Any], second: Sequence[Any]) -> float:
    one, other = Counter(first), Counter(second)
    return sum(abs(one[value] / len(first) - other[value] / len(second)) for value in {*one, *other}) / 2
