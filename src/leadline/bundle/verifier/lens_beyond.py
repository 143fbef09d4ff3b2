"""Shallow and deep failures, and who reaches them: beyond sampling, its sweep."""

from __future__ import annotations

from math import comb
from typing import Any, Optional

from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    difference_figure,
    mean_figure,
    no_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import holm_corrected, mcnemar_exact
from leadline.bundle.verifier.loading import Answer
from leadline.bundle.verifier.ranks import kendall_tau_b
from leadline.bundle.verifier.votes import Parts


def partition_answers(parts: Parts, part: dict[str, Any]) -> dict[str, list[Answer]]:
    """Item -> the answers of the sweep, calls that failed left out: of the failures that have one among the
    first K."""
    cells, k, sweep = parts.cells(part["configuration"]), part["k"], max(part["k"], part["sweep"])
    found = {}
    for item in parts.failures:
        answers = [one for one in cells.get(item, ()) if one.state != "error" and one.sample < sweep]
        if any(one.sample < k for one in answers):
            found[item] = answers
    return found


def partition_hits(parts: Parts, part: dict[str, Any], first: int) -> dict[str, int]:
    """Item -> how many of the partition's first samples are right, for the failures that it asked."""
    return {
        item: sum(one.correct for one in answers if one.sample < first)
        for item, answers in partition_answers(parts, part).items()
    }


def beyond_sampling_tables(parts: Parts) -> dict[str, Table]:
    """Partition, rates, and the rules by which a temperature recovers an item."""
    tables: dict[str, Table] = {"partition": {}, "rates": {}, "sampling rules": {}}
    for part in parts.partitions:
        at = f"{part['temperature']:g}"
        hits = partition_hits(parts, part, part["k"])
        shallow = [item for item in hits if hits[item]]
        deep = [item for item in hits if not hits[item]]
        tables["partition"][row_key(temperature=at)] = {
            "shallow": wilson_share(len(shallow), len(hits)),
            "deep": wilson_share(len(deep), len(hits)),
        }
        _rates_of(parts, at, shallow, deep, tables["rates"])
        _rules_of(parts, at, shallow, deep, tables["sampling rules"])
    return {name: table for name, table in tables.items() if table}


def _judged(parts: Parts, items: list[str]) -> list[dict[str, Any]]:
    """The methods that answered any of these items."""
    return [method for method in parts.methods if _right(parts, method, items)]


def _right(parts: Parts, method: dict[str, Any], items: list[str]) -> dict[str, bool]:
    found = parts.beyond(method)
    return {item: found[item].correct for item in items if item in found}


def _rates_of(parts: Parts, at: str, shallow: list[str], deep: list[str], table: Table) -> None:
    samplings = [method for method in _judged(parts, [*shallow, *deep]) if method["is_sampling"]]
    tested: list[tuple[dict[str, Expected], float]] = []
    for method in _judged(parts, [*shallow, *deep]):
        figures: dict[str, Expected] = {}
        for name, items in (("sgr", shallow), ("dgr", deep)):
            own = _right(parts, method, items)
            figures[name] = wilson_share(sum(own.values()), len(own))
            if method["is_sampling"]:
                continue
            best = _best(parts, samplings, items)
            if best is None:
                continue
            other = _right(parts, best, items)
            both = sorted(set(own) & set(other))
            figures[f"{name}_margin"] = difference_figure([own[item] - other[item] for item in both])
            if name == "dgr":
                up = sum(own[item] and not other[item] for item in both)
                down = sum(other[item] and not own[item] for item in both)
                figures["dgr_p_holm"] = Expected(None, None, up + down)
                tested.append((figures, mcnemar_exact(up, down)))
        table[row_key(temperature=at, method=method["name"])] = figures
    for (figures, _), corrected in zip(tested, holm_corrected([p for _, p in tested])):
        figures["dgr_p_holm"].value = corrected


def _best(parts: Parts, samplings: list[dict[str, Any]], items: list[str]) -> Optional[dict[str, Any]]:
    """The sampling method with the highest rate; the first of equals."""
    best, highest = None, -2.0  # one without an answer is beaten by one with none right
    for method in samplings:
        right = _right(parts, method, items)
        rate = sum(right.values()) / len(right) if right else -1.0
        if rate > highest:
            best, highest = method, rate
    return best


def _rules_of(parts: Parts, at: str, shallow: list[str], deep: list[str], table: Table) -> None:
    for method in parts.methods:
        if not method["is_sampling"]:
            continue
        vote = method.get("beyond_vote") or method["vote"]
        shares = {}
        for item, answers in parts.cells(method["name"]).items():
            drawn = [one.correct for one in answers if one.sample < vote and one.state != "error"]
            if drawn:
                shares[item] = sum(drawn) / len(drawn)
        for rule in ("majority", "mean", "any") if shares else ():
            figures = {}
            for name, items in (("sgr", shallow), ("dgr", deep)):
                there = [item for item in items if item in shares]
                if rule == "majority":
                    own = _right(parts, method, there)
                    figures[name] = wilson_share(sum(own.values()), len(own))
                elif rule == "any":
                    figures[name] = wilson_share(sum(shares[item] > 0 for item in there), len(there))
                else:
                    figures[name] = mean_figure([shares[item] for item in there])
            table[row_key(temperature=at, method=method["name"], rule=rule)] = figures


def sweep_table(parts: Parts) -> Table:
    """How the split depends on the number of samples."""
    table: Table = {}
    for part in parts.partitions:
        sweep, k = part["sweep"], part["k"]
        cells = partition_answers(parts, part)
        failures = list(cells)
        firsts: dict[str, Optional[int]] = {}
        for item in failures:
            right = [one.sample for one in cells[item] if one.correct]
            firsts[item] = min(right) if right else None
        reached = [item for item in failures if firsts[item] is not None]
        hits = partition_hits(parts, part, sweep)
        drawn = {item: len(cells[item]) for item in failures}
        orders = {number: _order_at(parts, firsts, number) for number in range(1, sweep + 1)}
        for number in range(1, sweep + 1):
            found = sum(firsts[item] is not None and firsts[item] < number for item in failures)  # type: ignore[operator]
            # Where a run was cut short, an item has fewer samples to choose from: then all of them are taken.
            chances = [
                1 - comb(drawn[item] - hits[item], number) / comb(drawn[item], number)
                if drawn[item] >= number
                else 1.0
                for item in reached
            ]
            figures = {
                "found_share": wilson_share(found, len(reached)),
                "found_share_expected": mean_figure(chances),
            }
            for which, name in enumerate(("kendall_sgr", "kendall_dgr")):
                x, y = orders[number][which], orders[k][which]
                # Where one side is empty there is no order, and nothing was counted.
                known = x is not None and y is not None
                figures[name] = (
                    Expected(kendall_tau_b(x or [], y or []), None, len(x or [])) if known else no_figure()
                )
            table[row_key(temperature=f"{part['temperature']:g}", k=str(number))] = figures
    return table


Order = Optional[list[float]]


def _order_at(parts: Parts, firsts: dict[str, Optional[int]], number: int) -> tuple[Order, Order]:
    """SGR and DGR of the methods where so many samples split the failures; None where one has none of them to
    be judged on."""
    shallow = [item for item, first in firsts.items() if first is not None and first < number]
    deep = [item for item, first in firsts.items() if first is None or first >= number]
    judged = _judged(parts, list(firsts))
    first, second = ([_right(parts, method, items) for method in judged] for items in (shallow, deep))
    return _rates_or_none(first), _rates_or_none(second)


def _rates_or_none(judged: list[dict[str, bool]]) -> Order:
    return [sum(right.values()) / len(right) for right in judged] if all(judged) else None


def mean_sweep(sweeps: list[Table]) -> Table:
    """The mean over models of each figure, where it can be estimated."""
    table: Table = {}
    for key in {key: None for sweep in sweeps for key in sweep}:
        found = [sweep[key] for sweep in sweeps if key in sweep]
        figures = {}
        for name in found[0]:
            values = [one[name].value for one in found if one[name].value is not None]
            n = len(values)
            figures[name] = Expected(sum(values) / n, sum(values), n) if values else no_figure(0)
        table[key] = figures
    return table
