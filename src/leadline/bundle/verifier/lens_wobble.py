"""Wobble: overall, by group, which configuration is the steadiest, and numbers under three rules of
sameness."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Optional

from leadline.bundle.verifier.cells import Cell, Side, Sides, by_item, declares_precision
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    difference_figure,
    mean_figure,
    no_figure,
    p_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import mcnemar_exact

POOLED = "all configurations"
_NUMERIC = ("number", "parts")
_LISTED = 200


def wobble_tables(sides: Sides) -> dict[str, Table]:
    """All tables of the lens; none where nothing was asked twice."""
    if not sides.repeated:
        return {}
    return {
        "overall": _overall(sides),
        "steadiest": _steadiest(sides),
        "by category": _grouped(sides, "category", sides.bundle.category),
        "by task": _grouped(sides, "task", sides.bundle.task),
        "by answer type": _grouped(sides, "answer_type", sides.bundle.answer_type),
    }


def _unstable(side: Side) -> Expected:
    return wilson_share(sum(cell.unstable for cell in side.values()), len(side))


def _overall(sides: Sides) -> Table:
    table: Table = {}
    m = sides.rarefy
    declaring = {item for item, entry in sides.bundle.items.items() if declares_precision(entry)}
    under = {rule: sides.measured(rule) for rule in ("exact", "declared", "rounding")}
    measured = sides.measured()
    declares = any(item in declaring for side in measured for item in side)
    for place, side in enumerate(measured):
        cells = list(side.values())
        asked = list(sides.sides()[sides.repeated[place]].values())
        table[row_key(configuration=sides.names[place])] = {
            "wobble": _unstable(side),
            "wobble_exact": _unstable(under["exact"][place]),
            "wobble_declared": _unstable(under["declared"][place]) if declares else no_figure(0),
            "wobble_rounding": _unstable(under["rounding"][place]),
            "rarefied": _mean_or_none([cell.rarefied(m) for cell in cells if cell.n >= m]),
            "pairwise": _mean_or_none([cell.disagreement for cell in cells if cell.n >= 2]),
            "dispersion": mean_figure([cell.dispersion for cell in cells]),
            "acc": wilson_share(sum(cell.correct for cell in cells), len(cells)),
            "response_rate": ratio_figure([cell.n for cell in asked], [cell.asked for cell in asked]),
        }
    if len(measured) < 2:
        return table
    flips = sum(cell.unstable for side in measured for cell in side.values())
    pooled = {
        "wobble": _pooled(measured, lambda item, cell: cell.unstable),
        "wobble_wilson": wilson_share(flips, sum(map(len, measured))),
        "wobble_exact": _pooled(under["exact"], lambda item, cell: cell.unstable),
        "wobble_declared": _pooled(under["declared"], lambda item, cell: cell.unstable)
        if declares
        else no_figure(0),
        "wobble_rounding": _pooled(under["rounding"], lambda item, cell: cell.unstable),
        "rarefied": _pooled(measured, lambda item, cell: cell.rarefied(m) if cell.n >= m else None, 0),
        "pairwise": _pooled(measured, lambda item, cell: cell.disagreement if cell.n >= 2 else None),
        "dispersion": _pooled(measured, lambda item, cell: cell.dispersion),
        "acc": _pooled(measured, lambda item, cell: cell.correct),
        "response_rate": _answered(sides),
    }
    table[row_key(configuration=POOLED)] = pooled
    return table


def _answered(sides: Sides) -> Expected:
    read: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for number in sides.repeated:
        for item, cell in sides.sides()[number].items():
            read[item] += cell.n
            asked[item] += cell.asked
    return ratio_figure([read[item] for item in asked], list(asked.values()))


def _only(side: Side, items: Any) -> Side:
    return {item: cell for item, cell in side.items() if item in items}


def _pooled(
    sides: list[Side], number: Callable[[str, Cell], Optional[float]], empty: Optional[float] = None
) -> Expected:
    pairs = by_item(sides, number)
    if not pairs:
        return no_figure(0, empty)
    return ratio_figure([above for above, _ in pairs], [below for _, below in pairs])


def _mean_or_none(values: list[float]) -> Expected:
    return mean_figure(values) if values else no_figure(0)


def _steadiest(sides: Sides) -> Table:
    """The least rarefied wobble against each other one, on the items that both have enough readings of."""
    m, table = sides.rarefy, {}
    measured = [{item: cell for item, cell in side.items() if cell.n >= m} for side in sides.measured()]
    rates: list[tuple[float, int]] = []
    for place, side in enumerate(measured):
        if side:
            rates.append((sum(cell.rarefied(m) for cell in side.values()) / len(side), place))
    if len(rates) < 2:
        return {}
    # Equal but for rounding counts as equal, and then the first by name is taken.
    least = min(rate for rate, _ in rates)
    first = min(
        (place for rate, place in rates if rate <= least + 1e-12), key=lambda place: sides.names[place]
    )
    for _, place in rates:
        if place == first:
            continue
        own, other = measured[first], measured[place]
        both = [item for item in own if item in other]
        here = sum(own[item].unstable and not other[item].unstable for item in both)
        there = sum(other[item].unstable and not own[item].unstable for item in both)
        table[row_key(configuration=sides.names[first], against=sides.names[place])] = {
            "difference": difference_figure(
                [own[item].rarefied(m) - other[item].rarefied(m) for item in both]
            ),
            "only_here": plain_count(here, len(both)),
            "only_there": plain_count(there, len(both)),
            "mcnemar_p": p_figure(mcnemar_exact(here, there), here + there),
        }
    return table


def _grouped(sides: Sides, key: str, name: Callable[[str], str]) -> Table:
    measured, rounding, m = sides.measured(), sides.measured("rounding"), sides.rarefy
    groups = sorted({name(item) for side in sides.sides() for item in side})
    if groups in ([], [""]):
        return {}
    table: Table = {}
    has_tasks = any(sides.bundle.task(item) for side in sides.sides() for item in side)
    for group in groups:
        for place, side in enumerate(measured):
            own = {item: cell for item, cell in side.items() if name(item) == group}
            tasks = len({sides.bundle.task(item) for item in own} - {""})
            rounded = {item: cell for item, cell in rounding[place].items() if name(item) == group}
            figures = {
                "wobble": _unstable(own),
                "wobble_rounding": _unstable(rounded),
                "rarefied": _mean_or_none([cell.rarefied(m) for cell in own.values() if cell.n >= m]),
            }
            if key != "task" and has_tasks:
                figures["tasks"] = plain_count(tasks)
            if key == "category" and has_tasks and tasks < 3:
                for figure in ("wobble", "wobble_rounding", "rarefied"):
                    figures[figure] = Expected(None, figures[figure].numerator, figures[figure].denominator)
            table[row_key(**{key: group or "(none)", "configuration": sides.names[place]})] = figures
    return table


def sameness_tables(sides: Sides) -> dict[str, Table]:
    """Numbers under the three rules, and the cells whose stability hangs on the rule."""
    bundle = sides.bundle
    numeric = {item for item in bundle.items if bundle.answer_type(item) in _NUMERIC}
    names, under = _repeated_numbers(sides, numeric)
    if not names:
        return {}
    declaring = {item for item in numeric if declares_precision(bundle.items[item])}
    overall: Table = {}
    flips: list[tuple[tuple[tuple[str, str], ...], dict[str, Expected]]] = []
    for place, name in enumerate(names):
        exact, declared, rounding = (under[rule][place] for rule in ("exact", "declared", "rounding"))
        declared = _only(declared, declaring)
        changed = [item for item in exact if exact[item].unstable != rounding[item].unstable]
        overall[row_key(configuration=name)] = {
            "wobble_exact": _unstable(exact),
            "wobble_declared": _unstable(declared) if declared else no_figure(0),
            "wobble_rounding": _unstable(rounding),
            "changed": plain_count(len(changed), len(exact)),
        }
        for item in changed:
            key = row_key(configuration=name, item=item, values=_told(exact[item]))
            flips.append(
                (
                    key,
                    {
                        "values_exact": plain_count(len(exact[item].counts), exact[item].n),
                        "values_rounding": plain_count(len(rounding[item].counts), rounding[item].n),
                    },
                )
            )
    if len(overall) > 1:
        overall[row_key(configuration=POOLED)] = {
            "wobble_exact": _pooled(under["exact"], lambda item, cell: cell.unstable),
            "wobble_declared": _pooled(
                under["declared"], lambda item, cell: cell.unstable if item in declaring else None
            ),
            "wobble_rounding": _pooled(under["rounding"], lambda item, cell: cell.unstable),
            "changed": _changed(under["exact"], under["rounding"]),
        }
    return {"overall": overall, "flips": dict(flips[:_LISTED])}


def _repeated_numbers(sides: Sides, numeric: set[str]) -> tuple[list[str], dict[str, list[Side]]]:
    """The configurations that some number was asked of twice, and their cells of numbers by each rule."""
    under = {
        rule: [_only(side, numeric) for side in sides.measured(rule)]
        for rule in ("exact", "declared", "rounding")
    }
    there = [any(cell.n >= 2 for cell in side.values()) for side in under["exact"]]
    names = [name for name, asked in zip(sides.names, there) if asked]
    return names, {
        rule: [side for side, asked in zip(found, there) if asked] for rule, found in under.items()
    }


def _changed(exact: list[Side], rounding: list[Side]) -> Expected:
    changed = sum(
        cell.unstable != other[item].unstable
        for one, other in zip(exact, rounding)
        for item, cell in one.items()
    )
    return plain_count(changed, sum(map(len, exact)))


def _told(cell: Cell) -> str:
    """The values of a cell, the most frequent first: "0.909 ×12, 0.9091 ×8"."""
    order = sorted(cell.counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{value} ×{number}" for value, number in order[:12])
