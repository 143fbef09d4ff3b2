"""The same items before and after they were changed, over the cells that were measured on both sides."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from leadline.bundle.verifier.alike import alike_difference, are_alike
from leadline.bundle.verifier.cells import Cell, Sides
from leadline.bundle.verifier.drawn import Drawn, Tail
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import newcombe_ends
from leadline.bundle.verifier.loading import Bundle
from leadline.bundle.verifier.registered import registered_table
from leadline.bundle.verifier.resampling import ratio_draws

_ALL_TASKS = "all tasks"
_UNNAMED = "(none)"
# Of so many items that changed at all, p is that of all patterns of signs.
_EXACT = 12


class Twice(NamedTuple):
    """A cell before and after, and whether either has all the answers that there are of its configuration."""

    item: str
    before: Cell
    after: Cell
    is_complete: bool


def repair_tables(sides: Sides) -> dict[str, Table]:
    """By task; and what was registered."""
    bundle = sides.bundle
    if not bundle.protocol.get("before"):
        return {}
    tables = {"registered": registered_table(bundle)}
    rule, m = sides.stability["sameness"], sides.rarefy
    items = _common(bundle)
    own = _twice(sides, items, rule)
    if not own:
        return tables
    table: Table = {
        _key("wobble"): _counted(own, with_accuracy=True, with_p=True, sides=sides),
        _key("wobble, complete cells"): _counted(
            [one for one in own if one.is_complete], with_accuracy=True, with_p=True, sides=sides
        ),
    }
    if rule != "rounding" and any(bundle.answer_type(item) in ("number", "parts") for item in items):
        rounded = _twice(sides, items, "rounding")
        table[_key("wobble, rounding")] = _counted(rounded, with_accuracy=False, with_p=True, sides=sides)
    enough = [one for one in own if one.before.n >= m and one.after.n >= m]
    table[_key("wobble, rarefied")] = _rarefied(enough, m, sides)
    if any(bundle.task(item) for item in items):
        for task in sorted({bundle.task(one.item) for one in own}):
            its = [one for one in own if bundle.task(one.item) == task]
            figures = _counted(its, with_accuracy=True, with_p=False, sides=sides)
            table[row_key(task=task or _UNNAMED, measure="wobble")] = figures
    tables["by task"] = table
    return tables


def _key(measure: str) -> tuple[tuple[str, str], ...]:
    return row_key(task=_ALL_TASKS, measure=measure)


def _common(bundle: Bundle) -> set[str]:
    """The items that were changed, and answered by anybody on both sides."""
    before = {
        item
        for cells in bundle.before.values()
        for item, answers in cells.items()
        if answers[0].excluded != "unchanged"
    }
    return before & {item for cells in bundle.cells.values() for item in cells}


def _twice(sides: Sides, items: set[str], rule: str) -> list[Twice]:
    """The cells that both sides measured, of the configurations that answered an item twice on either."""
    found = []
    for number, member in enumerate(sides.members):
        answers = sides.bundle.before.get((member["model"], member["configuration"]), {})
        before = {item: Cell(answers[item], rule) for item in answers if item in items}
        after = {item: cell for item, cell in sides.sides(rule)[number].items() if item in items}
        if not all(any(cell.n >= 2 for cell in side.values()) for side in (before, after)):
            continue
        most = [max(cell.asked for cell in side.values()) for side in (before, after)]
        for item in sorted(set(before) & set(after)):
            was, now = before[item], after[item]
            if min(was.n, now.n) > 1:  # in a single answer nothing can differ
                found.append(Twice(item, was, now, [was.n, now.n] == most))
    return found


def _by_item(cells: Sequence[Twice], number: Any) -> tuple[list[float], list[float], list[int]]:
    """Of each item: what its cells add up to before, after, and how many there are."""
    sums: dict[str, list[Any]] = {}
    for item, before, after, _ in cells:
        entry = sums.setdefault(item, [0.0, 0.0, 0])
        entry[0] += number(before)
        entry[1] += number(after)
        entry[2] += 1
    return [e[0] for e in sums.values()], [e[1] for e in sums.values()], [e[2] for e in sums.values()]


def _counted(
    cells: Sequence[Twice], *, with_accuracy: bool, with_p: bool, sides: Sides
) -> dict[str, Expected]:
    before, after, n = _by_item(cells, lambda cell: cell.unstable)
    total = sum(n)
    figures = {
        "items": plain_count(len(n)),
        "cells": plain_count(total),
        "before": wilson_share(int(sum(before)), total),
        "after": wilson_share(int(sum(after)), total),
        "fall": _difference(before, after, n),
        "fall_newcombe": no_figure(total),
    }
    if total:
        ends = newcombe_ends((sum(before), total), (sum(after), total))
        figures["fall_newcombe"] = Expected((sum(before) - sum(after)) / total, None, total, ends)
    if with_p:
        figures["p"] = _flipped(before, after, sides)
    if with_accuracy:
        was, now, _ = _by_item(cells, lambda cell: cell.correct)
        figures["acc_before"] = wilson_share(int(sum(was)), total)
        figures["acc_after"] = wilson_share(int(sum(now)), total)
        figures["acc_rise"] = _difference(now, was, n)
    return figures


def _rarefied(cells: Sequence[Twice], m: int, sides: Sides) -> dict[str, Expected]:
    before, after, n = _by_item(cells, lambda cell: cell.rarefied(m))
    return {
        "items": plain_count(len(n)),
        "cells": plain_count(sum(n)),
        "before": ratio_figure(before, n),
        "after": ratio_figure(after, n),
        "fall": _difference(before, after, n),
        "p": _flipped(before, after, sides),
    }


def _difference(first: Sequence[float], second: Sequence[float], n: Sequence[int]) -> Expected:
    total = sum(n)
    if not total:
        return no_figure(0)
    apart = [a - b for a, b in zip(first, second)]
    ends: Any = Drawn(lambda: ratio_draws(apart, n)) if len(n) > 1 else None
    if len(n) > 1 and are_alike(apart, n):
        ends = alike_difference(sum(apart) / total, len(n))
    return Expected(sum(apart) / total, None, total, ends)


def _flipped(before: Sequence[float], after: Sequence[float], sides: Sides) -> Expected:
    """Signs of the items' differences flipped: exactly for few that changed, else by draws."""
    apart = [a - b for a, b in zip(before, after)]
    if len(apart) < 2:
        return no_figure(len(apart))
    moved = [one for one in apart if one]
    observed = abs(sum(apart)) - 1e-9 * max([1.0, *map(abs, moved)])
    if len(moved) <= _EXACT:
        patterns = itertools.product((1, -1), repeat=len(moved))
        reached = sum(
            abs(sum(sign * one for sign, one in zip(pattern, moved))) >= observed for pattern in patterns
        )
        return Expected(reached / 2 ** len(moved), None, len(apart))

    def draws() -> list[float]:
        rng = random.Random(f"flipped {len(moved)}")
        signs = (rng.choices((1, -1), k=len(moved)) for _ in range(4000))
        return [sum(sign * one for sign, one in zip(pattern, moved)) for pattern in signs]

    drawn = Drawn(draws, sides.stability["permutations"])
    return Expected(Tail(drawn, sum(apart), sides=2), None, len(apart))
