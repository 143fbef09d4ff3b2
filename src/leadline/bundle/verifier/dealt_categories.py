"""The trend of the worst category where whole tasks change their categories at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf
from typing import Optional

from leadline.bundle.verifier.cells import Side, Sides
from leadline.bundle.verifier.drawn import Drawn, Tail
from leadline.bundle.verifier.expected import Expected
from leadline.bundle.verifier.ranks import Line

_OWN_PERMUTATIONS = 1000
# Of so many sums fewer permutations are made.
_MOST_SUMS = 12_000_000

# Of each permutation, of each configuration: the largest rate of an estimable category, None without two.
Dealt = list[list[Optional[float]]]


def dealt_categories(sides: Sides, measured: Sequence[Side], floor: int) -> Dealt:
    """Largest rates; every category keeps its number of tasks, items without a task keep their category."""
    bundle = sides.bundle
    blocks: dict[tuple[str, str], list[list[int]]] = {}
    rest: dict[str, list[list[int]]] = {}
    for number, side in enumerate(measured):
        for item, cell in side.items():
            category, task = bundle.category(item), bundle.task(item)
            if not category:
                continue
            empty = [[0, 0] for _ in measured]
            held = blocks.setdefault((task, category), empty) if task else rest.setdefault(category, empty)
            held[number][0] += cell.unstable
            held[number][1] += 1
    names = [category for _, category in sorted(blocks)]
    counts = [blocks[key] for key in sorted(blocks)]
    rng = random.Random(f"dealt {len(names)} {len(measured)}")
    draws = max(200, min(_OWN_PERMUTATIONS, _MOST_SUMS // max(1, len(names) * len(measured))))
    found: Dealt = []
    for _ in range(draws):
        rng.shuffle(names)
        found.append([_largest(names, counts, rest, number, floor) for number in range(len(measured))])
    return found


def _largest(
    names: Sequence[str],
    counts: Sequence[list[list[int]]],
    rest: dict[str, list[list[int]]],
    number: int,
    floor: int,
) -> Optional[float]:
    sums = {name: [*own[number], 0] for name, own in rest.items()}
    for name, own in zip(names, counts):
        flips, n = own[number]
        if n:
            entry = sums.setdefault(name, [0, 0, 0])
            entry[0] += flips
            entry[1] += n
            entry[2] += 1
    rates = [flips / n for flips, n, tasks in sums.values() if tasks >= floor and n]
    return max(rates) if len(rates) >= 2 else None


def intercept_p(
    dealt: Dealt, places: Sequence[int], means: Sequence[float], observed: float, theirs: int
) -> Expected:
    """How often chance reaches the intercept of the line through these configurations."""
    return Expected(Tail(Drawn(lambda: _intercepts(dealt, places, means), theirs), observed), None, theirs)


def _intercepts(dealt: Dealt, places: Sequence[int], means: Sequence[float]) -> list[float]:
    """A draw through whose points no line goes counts as one that reaches everything."""
    found = []
    for row in dealt:
        points = [(x, y) for place, x in zip(places, means) if (y := row[place]) is not None]
        across = [x for x, _ in points]
        is_line = len(points) > 1 and max(across) - min(across) > 1e-12
        found.append(Line(across, [y for _, y in points]).intercept if is_line else inf)
    return found
