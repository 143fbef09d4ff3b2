"""Every headline with and without the items that the audit leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Optional

from leadline.bundle.verifier.alike import alike_groups, are_alike
from leadline.bundle.verifier.cells import Cell, Side, Sides
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import Expected, Table, no_figure, plain_count, ratio_figure, row_key
from leadline.bundle.verifier.lens_contrast import Groups
from leadline.bundle.verifier.lens_observability import TaskValues, task_rho
from leadline.bundle.verifier.lens_reliability import median_corrected
from leadline.bundle.verifier.lens_transfer import common_units, item_scores
from leadline.bundle.verifier.resampling import resamples
from leadline.bundle.verifier.top_sets import Shared, best_first, pair_ratio_draws
from leadline.bundle.verifier.transfer_figures import share_figures

_SHARES: dict[str, Callable[[Cell], bool]] = {
    "wobble": lambda cell: cell.unstable,
    "accuracy": lambda cell: cell.correct,
    "share of cells at p = 1": lambda cell: cell.hits == cell.n,
    "share of cells in 0.3 ≤ p ≤ 0.7": lambda cell: 3 * cell.n <= 10 * cell.hits <= 7 * cell.n,
}


def exclusion_tables(sides: Sides) -> dict[str, Table]:
    """The one table; none where the audit leaves nothing out, or everything."""
    if not sides.repeated:
        return {}
    groups = Groups(sides)
    by_audit = [item for item in groups.everybody if groups.excluded[item]]
    left = by_audit or [item for item in groups.everybody if groups.is_flagged(item)]
    stay = set(groups.everybody) - set(left)
    if not left or not stay:
        return {}
    everyone = _measured_only(sides.measured(everyone=True), set(groups.everybody))
    audited = _measured_only(everyone, stay)
    table: Table = {}
    for quantity, pair in _sizes(sides, everyone, audited).items():
        table[row_key(quantity=quantity)] = {
            "included": plain_count(pair[0]),
            "audited": plain_count(pair[1]),
        }
    for quantity, counts in _SHARES.items():
        table[row_key(quantity=quantity)] = _pooled(everyone, stay, counts)
    table.update(_of_tasks(sides, everyone, audited))
    k = max(sides.stability["top"])
    sets: dict[str, Sequence[int]] = {"": range(len(everyone))}
    sets.update({f" ({name})": places for name, places in sides.subsets.items()})
    for name, places in sets.items():
        if len(places) > 1:
            table.update(_shared([everyone[at] for at in places], [audited[at] for at in places], k, name))
    return {"both readings": table}


def _sizes(sides: Sides, everyone: list[Side], audited: list[Side]) -> dict[str, tuple[int, int]]:
    task = sides.bundle.task

    def of(measured: list[Side]) -> tuple[int, int, int, int]:
        items = {item for side in measured for item in side}
        unsteady = {task(item) for side in measured for item, cell in side.items() if cell.unstable}
        return (
            len(items),
            len({task(item) for item in items} - {""}),
            sum(map(len, measured)),
            len(unsteady - {""}),
        )

    names = ("items", "tasks", "cells", "tasks with wobble")
    return dict(zip(names, zip(of(everyone), of(audited))))


def _pooled(everyone: list[Side], stay: set[str], counts: Callable[[Cell], bool]) -> dict[str, Expected]:
    sums: dict[str, list[int]] = {}
    for side in everyone:
        for item, cell in side.items():
            entry = sums.setdefault(item, [0, 0])
            entry[0] += counts(cell)
            entry[1] += 1
    above, below = [a for a, _ in sums.values()], [b for _, b in sums.values()]
    kept_above = [a if item in stay else 0 for item, (a, _) in sums.items()]
    kept_below = [b if item in stay else 0 for item, (_, b) in sums.items()]
    included = ratio_figure(above, below)
    there = [pair for item, pair in sums.items() if item in stay]
    audited = ratio_figure([a for a, _ in there], [b for _, b in there])
    if included.value is None or audited.value is None:
        return {"included": included, "audited": audited, "change": no_figure(len(sums))}

    def changes() -> list[float]:
        if len(above) == 1:
            return [audited.value - included.value]
        found = []
        for take in resamples(len(above)):
            whole, kept = sum(take(below)), sum(take(kept_below))
            # A draw in which nothing stays lies beyond every end.
            found.append(sum(take(kept_above)) / kept - sum(take(above)) / whole if kept else inf)
        return found

    ends = None if len(there) == len(sums) else _of_alike(above, below, len(there), sum(kept_below))
    change = Expected(audited.value - included.value, None, len(sums), ends or Drawn(changes))
    return {"included": included, "audited": audited, "change": change}


def _of_alike(
    above: Sequence[float], below: Sequence[float], stay: int, kept: float
) -> Optional[tuple[float, float]]:
    """Of items without a difference: what stays less what goes, times the part of the cells that goes."""
    if not are_alike(above, below):
        return None
    share = sum(above) / sum(below)
    low, high = alike_groups(share, stay, share, len(below) - stay)
    part = 1 - kept / sum(below)
    return part * low, part * high


def _of_tasks(sides: Sides, everyone: list[Side], audited: list[Side]) -> Table:
    rule = sides.stability["sameness"]
    rows: dict[str, dict[str, Expected]] = {}
    for name, measured in (("included", everyone), ("audited", audited)):
        tasks = TaskValues(sides, measured)
        n = len(tasks.cells)
        reliability, estimable = median_corrected(sides, measured, rule)
        median_row = rows.setdefault("split-half reliability, median", {})
        median_row[name] = Expected(reliability, None, estimable)
        values: dict[str, Optional[float]] = {
            "structural ceiling, accuracy ≥ 0.9": tasks.largest("lower", tasks.right) if n else None,
            "wobble–accuracy ρ": task_rho(tasks, None).value if n else None,
        }
        for quantity, value in values.items():
            rows.setdefault(quantity, {})[name] = Expected(value, None, n)
    return {row_key(quantity=quantity): figures for quantity, figures in rows.items()}


def _shared(everyone: list[Side], audited: list[Side], k: int, name: str) -> Table:
    found = []
    for measured in (everyone, audited):
        items = common_units(measured)
        scores = item_scores(measured, items)
        shared = Shared([best_first(own) for own in scores], max(1, len(items)), k)
        figures = share_figures(scores, shared, k)
        found.append((shared, figures))
    (whole, included), (rest, kept) = found
    both = {pair: rest.shares[pair] - share for pair, share in whole.shares.items() if pair in rest.shares}
    members = len(everyone)
    involved = {member for pair in both for member in pair}
    ends = None
    if len(involved) > 2:
        ends = Drawn(lambda: pair_ratio_draws(members, both, dict.fromkeys(both, 1.0)), between=True)
    if whole.shares.keys() != rest.shares.keys():  # other pairs are no pair that changed
        change = no_figure()
    elif not both:
        change = no_figure(0)
    else:
        change = Expected(sum(both.values()) / len(both), sum(both.values()), len(both), ends)
    mean = {"included": included["mean"], "audited": kept["mean"], "change": change}
    ratio = {"included": included["ratio"], "audited": kept["ratio"]}
    return {
        row_key(quantity=f"shared top {k}, mean{name}"): mean,
        row_key(quantity=f"shared top {k}, ratio{name}"): ratio,
    }


def _measured_only(sides: Sequence[Side], items: set[str]) -> list[Side]:
    return [{item: cell for item, cell in side.items() if item in items} for side in sides]
