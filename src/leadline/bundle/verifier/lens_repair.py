"""The same items before and after they were changed, over the cells that were measured on both sides."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

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
from leadline.bundle.verifier.resampling import ratio_draws

_ALL_TASKS = "all tasks"
_PATTERNS = 11  # so many items have so few patterns of signs that all are looked at

# (item, the cell before, the cell after)
Twice = tuple[str, Cell, Cell]


def repair_tables(sides: Sides) -> dict[str, Table]:
    """By task; and what was registered, as far as the document tells of it."""
    bundle = sides.bundle
    if not bundle.before:
        return {}
    rule, m = sides.stability["sameness"], sides.rarefy
    own = _twice(sides, rule)
    if not own:
        return {"registered": _registered(bundle.protocol)}
    table: Table = {
        _key("wobble"): _counted(own, with_accuracy=True, with_p=True),
        _key("wobble, complete cells"): _counted(
            [one for one in own if one[1].n == one[1].asked and one[2].n == one[2].asked], True, True
        ),
    }
    items = {item for side in sides.sides() for item in side}
    if rule != "rounding" and any(bundle.answer_type(item) in ("number", "parts") for item in items):
        table[_key("wobble, rounding")] = _counted(_twice(sides, "rounding"), False, True)
    enough = [one for one in own if one[1].n >= m and one[2].n >= m]
    table[_key("wobble, rarefied")] = _rarefied(enough, m)
    for task in sorted({bundle.task(item) for item, _, _ in own} - {""}):
        its = [one for one in own if bundle.task(one[0]) == task]
        table[row_key(task=task, measure="wobble")] = _counted(its, True, False)
    return {"by task": table, "registered": _registered(bundle.protocol)}


def _key(measure: str) -> tuple[tuple[str, str], ...]:
    return row_key(task=_ALL_TASKS, measure=measure)


def _twice(sides: Sides, rule: str) -> list[Twice]:
    """The cells that both sides measured, of the configurations that were asked repeatedly."""
    found = []
    after = sides.sides(rule)
    for number in sides.repeated:
        member = sides.members[number]
        before = sides.bundle.before.get((member["model"], member["configuration"]), {})
        for item, answers in before.items():
            cell = Cell(answers, rule)
            if cell.n and item in after[number] and after[number][item].n:
                found.append((item, cell, after[number][item]))
    return found


def _by_item(cells: Sequence[Twice], number: Any) -> tuple[list[float], list[float], list[int]]:
    """Of each item: what its cells add up to before, after, and how many there are."""
    sums: dict[str, list[Any]] = {}
    for item, before, after in cells:
        entry = sums.setdefault(item, [0.0, 0.0, 0])
        entry[0] += number(before)
        entry[1] += number(after)
        entry[2] += 1
    return [e[0] for e in sums.values()], [e[1] for e in sums.values()], [e[2] for e in sums.values()]


def _counted(cells: Sequence[Twice], with_accuracy: bool, with_p: bool) -> dict[str, Expected]:
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
        figures["p"] = _flipped(before, after)
    if with_accuracy:
        was, now, _ = _by_item(cells, lambda cell: cell.correct)
        figures["acc_before"] = wilson_share(int(sum(was)), total)
        figures["acc_after"] = wilson_share(int(sum(now)), total)
        figures["acc_rise"] = _difference(now, was, n)
    return figures


def _rarefied(cells: Sequence[Twice], m: int) -> dict[str, Expected]:
    before, after, n = _by_item(cells, lambda cell: cell.rarefied(m))
    return {
        "items": plain_count(len(n)),
        "cells": plain_count(sum(n)),
        "before": ratio_figure(before, n),
        "after": ratio_figure(after, n),
        "fall": _difference(before, after, n),
        "p": _flipped(before, after),
    }


def _difference(first: Sequence[float], second: Sequence[float], n: Sequence[int]) -> Expected:
    total = sum(n)
    if not total:
        return no_figure(0)
    apart = [a - b for a, b in zip(first, second)]
    ends = Drawn(lambda: ratio_draws(apart, n)) if len(n) > 1 else None
    return Expected(sum(apart) / total, None, total, ends)


def _flipped(before: Sequence[float], after: Sequence[float]) -> Expected:
    """Signs of the items' differences flipped: all patterns of a few items, else some."""
    apart = [a - b for a, b in zip(before, after)]
    if len(apart) < 2:
        return no_figure(len(apart))

    def draws() -> list[float]:
        moved = [one for one in apart if one]
        if len(moved) <= _PATTERNS:
            signs: Any = itertools.product((1, -1), repeat=len(moved))
        else:
            rng = random.Random(f"flipped {len(moved)}")
            signs = (rng.choices((1, -1), k=len(moved)) for _ in range(4000))
        return [sum(sign * one for sign, one in zip(pattern, moved)) for pattern in signs]

    return Expected(Tail(Drawn(draws), sum(apart), sides=2), None, len(apart))


def _registered(protocol: dict[str, Any]) -> Table:
    """What the document says of a registered prediction; its counts are those of `leadline verdict`."""
    told = (protocol.get("before") or {}).get("registered")
    if not told:
        return {}
    figures = {"threshold": Expected(told["threshold"])}
    measured = told.get("figures") or []
    for name, figure in (("measured", measured[:1]), ("measured_items", measured[1:][-1:])):
        if figure:
            one = figure[0]
            value = one["value"]
            if one.get("numerator") is not None and one.get("denominator") and not told["is_paired"]:
                value = one["numerator"] / one["denominator"]
            figures[name] = Expected(value, one["numerator"], one["denominator"], (one["low"], one["high"]))
        elif name == "measured":
            figures[name] = no_figure()
    return {row_key(prediction=told["sentence"]): figures}
