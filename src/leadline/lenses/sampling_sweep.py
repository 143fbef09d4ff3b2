"""Does it matter that K samples tell shallow from deep, and not fewer or more?

For K from 1 to the length of the sweep: the share of the sweep's shallow failures that the first K samples
find; the share that K samples find on average over all choices of K of them; and Kendall's τ_b between the
order of the methods by SGR (by DGR) under K samples and under the partition's own K.
Source: MAPLE, section 3.2 and table 1. The average over choices is the hypergeometric expectation: an item
with h correct of n samples is found by K of them with probability 1 - C(n-h, K) / C(n, K).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import decimal, mean, percent, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.partition import Outcomes, Split, outcomes, split
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.view import View
from leadline.stats.binomials import log_factorial
from leadline.stats.rank_correlation import kendall_tau_b

DEFINITION = (
    "found_share: share of the failures that the whole sweep reaches which the first K samples reach. "
    "found_share_expected: the same averaged over all choices of K samples, so that it does not hang on "
    "their order. kendall_sgr, kendall_dgr: agreement (τ_b) of the order of the methods at this K with "
    "their order at the K that the study uses."
)


def look(view: View) -> list[Finding]:
    """Finding `sweep`; none when the study has no partition samples."""
    rows: list[Row] = []
    notes: list[str] = []
    claims: list[Claim] = []
    for partition in view.protocol.partitions:
        if view.has(partition.configuration):
            one = split(view, partition)
            swept = _sweep(view, one)
            rows += swept
            notes += _lowest(one, swept)
            claims.append(_claim(one, swept))
    if not rows:
        return []
    return [
        Finding(
            lens="beyond_sampling",
            table="sweep",
            model=view.model,
            title="How many samples tell shallow from deep",
            definition=DEFINITION,
            rows=tuple(rows),
            claims=tuple(claims),
            notes=tuple(notes),
        )
    ]


def across(findings: Sequence[Finding]) -> list[Finding]:
    """Finding `sweep` over all models: the mean of each model's figures, as the source reports them."""
    sweeps = [finding for finding in findings if finding.table == "sweep"]
    if len(sweeps) < 2:
        return []
    rows = []
    for keys in dict.fromkeys(tuple(row.keys.items()) for sweep in sweeps for row in sweep.rows):
        found = [row.figures for sweep in sweeps for row in sweep.rows if tuple(row.keys.items()) == keys]
        figures = {key: _mean_of_models([figures[key] for figures in found]) for key in found[0]}
        rows.append(Row(keys=dict(keys), figures=figures))
    return [
        sweeps[0].model_copy(
            update={
                "model": ALL_MODELS,
                "title": "How many samples tell shallow from deep, mean over models",
                "rows": tuple(rows),
                "claims": (),  # each model's own order of methods is what K may change
                "notes": (f"Mean over {len(sweeps)} models, where a model's figure can be estimated.",),
            }
        )
    ]


def expected_found(hits: npt.ArrayLike, drawn: npt.ArrayLike, k: int) -> npt.NDArray[np.float64]:
    """Chance [items] that `k` of an item's `drawn` samples hold at least one of its `hits` correct ones."""
    h, n = np.asarray(hits, np.float64), np.asarray(drawn, np.float64)
    missed = np.zeros_like(n)
    possible = n - h >= k  # otherwise k samples cannot all be wrong
    rest = n[possible] - h[possible]
    missed[possible] = np.exp(
        log_factorial(rest)
        - log_factorial(rest - k)
        - log_factorial(n[possible])
        + log_factorial(n[possible] - k)
    )
    return np.where(h > 0, 1 - missed, 0.0)


def _sweep(view: View, one: Split) -> list[Row]:
    judged = list(outcomes(view, one.items).values())
    own = one.first_hit < one.partition.k
    reference = _order(judged, own), _order(judged, ~own)
    found = one.sweep_hits > 0
    total = int(found.sum())
    rows = []
    for k in range(1, one.partition.sweep + 1):
        shallow = one.first_hit < k
        figures = {
            "found_share": share(int(shallow.sum()), total, empty="the sweep reaches no failure"),
            "found_share_expected": mean(
                expected_found(one.sweep_hits[found], one.sweep_drawn[found], k),
                view.protocol,
                note="" if total else "the sweep reaches no failure",
            ),
            "kendall_sgr": _kendall(_order(judged, shallow), reference[0], one.partition.k),
            "kendall_dgr": _kendall(_order(judged, ~shallow), reference[1], one.partition.k),
        }
        rows.append(Row(keys={"temperature": one.temperature, "k": str(k)}, figures=figures))
    return rows


def _order(judged: list[Outcomes], where: npt.NDArray[np.bool_]) -> list[float] | None:
    """Each method's rate on the failures in `where`; None when a method has none to be judged on."""
    rates = []
    for right in judged:
        counted_over = right[where & ~np.isnan(right)]
        if len(counted_over) == 0:
            return None
        rates.append(float(counted_over.sum() / len(counted_over)))
    return rates


def _kendall(order: list[float] | None, reference: list[float] | None, k: int) -> Figure:
    if order is None or reference is None:
        return unknown("no failures of this kind at one of the two K")
    tau = kendall_tau_b(order, reference)
    if tau is None:
        return unknown("all methods are tied, or there is only one", len(order))
    return Figure(value=tau, denominator=len(order), method=f"kendall tau-b with K = {k}")


def _mean_of_models(figures: list[Figure]) -> Figure:
    values = [figure.value for figure in figures if figure.value is not None]
    if not values:
        return unknown(figures[0].note, 0)
    return Figure(
        value=sum(values) / len(values),
        numerator=sum(values),
        denominator=len(values),
        method=f"mean over {len(values)} models",
    )


def _lowest(one: Split, rows: list[Row]) -> list[str]:
    """One line per temperature: what K finds of the sweep, and where the order of methods changes most."""
    k = str(one.partition.k)
    at_k = next(row.figures["found_share"] for row in rows if row.keys["k"] == k) if one.items else None
    if at_k is None or at_k.value is None:
        return []
    line = f"τ = {one.temperature}: {k} samples find {percent(at_k.value)} of what {one.partition.sweep} find"
    for key, name in (("kendall_sgr", "SGR"), ("kendall_dgr", "DGR")):
        known = [(row.figures[key].value, row.keys["k"]) for row in rows]
        lowest = min(((tau, at) for tau, at in known if tau is not None), default=None)
        if lowest:
            line += f"; lowest τ_b by {name} {decimal(lowest[0], '.2f')} at K = {lowest[1]}"
    return [line + "."]


def _claim(one: Split, rows: list[Row]) -> Claim:
    """Whether the methods are ranked alike at every K; a mean over K would hide the K that turns them."""
    text = f"Methods are ranked alike by SGR and by DGR at every number of samples (τ = {one.temperature})"
    known = [
        (tau, name, row.keys["k"])
        for row in rows
        for key, name in (("kendall_sgr", "SGR"), ("kendall_dgr", "DGR"))
        if (tau := row.figures[key].value) is not None
    ]
    if not known:
        return Claim(text=f"{text}: no order can be compared.", status=ClaimStatus.NOT_ESTIMABLE)
    lowest, name, k = min(known, key=lambda each: each[0])
    changed = sum(tau < 1 for tau, _, _ in known)
    return Claim(
        text=f"{text}: {changed} of {len(known)} orders differ from that at K = {one.partition.k}.",
        status=ClaimStatus.NOT_SUPPORTED if changed else ClaimStatus.SUPPORTED,
        point=f"mean τ_b {decimal(sum(tau for tau, _, _ in known) / len(known), '.2f')}",
        conservative=f"lowest τ_b {decimal(lowest, '.2f')}, by {name} at K = {k}",
    )


LENS = Lens("beyond_sampling", order=41, look=look, across=across)
