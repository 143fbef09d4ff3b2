"""The largest rate of a category if categories meant nothing: tasks change their categories at random.

A task carries its items with it (rates of tasks differ, so items of one task are no independent witnesses),
each category keeps its number of tasks, and the same tasks change under all configurations. Items without a
task stay in their category, tasks without a category in none. A task with items in two categories counts as
one in each.
"""

from __future__ import annotations

from math import factorial, prod

import numpy as np
import numpy.typing as npt

from leadline.lenses.panel import Floats, Panel

Ints = npt.NDArray[np.int64]

# So many numbers are held at once.
_BLOCK = 4_000_000


def largest_by_chance(panel: Panel, floor: int, permutations: int, seed: int) -> Floats:
    """The largest rate of a category of at least `floor` tasks [permutations, configurations].

    nan where fewer than two categories have as many tasks with a measured item, and one at all.
    """
    unstable, measured, category = _blocks(panel)
    kept = panel.tasks == ""
    categories = np.unique(panel.categories[panel.categories != ""])
    # What stays: unstable and measured items without a task [categories, configurations].
    rest = [
        (panel.unstable[:, its].sum(axis=1), panel.measured[:, its].sum(axis=1))
        for its in (kept & (panel.categories == name) for name in categories)
    ]
    rng = np.random.default_rng(seed)
    found = np.full((permutations, len(panel.members)), np.nan)
    if not len(category):
        return found
    names = np.arange(len(categories))
    block = max(1, _BLOCK // (len(category) * max(len(names), 1)))
    table = np.concatenate([unstable, measured, measured > 0]).astype(np.float64)  # [3 C, tasks]
    members = len(panel.members)
    for start in range(0, permutations, block):
        trials = min(block, permutations - start)
        told = rng.permuted(np.tile(category, (trials, 1)), axis=1)
        largest = np.full((trials, members), -np.inf)
        able = np.zeros((trials, members), dtype=np.int64)
        for name in names:
            flips, cells, tasks = np.split((told == name).astype(np.float64) @ table.T, 3, axis=1)
            flips, cells = flips + rest[name][0], cells + rest[name][1]
            counts = (tasks >= floor) & (cells > 0)
            able += counts
            np.maximum(largest, flips / np.maximum(cells, 1), out=largest, where=counts)
        found[start : start + trials] = np.where(able >= 2, largest, np.nan)
    return found


def least_p(panel: Panel) -> float:
    """The smallest p that any rates could have: the share of ways to deal tasks to categories that differ
    from what is there at most in what equally large categories are called."""
    _, _, category = _blocks(panel)
    sizes = np.bincount(category)
    ways = factorial(len(category))
    same = prod(factorial(int(size)) for size in sizes)
    same *= prod(factorial(int(number)) for number in np.bincount(sizes)[1:])
    return same / ways


def intercepts(across: Floats, up: Floats) -> Floats:
    """Of each row of `up` [permutations, C] the intercept of its least-squares line on `across` [C].

    Places without a number are left out; nan where no line goes through the others.
    """
    there = np.isfinite(up)
    values = np.where(there, up, 0.0)
    number = there.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (there * across).sum(axis=1) / number, values.sum(axis=1) / number
        off = np.where(there, across - x[:, None], 0.0)
        spread = (off**2).sum(axis=1)
        found: Floats = np.where(spread > 1e-24, y - (off * values).sum(axis=1) / spread * x, np.nan)
    return found


def _blocks(panel: Panel) -> tuple[Ints, Ints, Ints]:
    """Unstable and measured items [configurations, tasks], and the number of each task's category [tasks]."""
    there = np.flatnonzero((panel.tasks != "") & (panel.categories != ""))
    _, kind = np.unique(panel.categories[panel.categories != ""], return_inverse=True)
    kinds = np.full(len(panel.items), -1)
    kinds[panel.categories != ""] = kind
    pairs, of = np.unique(
        np.column_stack([_numbers(panel)[there], kinds[there]]), axis=0, return_inverse=True
    )
    of = of.reshape(-1)
    unstable, measured = (
        np.stack([np.bincount(of, weights=row[there], minlength=len(pairs)) for row in cells]).astype(
            np.int64
        )
        if len(panel.members)
        else np.zeros((0, len(pairs)), dtype=np.int64)
        for cells in (panel.unstable, panel.measured)
    )
    return unstable, measured, pairs[:, 1]


def _numbers(panel: Panel) -> Ints:
    """The number of each item's task [items]."""
    _, numbers = np.unique(panel.tasks, return_inverse=True)
    return numbers.reshape(-1)
