"""Accuracy and wobble by the labels as they were annotated, and as people decided them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from leadline.bundle.verifier.alike import alike_difference, alike_groups, are_alike
from leadline.bundle.verifier.cells import Cell, Side, Sides
from leadline.bundle.verifier.decisions import TAKEN_OUT
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.lens_wobble import POOLED
from leadline.bundle.verifier.loading import value_under
from leadline.bundle.verifier.resampling import resamples

# Of an item: right (or unstable) cells by the labels as they were and cells; the same as decided, zero of an
# item that was taken out.
Counts = tuple[int, int, int, int]


def adjudication_tables(sides: Sides) -> dict[str, Table]:
    """The one table; none where no decision moves anything that was answered."""
    bundle, everyone = sides.bundle, sides.sides(everyone=True)
    reasons = {
        item: answers[0].excluded for cells in bundle.everyone.values() for item, answers in cells.items()
    }
    out = {item for item, reason in reasons.items() if reason in TAKEN_OUT.values()}
    labelled = out | {item for item, reason in reasons.items() if not reason}
    if not out and not labelled & set(bundle.decisions.applied("upheld", corrects=True)):
        return {}
    own = [{item: cell for item, cell in side.items() if item in labelled} for side in everyone]
    rule = sides.stability["sameness"]
    table: Table = {}
    # Who was asked once has a row, and a part in the pooled one only where nobody was asked again.
    pool = [own[number] for number in sides.repeated] or own
    if len(pool) > 1:
        table[row_key(configuration=POOLED)] = _row(pool, out, rule, 2 if sides.repeated else 1, pooled=True)
    for number, (name, side) in enumerate(zip(sides.labels, own)):
        least = 2 if number in sides.repeated else 1
        table[row_key(configuration=name)] = _row([side], out, rule, least, pooled=False)
    return {"both": table}


def _row(own: Sequence[Side], out: set[str], rule: str, least: int, pooled: bool) -> dict[str, Expected]:
    """`least` readings make a cell of accuracy."""
    right: dict[str, Counts] = {}
    unstable: dict[str, Counts] = {}
    hits: dict[str, tuple[int, int]] = {}
    for side in own:
        for item, cell in side.items():
            stays = item not in out
            if cell.n >= least:
                was = _is_right_as_labelled(cell, rule)
                _add(right, item, was, cell.correct, stays)
            if cell.n > 1:
                _add(unstable, item, cell.unstable, cell.unstable, stays)
            if cell.n and not stays:
                above, below = hits.get(item, (0, 0))
                hits[item] = (above + sum(one.labelled for one in cell.answers), below + cell.n)
    figures = {}
    for name, counts in (("acc", right), ("wobble", unstable)):
        before = [(one[0], one[1]) for one in counts.values()]
        after = [(one[2], one[3]) for item, one in counts.items() if item not in out]
        figures[f"{name}_labelled"] = _share(before, pooled)
        figures[f"{name}_adjudicated"] = _share(after, pooled)
        figures[f"{name}_change"] = _difference(list(counts.values()), is_wobble=name == "wobble")
    figures["taken_right"] = ratio_figure([a for a, _ in hits.values()], [b for _, b in hits.values()])
    figures["taken_items"] = plain_count(len(hits))
    return figures


def _is_right_as_labelled(cell: Cell, rule: str) -> bool:
    return next(one.labelled for one in cell.answers if value_under(one, rule) == cell.modal)


def _add(counts: dict[str, Counts], item: str, was: bool, now: bool, stays: bool) -> None:
    a, b, c, d = counts.get(item, (0, 0, 0, 0))
    counts[item] = (a + was, b + 1, c + (now and stays), d + stays)


def _share(counts: Sequence[tuple[int, int]], pooled: bool) -> Expected:
    above, below = [a for a, _ in counts], [b for _, b in counts]
    return ratio_figure(above, below) if pooled else wilson_share(sum(above), sum(below))


def _difference(counts: Sequence[Counts], is_wobble: bool) -> Expected:
    """As decided less as labelled, items resampled with both their numbers."""
    n, there = len(counts), [one for one in counts if one[3]]
    if not there:
        return no_figure(n)
    before = sum(one[0] for one in counts) / sum(one[1] for one in counts)
    after = sum(one[2] for one in there) / sum(one[3] for one in there)
    return Expected(after - before, None, n, _ends(counts, there, before, after, is_wobble))


def _ends(
    counts: Sequence[Counts], there: Sequence[Counts], before: float, after: float, is_wobble: bool
) -> Any:
    n, below = len(counts), [one[1] for one in counts]
    if len(there) == n:
        if is_wobble:
            return None  # another label makes no answer another one
        apart = [one[2] - one[0] for one in counts]
        if are_alike(apart, below):
            return alike_difference(sum(apart) / sum(below), n)
    elif are_alike([one[0] for one in counts], below) and are_alike(
        [one[2] for one in there], [one[3] for one in there]
    ):
        if abs(before - after) > 1e-9:
            return alike_groups(after, len(there), before, n)
        part = 1 - sum(one[3] for one in there) / sum(below)
        low, high = alike_groups(before, len(there), before, n - len(there))
        return part * low, part * high
    return Drawn(lambda: _draws(counts))


def _draws(counts: Sequence[Counts]) -> list[float]:
    columns = [[one[place] for one in counts] for place in range(4)]
    if len(counts) == 1:
        return [columns[2][0] / columns[3][0] - columns[0][0] / columns[1][0]]
    found = []
    for take in resamples(len(counts)):
        right, whole, kept_right, kept = (sum(take(column)) for column in columns)
        # A draw in which nothing stays lies beyond every end.
        found.append(kept_right / kept - right / whole if kept else inf)
    return found
