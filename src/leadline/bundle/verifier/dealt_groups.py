"""Two groups that are dealt out anew: exactly where there are few ways to, else by draws; and which p of a
contrast's figures its claim rests on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, Optional, Union

from leadline.bundle.verifier.drawn import Drawn, Tail

# Of so many ways to deal out all are gone through.
_EXACT_WAYS = 20_000


def headline_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table that a claim is made of, in order."""
    return [row for row in rows if row["keys"].get("measure") == "wobble" and "p" in row["figures"]]


def decisive_p(figures: dict[str, Any]) -> Optional[float]:
    """The p that a claim rests on; none where nothing is said of other tasks than these."""
    if figures.get("difference_tasks", figures["difference"]).get("low") is None:
        return None
    p: Optional[float] = figures["p_tasks" if "p_tasks" in figures else "p"].get("value")
    return p


def least_p(figures: dict[str, Any]) -> float:
    """The smallest that the p could be that a claim rests on, whatever the groups hold."""
    what = "tasks" if "p_tasks" in figures else "items"
    of, against = (int(figures[f"{what}_{side}"]["value"]) for side in ("of", "against"))
    return (2 if of == against else 1) / comb(of + against, of)


def dealt_p(
    one: Sequence[tuple[float, float]],
    other: Sequence[tuple[float, float]],
    difference: float,
    permutations: int,
) -> Union[float, Tail]:
    """How often dealing out to the groups anew makes as large a difference; exact where the ways are few."""
    pool = [*one, *other]
    ways = comb(len(pool), len(one))
    if ways > _EXACT_WAYS:
        return Tail(Drawn(lambda: relabelled(one, other), permutations), difference, sides=2)
    whole_above, whole_below = sum(a for a, _ in pool), sum(b for _, b in pool)
    reached = 0
    # Which of both groups is chosen does not matter to how far they are apart.
    for chosen in combinations(pool, min(len(one), len(other))):
        above, below = sum(a for a, _ in chosen), sum(b for _, b in chosen)
        apart = above / below - (whole_above - above) / (whole_below - below)
        reached += abs(apart) >= abs(difference) - 1e-9
    return reached / ways


def relabelled(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> list[float]:
    """Differences of pooled rates where items, or tasks, are dealt out to the groups anew."""
    pool = [*one, *other]
    rng = random.Random(f"relabelled {len(one)} {len(other)}")
    whole_above, whole_below = sum(a for a, _ in pool), sum(b for _, b in pool)
    found = []
    for _ in range(2000):
        drawn = rng.sample(pool, len(one))
        above, below = sum(a for a, _ in drawn), sum(b for _, b in drawn)
        if below and whole_below - below:
            found.append(above / below - (whole_above - above) / (whole_below - below))
    return found
