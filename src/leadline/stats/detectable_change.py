"""How large a change between two runs would have been noticed?

A test that finds no difference says something only if it would have found one. Simulated on the data: the
pooled answers of both runs are dealt out, so that nothing differs; then m items, picked at random, get
another answer altogether in the second run; then it is asked whether the summed distances are significant
among deals of *these* answers. What is sought is the smallest m that is found often enough. That is the
clearest change an item can undergo: where only some of its answers change, more items must.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.stats.two_runs import Tally, blocks, dealt, distance

Floats = npt.NDArray[np.float64]

SIMULATIONS = 400
# Where there are many items fewer simulations will do, and are held in memory: about this many numbers.
_FEWEST, _NUMBERS = 100, 4_000_000
_ROUNDING = 1e-9


def detectable_items(
    groups: tuple[Tally, ...],
    level: float = 0.05,
    power: float = 0.8,
    simulations: int = SIMULATIONS,
    seed: int = 0,
) -> int | None:
    """The smallest number of turned-over items that is found with this chance; None if not even all are."""
    items = sum(len(group.items) for group in groups)
    if items == 0:
        return None
    simulations = min(simulations, max(_FEWEST, _NUMBERS // items))
    rng = np.random.default_rng(seed)
    same, turned = (
        np.concatenate(parts, axis=1)
        for parts in zip(*[_distances(group, simulations, rng) for group in groups], strict=True)
    )
    # Which items are turned over, one after the other, is another order in every simulation.
    order = rng.permuted(np.tile(np.arange(items), (simulations, 1)), axis=1)
    same, turned = (np.take_along_axis(part, order, axis=1) for part in (same, turned))
    unchanged = same.sum(axis=1, keepdims=True) - np.cumsum(same, axis=1)
    observed = unchanged + np.arange(1, items + 1)  # what has nothing in common is at distance 1
    null = np.sort(unchanged + np.cumsum(turned, axis=1), axis=0)
    critical = null[simulations - int(level * simulations) - 1]
    found = (observed > critical + _ROUNDING).mean(axis=0) >= power
    return int(found.argmax()) + 1 if found.any() else None


def _distances(group: Tally, simulations: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Distances between two hands [simulations, items]: of the pooled answers, and of an item turned over."""
    k, items = group.codes.shape
    hands, others = group.a.sum(axis=0), group.b.sum(axis=0)
    same, turned = np.zeros((simulations, items)), np.zeros((simulations, items))
    for block in blocks(simulations, (k + 1) * items):
        shape = (block.stop - block.start, items)
        first = dealt(group.pooled[:, None, :], hands, shape, rng)
        if k > 1:
            same[block] = distance(first, group.pooled[:, None, :] - first)
        new = np.broadcast_to(others, (1, *shape))
        pooled = np.concatenate([new, first])
        again = dealt(pooled, hands, shape, rng)
        turned[block] = distance(again, pooled - again)
    return same, turned
