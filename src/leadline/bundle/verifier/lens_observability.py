"""Where cells lie between always wrong and always right, what that lets expect of wobble, and what is left
of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

from leadline.bundle.verifier.alike import alike_share
from leadline.bundle.verifier.cells import Cell, Side, Sides, by_item
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    mean_figure,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.lens_wobble import POOLED
from leadline.bundle.verifier.ranks import spearman_rho
from leadline.bundle.verifier.resampling import statistic_draws

_MODELS = ("lower", "upper", "calibrated")
_CORRECT, _UNSTABLE = 0.9, 0.3
_SHARES: dict[str, Callable[[Cell], bool]] = {
    "p_one": lambda cell: cell.hits == cell.n,
    "p_zero": lambda cell: cell.hits == 0,
    # On whole numbers: 0.3 and 0.7 are values that p takes, and no float is exactly either.
    "band": lambda cell: 3 * cell.n <= 10 * cell.hits <= 7 * cell.n,
    "band_half_open": lambda cell: 3 * cell.n <= 10 * cell.hits < 7 * cell.n,
    "stable": lambda cell: not cell.unstable,
}


class Expectations:
    """The wobble that each model expects of a cell, calibrated on the cells of `sides`."""

    def __init__(self, bundle_task: Callable[[str], str], sides: Sequence[Side]) -> None:
        self._task = bundle_task
        self._wrong: dict[str, list[int]] = {}
        for side in sides:
            for item, cell in side.items():
                if cell.hits == 0:
                    # An item without a task is a task of its own.
                    entry = self._wrong.setdefault(bundle_task(item) or f"\n{item}", [0, 0])
                    entry[0] += cell.unstable
                    entry[1] += 1
        self._flips = sum(flips for flips, _ in self._wrong.values())
        self._all = sum(number for _, number in self._wrong.values())

    def of(self, model: str, item: str, cell: Cell) -> Optional[float]:
        """The chance that this cell is unstable; None where there is nothing to calibrate on."""
        p = cell.p
        if model == "lower":
            return 1 - p**cell.n - (1 - p) ** cell.n
        if model == "upper":
            return 1 - p**cell.n
        if cell.hits == cell.n:
            return 0.0
        if cell.hits > 0:
            return 1.0
        flips, number = self._wrong.get(self._task(item) or f"\n{item}", (0, 0))
        return (self._flips - flips) / (self._all - number) if self._all > number else None


class TaskValues:
    """A task's wobble, accuracy and expected wobble: means over items, then over configurations; 12
    digits."""

    def __init__(self, sides: Sides, measured: Sequence[Side]) -> None:
        # Items without a task have no part in this, nor in what is expected.
        measured = [
            {item: cell for item, cell in side.items() if sides.bundle.task(item)} for side in measured
        ]
        expected = Expectations(sides.bundle.task, measured)
        self.items: dict[str, set[str]] = {}
        cells: dict[str, list[dict[str, Cell]]] = {}
        for side in measured:
            own: dict[str, dict[str, Cell]] = {}
            for item, cell in side.items():
                task = sides.bundle.task(item)
                own.setdefault(task, {})[item] = cell
                self.items.setdefault(task, set()).add(item)
            for task, found in own.items():
                cells.setdefault(task, []).append(found)
        self.cells = dict(sorted(cells.items()))
        self.values: dict[str, dict[str, Optional[float]]] = {}
        for task, each in self.cells.items():
            self.values[task] = {
                "observed": two_stage(each, lambda item, cell: float(cell.unstable)),
                "acc": two_stage(each, lambda item, cell: float(cell.correct)),
            }
            for model in _MODELS:
                self.values[task][model] = two_stage(each, partial(expected.of, model))

    def column(self, name: str) -> list[Optional[float]]:
        """One value of all tasks, in order."""
        return [self.values[task][name] for task in self.cells]

    @property
    def right(self) -> list[str]:
        """The tasks of an accuracy of at least 0.9."""
        return [task for task in self.cells if (self.values[task]["acc"] or 0) >= _CORRECT]

    def largest(self, name: str, tasks: Sequence[str]) -> Optional[float]:
        """The largest value among these tasks."""
        values = [value for value in (self.values[task][name] for task in tasks) if value is not None]
        return max(values) if values else None


def two_stage(
    each: Sequence[dict[str, Cell]], number: Callable[[str, Cell], Optional[float]]
) -> Optional[float]:
    """The mean over items within a configuration, then over configurations; None where a cell has none."""
    means = []
    for cells in each:
        values = [number(item, cell) for item, cell in cells.items()]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        if values:
            means.append(sum(known) / len(known))
    return round(sum(means) / len(means), 12) if means else None


def observability_tables(sides: Sides) -> dict[str, Table]:
    """All tables of the lens."""
    measured = sides.measured()
    if not measured:
        return {}
    task = sides.bundle.task
    overall: Table = {}
    structural: Table = {}
    # Answers that cannot be read count here, and are not right.
    asked = [
        {item: cell for item, cell in sides.sides()[number].items() if cell.asked > 1}
        for number in sides.repeated
    ]
    for name, side, every in zip(sides.names, measured, asked):
        own = Expectations(task, [side])
        overall[row_key(configuration=name)] = {
            share: wilson_share(sum(map(counts, side.values())), len(side))
            for share, counts in _SHARES.items()
        }
        right = sum(cell.hits == cell.asked for cell in every.values())
        overall[row_key(configuration=name)]["p_one_of_asked"] = wilson_share(right, len(every))
        figures = {"observed": wilson_share(sum(cell.unstable for cell in side.values()), len(side))}
        for model in _MODELS:
            values = [own.of(model, item, cell) for item, cell in side.items()]
            defined = [value for value in values if value is not None]
            figures[model] = mean_figure(defined) if len(defined) == len(values) else no_figure(len(values))
        structural[row_key(configuration=name)] = figures
    pooled = Expectations(task, measured)
    overall[row_key(configuration=POOLED)] = {
        share: _ratio(by_item(measured, lambda item, cell, c=counts: c(cell)))
        for share, counts in _SHARES.items()
    }
    overall[row_key(configuration=POOLED)]["p_one_of_asked"] = _ratio(
        by_item(asked, lambda item, cell: cell.hits == cell.asked)
    )
    figures = {"observed": _ratio(by_item(measured, lambda item, cell: cell.unstable))}
    for model in _MODELS:
        pairs = by_item(measured, lambda item, cell, m=model: pooled.of(m, item, cell))
        is_whole = sum(below for _, below in pairs) == sum(map(len, measured))
        figures[model] = (
            _ratio(pairs) if is_whole else no_figure(len({item for side in measured for item in side}))
        )
    structural[row_key(configuration=POOLED)] = figures
    tasks = TaskValues(sides, measured)
    return {
        "overall": overall,
        "structural": structural,
        "distribution": _distribution(measured),
        "by task": _by_task(tasks),
        "ceiling": _ceiling(tasks),
    }


def _ratio(pairs: list[tuple[float, float]]) -> Expected:
    return ratio_figure([above for above, _ in pairs], [below for _, below in pairs])


def _distribution(measured: Sequence[Side]) -> Table:
    counts: dict[tuple[str, str], list[int]] = {("0", "0"): [0, 0]}
    for at in range(20):
        counts[f"{at / 20:.2f}", f"{(at + 1) / 20:.2f}"] = [0, 0]
    counts["1", "1"] = [0, 0]
    total = 0
    for side in measured:
        for cell in side.values():
            at = 20 * cell.hits // cell.n
            ends = (f"{at / 20:.2f}", f"{(at + 1) / 20:.2f}")
            if cell.hits in (0, cell.n):
                ends = ("0", "0") if cell.hits == 0 else ("1", "1")
            counts[ends][0] += 1
            counts[ends][1] += cell.unstable
            total += 1
    return {
        row_key(**{"from": low, "to": high}): {
            "cells": plain_count(number, total),
            "unstable": plain_count(unstable, number),
        }
        for (low, high), (number, unstable) in counts.items()
    }


def _by_task(tasks: TaskValues) -> Table:
    table: Table = {}
    for task, each in tasks.cells.items():
        items = sorted(tasks.items[task])
        values = tasks.values[task]

        def observed(
            chosen: Sequence[int], each: Sequence[dict[str, Cell]] = each, items: list[str] = items
        ) -> Optional[float]:
            drawn = [items[at] for at in chosen]
            means = []
            for cells in each:
                flips = [cells[item].unstable for item in drawn if item in cells]
                if flips:
                    means.append(sum(flips) / len(flips))
            return sum(means) / len(means) if means else None

        ends: Any = Drawn(partial(statistic_draws, len(items), observed, 1000))
        if all(len({cell.unstable for cell in cells.values()}) < 2 for cells in each):
            ends = alike_share(values["observed"] or 0.0, len(items))

        table[row_key(task=task)] = {
            "observed": Expected(values["observed"], None, len(items), ends),
            **{name: Expected(values[name], None, len(items)) for name in (*_MODELS, "acc")},
        }
    return table


def _ceiling(tasks: TaskValues) -> Table:
    tenths: dict[int, list[str]] = {}
    for task in tasks.cells:
        # Rounded first: 0.3 times ten is a little more than three.
        tenth = min(9, int(round(10 * (tasks.values[task]["acc"] or 0.0), 9)))
        tenths.setdefault(tenth, []).append(task)
    table: Table = {}
    for tenth, its in sorted(tenths.items()):
        observed = [tasks.values[task]["observed"] or 0.0 for task in its]
        table[row_key(**{"from": f"{tenth / 10:.1f}", "to": f"{(tenth + 1) / 10:.1f}"})] = {
            "tasks": plain_count(len(its), len(tasks.cells)),
            "largest_observed": Expected(max(observed), None, len(its)),
            "largest_lower": Expected(tasks.largest("lower", its), None, len(its)),
            "largest_upper": Expected(tasks.largest("upper", its), None, len(its)),
            "mean_observed": Expected(sum(observed) / len(observed), None, len(its)),
        }
    return table


def difficulty_tables(sides: Sides) -> dict[str, Table]:
    """Whether wobble is more than difficulty."""
    measured = sides.measured()
    if not measured:
        return {}
    tasks = TaskValues(sides, measured)
    if not tasks.cells:
        return {}
    right = tasks.right
    unsteady = [task for task in right if (tasks.values[task]["observed"] or 0) >= _UNSTABLE]
    figures = {"rho": task_rho(tasks, None)}
    for model, name in (
        ("calibrated", "residual_rho"),
        ("lower", "residual_rho_lower"),
        ("upper", "residual_rho_upper"),
    ):
        figures[name] = task_rho(tasks, model)
    figures["correct_but_unstable"] = wilson_share(len(unsteady), len(right))
    for name in ("lower", "upper", "observed"):
        figures[f"ceiling_{name}"] = Expected(tasks.largest(name, right), None, len(right))
    return {"overall": {(): figures}}


def task_rho(tasks: TaskValues, model: Optional[str]) -> Expected:
    """Spearman's coefficient over tasks of accuracy and of wobble, or of wobble less what a model expects."""
    pairs = []
    for values in tasks.values.values():
        taken = values[model] if model else 0.0
        if taken is not None and values["observed"] is not None and values["acc"] is not None:
            pairs.append((round(values["observed"] - taken, 12), values["acc"]))
    if len(pairs) > 2:
        rho = spearman_rho([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    else:
        rho = None
    if rho is None:
        return no_figure(len(pairs))

    def statistic(chosen: Sequence[int]) -> Optional[float]:
        return spearman_rho([pairs[at][0] for at in chosen], [pairs[at][1] for at in chosen])

    return Expected(rho, None, len(pairs), Drawn(lambda: statistic_draws(len(pairs), statistic, 2000)))
