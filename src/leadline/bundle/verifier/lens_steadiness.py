"""Techniques and steadiness: do they waver, is what they recover steady, and where does the gold token
rise."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations
from math import inf, log2
from typing import Any, Optional, Union

from leadline.bundle.verifier.asked_again import plain_of, recovered_table
from leadline.bundle.verifier.cells import Cell
from leadline.bundle.verifier.decisions import BY_PEOPLE
from leadline.bundle.verifier.drawn import Drawn, Tail
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    difference_figure,
    mean_figure,
    no_figure,
    p_figure,
    plain_count,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import fisher_exact, holm_corrected, mcnemar_exact, newcombe_ends
from leadline.bundle.verifier.lens_rank_shift import probed, rank_shifts
from leadline.bundle.verifier.loading import Cells
from leadline.bundle.verifier.ranks import mid_ranks, pearson, spearman_rho
from leadline.bundle.verifier.resampling import statistic_draws
from leadline.bundle.verifier.votes import Parts, verdicts

_STEADY, _LUCKY = 0.9, 0.5
_PERMUTATIONS = 2000
# Of so many items all orders are gone through.
_EXACT_ORDERS = 7
_UNFLAGGED = ("", "clean", "not checkable")


def steadiness_tables(parts: Parts, rows: dict[str, list[dict[str, Any]]]) -> dict[str, Table]:
    """All tables for one model; `rows` are the report's, whose drawn p-values are corrected exactly."""
    if not parts.cells(parts.baseline_name):
        return {}
    return {
        "wobble change": _wobble_change(parts),
        "gain by audit": _gain_by_audit(parts),
        "recovered": recovered_table(parts),
        "rank shift": _rank_shift(parts, rows.get("rank shift", [])),
    }


def _first_readings(cells: Cells, item: str, n: int, rule: str) -> Cell:
    read = [answer for answer in cells.get(item, []) if answer.state == "ok"]
    return Cell(read[:n], rule)


def _wobble_change(parts: Parts) -> Table:
    rule = parts.bundle.protocol["stability"]["sameness"]
    m = parts.bundle.protocol["stability"]["rarefy"]
    table: Table = {}
    tested: list[tuple[dict[str, Expected], float]] = []
    for again in parts.bundle.protocol.get("again", []):
        sampling = again["plain"] or ""
        own, plain = parts.cells(again["configuration"]), parts.cells(sampling)
        if not own or not plain:
            continue
        cells, others = {}, {}
        rarefied: list[tuple[float, float]] = []
        for item in sorted(set(own) & set(plain)):
            whole, plain_whole = (
                _first_readings(own, item, 10**9, rule),
                _first_readings(plain, item, 10**9, rule),
            )
            if min(whole.n, plain_whole.n) >= m:
                rarefied.append((whole.rarefied(m), plain_whole.rarefied(m)))
            n = min(whole.n, plain_whole.n)
            if n >= 2:
                cells[item], others[item] = (
                    _first_readings(own, item, n, rule),
                    _first_readings(plain, item, n, rule),
                )
        less = sum(cells[item].unstable and not others[item].unstable for item in cells)
        steadier = sum(others[item].unstable and not cells[item].unstable for item in cells)
        p = mcnemar_exact(less, steadier)
        table[row_key(method=again["method"], sampling=sampling)] = figures = {
            "rarefied": _mean([one for one, _ in rarefied]),
            "rarefied_plain": _mean([other for _, other in rarefied]),
            "rarefied_difference": difference_figure([one - other for one, other in rarefied]),
            "wobble": wilson_share(sum(cell.unstable for cell in cells.values()), len(cells)),
            "wobble_plain": wilson_share(sum(cell.unstable for cell in others.values()), len(others)),
            "steadier": plain_count(steadier, len(cells)),
            "less_steady": plain_count(less, len(cells)),
            "dispersion_difference": difference_figure(
                [cells[item].dispersion - others[item].dispersion for item in cells]
            ),
            "mcnemar_p": p_figure(p, less + steadier) if cells else no_figure(0),
            "mcnemar_p_holm": no_figure(0),
        }
        if cells:
            tested.append((figures, p))
    for (figures, _), corrected in zip(tested, holm_corrected([p for _, p in tested])):
        figures["mcnemar_p_holm"] = Expected(corrected, None, figures["mcnemar_p"].denominator)
    return table


def _mean(values: list[float]) -> Expected:
    return mean_figure(values) if values else no_figure(0)


def _gain_by_audit(parts: Parts) -> Table:
    whole = {name: cells for (model, name), cells in parts.bundle.everyone.items() if model == parts.model}
    audit = {item: answers[0].audit for cells in whole.values() for item, answers in cells.items()}
    named = {
        item
        for cells in whole.values()
        for item, answers in cells.items()
        if answers[0].excluded in BY_PEOPLE
    }
    flagged = {item for item, verdict in audit.items() if verdict not in _UNFLAGGED} - named
    clean = {item for item, verdict in audit.items() if verdict in _UNFLAGGED[1:]} - named
    if not flagged or not clean:
        return {}
    before = verdicts(whole.get(parts.baseline_name, {}), int(parts.bundle.protocol.get("baseline_vote", 1)))
    table: Table = {}
    p_values = []
    for method in (one for one in parts.bundle.protocol["methods"] if one["name"] in whole):
        after = verdicts(whole.get(method["name"], {}), method["vote"])
        counts = {}
        for side, items in (("flagged", flagged), ("clean", clean)):
            both = [item for item in items if item in before and item in after]
            failed = [item for item in both if not before[item].correct]
            right = [item for item in both if before[item].correct]
            recovered = sum(after[item].correct for item in failed)
            counts[side] = (
                recovered,
                len(failed),
                sum(not after[item].correct for item in right),
                len(right),
            )
        figures: dict[str, Expected] = {}
        (gained, failed_, broken, right_), (gained_clean, failed_clean, broken_clean, right_clean) = (
            counts["flagged"],
            counts["clean"],
        )
        for name, own, other in (
            ("gain", (gained, failed_), (gained_clean, failed_clean)),
            ("loss", (broken, right_), (broken_clean, right_clean)),
        ):
            figures[f"{name}_flagged"] = wilson_share(*own)
            figures[f"{name}_clean"] = wilson_share(*other)
            estimable = own[1] and other[1]
            p = fisher_exact(own[0], own[1] - own[0], other[0], other[1] - other[0]) if estimable else None
            figures[f"{name}_difference"] = (
                Expected(
                    own[0] / own[1] - other[0] / other[1], None, own[1] + other[1], newcombe_ends(own, other)
                )
                if estimable
                else no_figure(own[1] + other[1])
            )
            figures[f"{name}_p"] = Expected(p, None, own[1] + other[1]) if estimable else no_figure(0)
            if name == "gain" and p is not None:
                p_values.append((figures, p))
        figures["recovered_flagged"] = wilson_share(gained, gained + gained_clean)
        figures["failures_flagged"] = wilson_share(failed_, failed_ + failed_clean)
        figures["gain_p_holm"] = no_figure(failed_ + failed_clean if failed_ and failed_clean else 0)
        table[row_key(method=method["name"])] = figures
    for (figures, _), corrected in zip(p_values, holm_corrected([p for _, p in p_values])):
        figures["gain_p_holm"].value = corrected
    return table


def _rank_shift(parts: Parts, rows: list[dict[str, Any]]) -> Table:
    table: Table = {}
    tested: list[tuple[str, dict[str, Expected]]] = []
    told = {row["keys"]["method"]: row["figures"]["rho_p"].get("value") for row in rows}
    for method in parts.methods:
        plain = plain_of(parts, method)
        if method["is_sampling"] or not plain or not probed(parts, method):
            continue
        rule = parts.bundle.protocol["stability"]["sameness"]
        waver = {item: Cell(answers, rule) for item, answers in parts.cells(plain).items()}
        pairs = []
        for item, (before, after, masked) in rank_shifts(parts, method).items():
            ruled_out_by_both = masked and before == inf  # neither rose nor fell
            if item in waver and waver[item].n >= 2 and not ruled_out_by_both:
                pairs.append((-inf if masked else log2(before / after), waver[item].dispersion))
        figures = _rho_figures(pairs, parts.bundle.protocol["stability"]["permutations"])
        if "rho_p_holm" not in figures:
            tested.append((method["name"], figures))
            figures["rho_p_holm"] = Expected(None, None, len(pairs))
        table[row_key(method=method["name"], sampling=plain)] = figures
    # Corrected exactly from the p-values that were reported, which were checked one by one.
    reported = [told.get(name) for name, _ in tested]
    if all(p is not None for p in reported):
        for (_, figures), corrected in zip(tested, holm_corrected([float(p or 0) for p in reported])):
            figures["rho_p_holm"].value = corrected
    return table


def _rho_figures(pairs: list[tuple[float, float]], theirs: int) -> dict[str, Expected]:
    n = len(pairs)
    rho = spearman_rho([pair[0] for pair in pairs], [pair[1] for pair in pairs]) if n > 2 else None
    if rho is None:
        return {name: no_figure(n) for name in ("rho", "rho_p", "rho_p_holm")}

    def statistic(chosen: Sequence[int]) -> Optional[float]:
        return spearman_rho([pairs[at][0] for at in chosen], [pairs[at][1] for at in chosen])

    def shuffled() -> list[float]:
        rng = random.Random(f"rho {n}")
        x, y = mid_ranks([pair[0] for pair in pairs]), mid_ranks([pair[1] for pair in pairs])
        found = []
        for _ in range(_PERMUTATIONS):
            rng.shuffle(y)
            found.append(pearson(x, y) or 0.0)
        return found

    ends = Drawn(lambda: statistic_draws(n, statistic, 2000))
    p: Union[float, Tail] = Tail(Drawn(shuffled, theirs), rho, sides=2)
    if n <= _EXACT_ORDERS:
        x, y = mid_ranks([pair[0] for pair in pairs]), mid_ranks([pair[1] for pair in pairs])
        orders = [pearson(x, order) or 0.0 for order in permutations(y)]
        p = sum(abs(one) >= abs(rho) - 1e-9 for one in orders) / len(orders)
    return {"rho": Expected(rho, None, n, ends), "rho_p": Expected(p, None, n)}
