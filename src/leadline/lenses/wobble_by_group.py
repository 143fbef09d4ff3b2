"""Wobble by category, by task and by answer type, and which groups are too small for a rate.

The figures are those of `lenses.wobble`, over the items of one group. A category of fewer than three tasks
has counts, but no rate: its rate and interval stand in the note, for completeness.
Source: Probity, section 6 and appendix B (reporting by category with interval and task count).
"""

from __future__ import annotations

from collections.abc import Sequence

from leadline.lenses.figures import count, left_out, means, share
from leadline.lenses.finding import Figure, Finding, Row
from leadline.lenses.groups import (
    TASKS_FOR_A_RATE,
    By,
    ItemGroup,
    group_label,
    item_groups,
    tasks_spanned,
)
from leadline.lenses.panel import Panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS

DEFINITION = (
    "Wobble: share of the group's measured items (two readable answers or more) whose answers are not all "
    "the same, by the study's rule of sameness and by rounding. Rarefied: the wobble that m readings of each "
    "item would show. Tasks: tasks of which at least one item was measured; a category of fewer than {tasks} "
    "has no rate."
)
NO_TASKS = "The benchmark declares no tasks, so none could be counted."


def by_group(protocol: Protocol, panel: Panel, rounding: Panel, labels: Sequence[str]) -> list[Finding]:
    """Findings `by category`, `by task` and `by answer type`, where the benchmark has them.

    `panel` is under the study's rule of sameness, `rounding` the same under that rule.
    """
    kinds: tuple[By, ...] = ("category", "task", "answer_type")
    found = [_grouped(protocol, panel, rounding, labels, by) for by in kinds]
    return [finding for finding in found if finding]


def _grouped(
    protocol: Protocol, panel: Panel, rounding: Panel, labels: Sequence[str], by: By
) -> Finding | None:
    groups = item_groups(panel, by)
    if not groups:
        return None
    has_tasks = bool((panel.tasks != "").any())
    rarefied = _rarefied(protocol, panel, groups)
    rows = []
    for place, group in enumerate(groups):
        tasks = tasks_spanned(panel, group.items)
        cells, once = (part[:, group.items].sum(axis=1) for part in (panel.measured, panel.once))
        unstable = [one.unstable[:, group.items].sum(axis=1) for one in (panel, rounding)]
        for number, label in enumerate(labels):
            figures = {
                key: share(
                    int(counts[number]),
                    int(cells[number]),
                    note=left_out(int(once[number])),
                    empty="no item has two readings",
                )
                for key, counts in zip(("wobble", "wobble_rounding"), unstable, strict=True)
            }
            figures["rarefied"] = rarefied[place * len(labels) + number]
            if by == "category" and has_tasks and tasks[number] < TASKS_FOR_A_RATE:
                figures = {key: _too_few(one, int(tasks[number])) for key, one in figures.items()}
            if by != "task" and has_tasks:
                figures["tasks"] = count(int(tasks[number]))
            rows.append(Row(keys={by: group.name, "configuration": label}, figures=figures))
    called = "answer type" if by == "answer_type" else group_label(protocol, by)
    return Finding(
        lens="wobble",
        table=f"by {by.replace('_', ' ')}",
        model=ALL_MODELS,
        title=f"Wobble by {called}",
        definition=DEFINITION.format(tasks=TASKS_FOR_A_RATE),
        rows=tuple(rows),
        notes=tuple(_notes(groups, by, has_tasks)),
    )


def _rarefied(protocol: Protocol, panel: Panel, groups: Sequence[ItemGroup]) -> list[Figure]:
    """Rarefied wobble, group by group and in each of every configuration."""
    m = protocol.stability.rarefy
    flips = panel.rarefied(m)
    values, notes = [], []
    for group in groups:
        for read, n in zip(flips[:, group.items], panel.n[:, group.items], strict=True):
            values.append(read[n >= m])
            left_out = int(((n > 0) & (n < m)).sum())
            notes.append(
                f"m = {m}" + (f", items with fewer readings left out: {left_out}" if left_out else "")
            )
    return means(values, protocol, notes, empty=f"no item has m = {m} readings")


def _too_few(figure: Figure, tasks: int) -> Figure:
    """The figure without its rate, which the note tells for completeness."""
    needed = f"{tasks} tasks, at least {TASKS_FOR_A_RATE} are needed"
    if tasks == 1:
        needed = f"1 task, at least {TASKS_FOR_A_RATE} are needed"
    if figure.value is None:
        return figure.model_copy(update={"note": needed})
    seen = f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
    return figure.model_copy(
        update={"value": None, "low": None, "high": None, "note": f"{needed}; for completeness {seen}"}
    )


def _notes(groups: Sequence[ItemGroup], by: By, has_tasks: bool) -> list[str]:
    notes = []
    if by == "category":
        notes.append("No order of the categories is claimed: read the intervals." if has_tasks else NO_TASKS)
    if min(len(group.items) for group in groups) < 6:
        notes.append(
            "The bootstrap interval of a few items is narrower than what is known of them, but where all of "
            "them are alike: there Wilson's over items stands in its place."
        )
    return notes
