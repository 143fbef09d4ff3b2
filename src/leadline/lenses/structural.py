"""How much wobble the accuracy of a cell leaves room for, cell by cell and task by task.

A cell of n readings of which the share p is correct would be unstable with the chance

lower: 1 - pⁿ - (1 - p)ⁿ, if all its wrong answers were one and the same;
upper: 1 - pⁿ, if no two wrong answers were alike;
calibrated: 0 where p = 1, 1 where 0 < p < 1, and where p = 0 the share of unstable cells among the cells with
p = 0 of all other tasks, so that no task is predicted from itself.

n is the cell's own number of readings. A task's value is the mean over its items within a configuration, and
then the mean over the configurations that measure it, each counting the same. Source: Probity, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.lenses.panel import Panel

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

# Tasks of at least this accuracy are the ones that could be correct and yet unstable.
CORRECT = 0.9
UNSTABLE = 0.3
# Means of the same fractions, added up in another order, differ in their last digits; ranks must not.
_DIGITS = 12


@dataclass(frozen=True)
class Predicted:
    """Chances that a cell is unstable under each model, [configurations, items]; nan where not measured."""

    lower: Floats
    upper: Floats
    calibrated: Floats  # nan also where p = 0 and no other task has such a cell


class Tasks(NamedTuple):
    """The named tasks that are measured, in order of name; all arrays are [tasks], rounded to 12 digits."""

    names: list[str]
    items: Places
    accuracy: Floats
    wobble: Floats
    lower: Floats
    upper: Floats
    calibrated: Floats

    @property
    def correct(self) -> npt.NDArray[np.bool_]:
        """Tasks of an accuracy of at least 0.9."""
        return self.accuracy >= CORRECT


class Ceiling(NamedTuple):
    """The most wobble among tasks of accuracy 0.9 or more: predicted and observed; None without such tasks.

    The structural ceiling as it was published is `lower`. Wrong answers that differ among each other go
    beyond it, so that what cannot be reached at all lies above all three.
    """

    tasks: int
    lower: float | None
    upper: float | None
    observed: float | None

    @property
    def highest(self) -> float | None:
        """The largest of the three."""
        return max((one for one in self[1:] if one is not None), default=None)


def predicted(panel: Panel, pooled: bool = True) -> Predicted:
    """The three models for every cell.

    The calibrated one takes the share of unstable cells at p = 0 from all configurations of the panel, or
    from the cell's own configuration alone (`pooled` False), whose figures then hang on no other's.
    """
    n, p = np.maximum(panel.n, 1), np.where(panel.measured, panel.p, np.nan)  # so is its power
    always_right, always_wrong = p**n, (1 - p) ** n
    at_zero = panel.measured & (panel.right == 0)
    rate = _wrong_rate(panel, at_zero, pooled)
    interior = panel.measured & (panel.right > 0) & (panel.right < n)
    calibrated = np.where(at_zero, rate, np.where(interior, 1.0, 0.0))
    return Predicted(
        # A difference of sums near one: never below zero, whatever is lost in the last digit.
        lower=np.maximum(1 - always_right - always_wrong, 0.0),
        upper=1 - always_right,
        calibrated=np.where(panel.measured, calibrated, np.nan),
    )


def _wrong_rate(panel: Panel, at_zero: npt.NDArray[np.bool_], pooled: bool) -> Floats:
    """Share of unstable cells among the always wrong ones of all other tasks, for each cell."""
    names, place = np.unique(panel.tasks, return_inverse=True)
    if len(names) and names[0] == "":
        # An item without a task is a task of its own.
        alone = place == 0
        place = np.where(alone, len(names) + np.cumsum(alone), place)
    number = int(place.max(initial=-1)) + 1
    wrong = sums_by(place, number, at_zero.astype(np.float64))
    flips = sums_by(place, number, (at_zero & panel.unstable).astype(np.float64))
    if pooled:
        wrong, flips = wrong.sum(axis=0, keepdims=True), flips.sum(axis=0, keepdims=True)
    others, unsteady = (one.sum(axis=1, keepdims=True) - one for one in (wrong, flips))
    rate = np.full(others.shape, np.nan)
    np.divide(unsteady, others, out=rate, where=others > 0)
    return rate[:, place]


def sums_by(place: npt.NDArray[np.integer], number: int, values: Floats) -> Floats:
    """Sums of `values` [configurations, items] over the items of each place [configurations, number]."""
    sums = [np.bincount(place, weights=row, minlength=number) for row in values]
    return np.array(sums, dtype=np.float64).reshape(len(values), number)


def tasks_of(panel: Panel) -> Tasks:
    """What each task shows and what the models predict for it; items without a task are in none."""
    names, place = named_tasks(panel)
    if (place < 0).any():
        panel, place = panel.only(items=place >= 0), place[place >= 0]
    number = len(names)
    models = predicted(panel)
    mean = partial(_mean, place, number, panel.measured)
    measured = sums_by(place, number, panel.measured.astype(np.float64)).any(axis=0)
    return Tasks(
        names=[str(name) for name in names[measured]],
        items=np.bincount(place[panel.measured.any(axis=0)], minlength=number)[measured],
        accuracy=mean(panel.correct)[measured],
        wobble=mean(panel.unstable)[measured],
        lower=mean(models.lower)[measured],
        upper=mean(models.upper)[measured],
        calibrated=mean(models.calibrated)[measured],
    )


def named_tasks(panel: Panel) -> tuple[npt.NDArray[np.str_], Places]:
    """The names of the panel's tasks in order, and which one each item belongs to [items], -1 none."""
    names, place = np.unique(panel.tasks, return_inverse=True)
    unnamed = int(len(names) > 0 and names[0] == "")
    return names[unnamed:], place.astype(np.int64) - unnamed


def _mean(place: Places, number: int, measured: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> Floats:
    counts = sums_by(place, number, measured.astype(np.float64))
    sums = sums_by(place, number, np.where(measured, values, 0.0))
    means = np.where(counts > 0, sums, 0.0) / np.maximum(counts, 1)
    members = (counts > 0).sum(axis=0)
    total: Floats = np.where(members > 0, means.sum(axis=0) / np.maximum(members, 1), np.nan)
    return np.round(total, _DIGITS)


def ceiling(tasks: Tasks) -> Ceiling:
    """The largest wobble that is predicted, and that is observed, among tasks of accuracy 0.9 or more."""
    chosen = tasks.correct
    columns = (tasks.lower[chosen], tasks.upper[chosen], tasks.wobble[chosen])
    return Ceiling(int(chosen.sum()), *(float(one.max()) if len(one) else None for one in columns))


def correct_but_unstable(tasks: Tasks) -> list[str]:
    """The tasks of an accuracy of at least 0.9 and a wobble of at least 0.3."""
    zone = tasks.correct & (tasks.wobble >= UNSTABLE)
    return [name for name, is_in in zip(tasks.names, zone, strict=True) if is_in]
