"""Whether configurations are unsteady on the same items: by k, under controls, and by other measures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Optional

from leadline.bundle.verifier.cells import Side, Sides
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import Expected, Table, no_figure, plain_count, row_key
from leadline.bundle.verifier.lens_families import families_repeat, family_figures, family_null
from leadline.bundle.verifier.lens_wobble import POOLED
from leadline.bundle.verifier.top_sets import (
    Pair,
    Shared,
    Shuffled,
    best_first,
    overlap_ceiling,
    rank_overlap,
)
from leadline.bundle.verifier.transfer_figures import median_of, over_pairs, pair_figures

_STRATA = ("0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1")
_FIXED = "shuffled within accuracy strata"


def common_units(measured: Sequence[Side]) -> list[str]:
    """The items that all of them measured, in order."""
    return sorted(set.intersection(*(set(side) for side in measured))) if measured else []


def item_scores(measured: Sequence[Side], items: Sequence[str]) -> list[list[float]]:
    """Dispersion of each item under each configuration."""
    return [[side[item].dispersion for item in items] for side in measured]


def task_scores(sides: Sides, measured: Sequence[Side], items: Sequence[str]) -> list[list[float]]:
    """Share of unstable items of each task, tasks in order of name."""
    groups: dict[str, list[str]] = {}
    for item in items:
        if sides.bundle.task(item):
            groups.setdefault(sides.bundle.task(item), []).append(item)
    return [
        [sum(side[item].unstable for item in groups[task]) / len(groups[task]) for task in sorted(groups)]
        for side in measured
    ]


def transfer_tables(sides: Sides, permutations: int, null_rows: Sequence[dict[str, Any]]) -> dict[str, Table]:
    """All tables of the lens. `null_rows` are the rows of the report's histogram, whose bins hang on its
    draws."""
    measured = sides.measured()
    if len(measured) < 2:
        return {}
    ks = sorted(sides.stability["top"])
    names = (
        "by k",
        "across families",
        "controls",
        "leave one out",
        "by serving",
        "rank-biased overlap",
        "null",
    )
    tables: dict[str, Table] = {name: {} for name in names}
    sets = {
        POOLED: list(range(len(measured))),
        **{name: at for name, at in sides.subsets.items() if len(at) > 1},
    }
    for name, places in sets.items():
        chosen = [measured[place] for place in places]
        items = common_units(chosen)
        scores = item_scores(chosen, items)
        by_tasks = task_scores(sides, chosen, items)
        nulls: dict[str, Shuffled] = {}
        for unit, own in (("items", scores), ("tasks", by_tasks)):
            # One item a task would be the items again, by another name.
            if unit == "tasks" and not 1 < len(own[0]) < len(items):
                continue
            nulls[unit] = Shuffled(own, ks)
            for k in ks:
                figures = pair_figures(own, k, nulls[unit], permutations)
                tables["by k"][row_key(set=name, unit=unit, k=str(k))] = figures
        tables["controls"].update(_controls(sides, name, places, chosen, items, ks[-1], permutations))
        tables["leave one out"].update(_dropped(sides, name, places, scores, ks[-1]))
        tables["by serving"].update(_by_serving(sides, name, places, scores, ks[-1]))
        tables["rank-biased overlap"][row_key(set=name)] = _overlap(scores)
        kin = _kin(sides, places)
        deciding: Optional[Shuffled] = nulls["items"]
        if families_repeat(kin):
            strata = _accuracy_stratum(sides, items)
            apart = family_null(scores, ks[-1], kin)
            for shuffled, null in (
                ("among all items", apart),
                ("within accuracy strata", family_null(scores, ks[-1], kin, strata)),
            ):
                figures = family_figures(scores, ks[-1], kin, null, permutations)
                tables["across families"][row_key(set=name, shuffled=shuffled)] = figures
            deciding = apart or deciding
        if deciding is not None:
            tables["null"].update(_histogram(name, deciding.means[ks[-1]], permutations, null_rows))
    return tables


def _kin(sides: Sides, places: Sequence[int]) -> list[str]:
    """The family of each of these configurations; a model that names none is its own."""
    members = [sides.members[sides.repeated[place]] for place in places]
    return [member.get("family") or member["model"] for member in members]


def _accuracy_stratum(sides: Sides, items: Sequence[str], everyone: bool = False) -> list[int]:
    """Of each item: which quarter the share of repeated configurations lies in whose majority is right."""
    measured = sides.measured(everyone=everyone)
    strata = []
    for item in items:
        right = [side[item].correct for side in measured if item in side]
        strata.append(min(3, int(4 * Fraction(sum(right), len(right)))))
    return strata


def _controls(
    sides: Sides,
    name: str,
    places: Sequence[int],
    chosen: list[Side],
    items: list[str],
    k: int,
    permutations: int,
) -> Table:
    table: Table = {}
    strata = _accuracy_stratum(sides, items)
    scores = item_scores(chosen, items)
    everything = list(range(len(items)))
    table[row_key(set=name, control=_FIXED)] = _restricted(scores, everything, k, permutations, strata)
    for number, stratum in enumerate(_STRATA):
        within = [at for at, found in enumerate(strata) if found == number]
        table[row_key(set=name, control=f"accuracy {stratum}")] = _restricted(scores, within, k, permutations)
    everyone = sides.measured(everyone=True)
    whole = [everyone[place] for place in places]
    units = common_units(whole)
    if len(units) > len(items):
        own = item_scores(whole, units)
        table[row_key(set=name, control="with the items that were left out")] = _restricted(
            own, list(range(len(units))), k, permutations
        )
    flagged = [
        cell.answers[0].audit not in ("", "clean", "not checkable")
        for cell in (chosen[0][item] for item in items)
    ]
    if any(flagged) and not all(flagged):
        within = [at for at, is_flagged in enumerate(flagged) if not is_flagged]
        table[row_key(set=name, control="without flagged items")] = _restricted(
            scores, within, k, permutations
        )
    return table


def _restricted(
    scores: list[list[float]],
    within: list[int],
    k: int,
    permutations: int,
    strata: Optional[list[int]] = None,
) -> dict[str, Expected]:
    own = [[row[at] for at in within] for row in scores]
    if len(within) < 2 * k:
        return {"units": plain_count(len(within)), "mean": no_figure()}
    return _controlled(own, k, Shuffled(own, [k], strata), permutations)


def _controlled(scores: list[list[float]], k: int, null: Shuffled, permutations: int) -> dict[str, Expected]:
    figures = pair_figures(scores, k, null, permutations)
    shown = ("units", "mean", "mean_untied", "null_mean", "p", "hits", "expected", "null_hits", "ratio")
    return {figure: figures[figure] for figure in shown}


def _dropped(sides: Sides, name: str, places: Sequence[int], scores: list[list[float]], k: int) -> Table:
    table: Table = {}
    everyone = list(range(len(places)))
    # Without one of two there would be nothing to compare.
    for left_out in (None, *everyone) if len(everyone) > 2 else (None,):
        kept = [scores[at] for at in everyone if at != left_out]
        shared = Shared([best_first(own) for own in kept], len(kept[0]), k)
        pairs, expected = len(shared.shares), sum(shared.blind.values())
        dropped = "none" if left_out is None else sides.names[places[left_out]]
        table[row_key(set=name, dropped=dropped)] = {
            "configurations": plain_count(len(kept)),
            "mean": Expected(shared.mean, sum(shared.shares.values()), pairs) if pairs else no_figure(0),
        }
        if pairs:
            table[row_key(set=name, dropped=dropped)].update(
                hits=plain_count(shared.total),
                ratio=Expected(shared.total / expected, shared.total, expected),
            )
    return table


def _by_serving(sides: Sides, name: str, places: Sequence[int], scores: list[list[float]], k: int) -> Table:
    shared = Shared([best_first(own) for own in scores], len(scores[0]), k)
    members = [sides.members[sides.repeated[place]] for place in places]
    serving = [member.get("serving") or "" for member in members]
    kin = _kin(sides, places)
    groups: dict[str, list[Pair]] = {"all pairs": list(shared.shares)}
    if len(set(serving)) > 1:
        for pair in shared.shares:
            one, other = sorted((serving[pair[0]] or "not known", serving[pair[1]] or "not known"))
            groups.setdefault(f"both {one}" if one == other else f"{one} and {other}", []).append(pair)
    table: Table = {}
    for pairing, pairs in groups.items():
        if not pairs:
            continue
        shares = {pair: shared.shares[pair] for pair in pairs}
        cross = {pair: share for pair, share in shares.items() if kin[pair[0]] != kin[pair[1]]}
        figures = {"pairs": plain_count(len(pairs)), "cross_pairs": plain_count(len(cross))}
        for figure, found in (("mean", shares), ("cross_mean", cross)):
            figures[figure] = (
                Expected(
                    sum(found.values()) / len(found),
                    sum(found.values()),
                    len(found),
                    over_pairs(len(scores), found),
                )
                if found
                else no_figure(0)
            )
        figures["median"] = median_of(len(scores), shares)
        table[row_key(set=name, pairing=pairing)] = figures
    return table


def _overlap(scores: list[list[float]]) -> dict[str, Expected]:
    rankings = [best_first(own) for own in scores]
    raw: dict[Pair, float] = {}
    most: dict[Pair, float] = {}
    for a, first in enumerate(rankings):
        for b in range(a):
            found = rank_overlap(first, rankings[b])
            if found is not None:
                raw[b, a] = found
                most[b, a] = overlap_ceiling(len(first), len(rankings[b])) or 1.0
    return {
        "median_rbo": median_of(len(scores), raw),
        "ceiling_rbo": median_of(len(scores), most),
        "relative_rbo": median_of(len(scores), {pair: raw[pair] / most[pair] for pair in raw}),
    }


class Binned(Drawn):
    """How many of the report's permutations lie in a bin whose edges are written to three digits."""

    def __init__(self, draws: Sequence[float], low: float, high: float, theirs: int) -> None:
        super().__init__(lambda: draws, theirs)
        self.low, self.high = low, high

    def agrees(self, value: Optional[float], theirs: int) -> bool:
        """Between what surely lies in the bin and what may, and what chance adds."""
        draws, edge = self.draws, 0.0006
        surely = sum(self.low + edge <= draw < self.high - edge for draw in draws) / len(draws)
        perhaps = sum(self.low - edge <= draw <= self.high + edge for draw in draws) / len(draws)
        least, most = (
            5 * (share * (1 - share) * (1 / theirs + 1 / len(draws))) ** 0.5 + 8 / min(theirs, len(draws))
            for share in (surely, perhaps)
        )
        return value is not None and (surely - least) * theirs <= value <= (perhaps + most) * theirs


def _histogram(name: str, draws: Sequence[float], permutations: int, rows: Sequence[dict[str, Any]]) -> Table:
    table: Table = {}
    for row in rows:
        keys = row["keys"]
        if keys["set"] == name:
            count = Binned(draws, float(keys["from"]), float(keys["to"]), permutations)
            table[row_key(**keys)] = {"permutations": Expected(count, count, permutations)}
    return table
