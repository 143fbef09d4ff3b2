"""How unsteady each unit is under each configuration of a set: what transfer ranks.

The units are the items that every configuration of the set measured (at least two readings in state ok). An
item's score is its dispersion, 1 - m/n. The units may also be tasks: a task's score is the share of those
items of it that are unstable. Items come in order of id, tasks in order of name; that order breaks ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.lenses.panel import Floats, Mask, Panel
from leadline.lenses.protocol import Member

ITEMS, TASKS = "items", "tasks"


@dataclass(frozen=True)
class Scores:
    """A set of configurations and the scores of what all of them measured."""

    set: str  # what the set is called
    labels: tuple[str, ...]
    members: tuple[Member, ...]
    unit: str  # ITEMS or TASKS
    names: tuple[str, ...]  # of the units
    table: Floats  # [configurations, units]
    left_out: int = 0  # items that not every configuration measured

    @property
    def units(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def ranked(self) -> npt.NDArray[np.int64]:
        """Units with a score above zero [configurations]."""
        found: npt.NDArray[np.int64] = (self.table > 0).sum(axis=1)
        return found

    @cached_property
    def crossed(self) -> Mask:
        """Pairs of configurations of different families [configurations, configurations]."""
        kin = np.array([one.kin for one in self.members])
        found: Mask = kin[:, None] != kin[None, :]
        return found

    def within(self, units: Mask) -> Scores:
        """The same configurations over some of the units."""
        names = tuple(name for name, kept in zip(self.names, units.tolist(), strict=True) if kept)
        return replace(self, table=self.table[:, units], names=names)

    def without(self, number: int) -> Scores:
        """One configuration less, over the same units."""
        kept = [at for at in range(len(self.members)) if at != number]
        return replace(
            self,
            labels=tuple(self.labels[at] for at in kept),
            members=tuple(self.members[at] for at in kept),
            table=self.table[kept],
        )


def item_scores(
    panel: Panel, name: str, numbers: Sequence[int], labels: Sequence[str], only: Mask | None = None
) -> Scores:
    """Dispersion by item of the configurations with these numbers; `labels` are those of the whole panel.

    `only` [items] keeps to a part of the items.
    """
    chosen = list(numbers)
    there, common = _measured(panel, chosen, only)
    return Scores(
        set=name,
        labels=tuple(labels[number] for number in chosen),
        members=tuple(panel.members[number] for number in chosen),
        unit=ITEMS,
        names=tuple(panel.items[common].tolist()),
        table=panel.dispersion[chosen][:, common],
        left_out=there - int(common.sum()),
    )


def task_scores(panel: Panel, name: str, numbers: Sequence[int], labels: Sequence[str]) -> Scores:
    """The share of a task's items that are unstable; items without a task are left out."""
    chosen = list(numbers)
    there, common = _measured(panel, chosen, None)
    named = common & (panel.tasks != "")
    tasks, of = np.unique(panel.tasks[named], return_inverse=True)
    flips = np.zeros((len(chosen), len(tasks)), dtype=np.int64)
    for row, unstable in enumerate(panel.unstable[chosen][:, named]):
        flips[row] = np.bincount(of[unstable], minlength=len(tasks))
    return Scores(
        set=name,
        labels=tuple(labels[number] for number in chosen),
        members=tuple(panel.members[number] for number in chosen),
        unit=TASKS,
        names=tuple(tasks.tolist()),
        table=flips / np.bincount(of, minlength=len(tasks)),
        left_out=there - int(common.sum()),
    )


def _measured(panel: Panel, numbers: list[int], only: Mask | None) -> tuple[int, Mask]:
    """How many items some configuration read, and which ones [items] all measured."""
    read, measured = panel.read[numbers], panel.measured[numbers]
    if only is not None:
        read, measured = read & only, measured & only
    return int(np.any(read, axis=0).sum()), np.asarray(np.all(measured, axis=0))
