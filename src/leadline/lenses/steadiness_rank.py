"""Does a technique lift the gold token more where the model wavers anyway?

Over the items that baseline and method both get wrong: Spearman's ρ between log2(r_0 / r_m), how far the
gold token rises under the method (see `rank_shift`), and the item's dispersion under plain sampling (see
`wobble`), of items with two readings of plain sampling at least. A gold token that the method rules out has
fallen farthest. p is that of a permutation test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import SIGNIFICANCE, bootstrapped, decimal, p_value, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import make_panel
from leadline.lenses.protocol import Member, Method, Protocol
from leadline.lenses.rank_shift import gold_ranks
from leadline.lenses.view import View
from leadline.stats.multiple import holm
from leadline.stats.rank_bootstrap import bootstrap_spearman
from leadline.stats.rank_correlation import FEWEST, spearman
from leadline.stats.rank_permutation import EXACT_THINGS, spearman_p

# Of so many things no p is out of reach.
_MANY = 20
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shifts:
    """Unrecovered failures in order of item: how far the gold token rose, and how much plain sampling wavers;
    both [items]. `plain` is the configuration that shows it."""

    rise: Floats
    dispersion: Floats
    plain: str

    @property
    def rho(self) -> float | None:
        """Spearman's ρ; None where it is not defined."""
        value = float(spearman(self.rise, self.dispersion))
        return None if np.isnan(value) else value

    def p(self, protocol: Protocol) -> float:
        """Of a permutation test."""
        stability = protocol.stability
        return spearman_p(self.rise, self.dispersion, stability.permutations, stability.permutation_seed)


def rank_shift(view: View) -> Finding | None:
    """Table "rank shift"; None where no method has ranks, or nothing was sampled without a technique."""
    found = {method: shifts for method in view.protocol.methods if (shifts := shifts_of(view, method))}
    if not found:
        return None
    protocol = view.protocol
    tested = {method: shifts.p(protocol) for method, shifts in found.items() if shifts.rho is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    # One order and its reverse of all there are: the smallest that each p could be after the correction.
    orders = [2 / factorial(min(len(found[method].rise), _MANY)) for method in tested]
    least = dict(zip(tested, holm(orders), strict=True))
    rows, claims = [], []
    for method, shifts in found.items():
        figures = {"rho": _rho(shifts, protocol)}
        for key, values, more in (
            ("rho_p", tested, ""),
            ("rho_p_holm", corrected, f", holm over {len(tested)} methods"),
        ):
            known = method in values
            items = len(shifts.rise)
            how = f"{protocol.stability.permutations} permutations{more}"
            if items <= EXACT_THINGS:
                how = f"exact permutation, all {factorial(items):,} orders{more}"
            figures[key] = p_value(values[method], how, items) if known else unknown("no ρ", items)
        rows.append(Row(keys={"method": method.name, "sampling": shifts.plain}, figures=figures))
        never = least.get(method, 0.0) > SIGNIFICANCE
        claims.append(_claim(method.called, protocol.label(shifts.plain), figures, len(tested), never))
    return Finding(
        lens="steadiness",
        table="rank shift",
        model=view.model,
        title="Does the gold token rise where the model wavers?",
        definition="Over the items that baseline and method both get wrong, Spearman's ρ between log2 of the "
        "gold token's rank under the baseline over that under the method, and the item's dispersion under "
        "plain sampling. Above zero: the token rises more on items whose answers vary anyway.",
        rows=tuple(rows),
        claims=tuple(claims),
    )


def shifts_of(view: View, method: Method) -> Shifts | None:
    """None where the method is a temperature, which moves no rank, or where ranks or plain samples lack."""
    plain = plain_of(view, method)
    if method.is_sampling or not plain or not view.has(method.name):
        return None
    ranks_0 = gold_ranks(view.readings, view.protocol.baseline, 1)
    ranks_m = gold_ranks(view.readings, method.name, method.vote)
    if not ranks_0.height or not ranks_m.height:
        return None
    sampled = view.readings.filter(pl.col("configuration") == plain)
    panel = make_panel(sampled, [Member(view.model, plain)])
    wavers = pl.DataFrame({"item": panel.items, "dispersion": panel.dispersion[0], "n": panel.n[0]})
    table = (
        view.paired(method)
        .filter(~pl.col("y0") & ~pl.col("ym"))
        .join(ranks_0.select("item", pl.col("rank").alias("r0")), on="item")
        .join(ranks_m.select("item", pl.col("rank").alias("rm")), on="item")
        .join(wavers.filter(pl.col("n") >= 2), on="item")
        .sort("item")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.log2(table["r0"].to_numpy() / table["rm"].to_numpy())
    known = ~np.isnan(rise)  # ruled out by both
    return Shifts(rise[known], table["dispersion"].to_numpy()[known], plain)


def plain_of(view: View, method: Method) -> str:
    """The plain sampling that a method is set against: that of its answers when asked again, else the first
    temperature that there are readings of; "" where there is none."""
    own = [one.plain for one in view.protocol.again if one.method == method.name]
    others = [one.name for one in view.protocol.methods if one.is_sampling]
    return next((name for name in [*own, *others] if name and view.has(name)), "")


def _rho(shifts: Shifts, protocol: Protocol) -> Figure:
    items = len(shifts.rise)
    if shifts.rho is None:
        few = items < FEWEST
        return unknown("too few unrecovered failures" if few else "all items tie on one side", items)
    draws, seed = protocol.bootstrap_draws, protocol.bootstrap_seed
    low, high = bootstrap_spearman(shifts.rise, shifts.dispersion, draws, seed)
    return Figure(value=shifts.rho, denominator=items, low=low, high=high, method=bootstrapped(protocol))


def _claim(name: str, plain: str, figures: dict[str, Figure], compared: int, never: bool) -> Claim:
    rho, p = figures["rho"], figures["rho_p_holm"].value
    text = f"{name} lifts the gold token more on items that waver at {plain}"
    if rho.value is None or p is None:
        return Claim(text=f"{text}: {rho.note}.", status=ClaimStatus.NOT_ESTIMABLE)
    if rho.value < 0:
        text = f"{name} lifts the gold token less on items that waver at {plain}"
    nearer, end = (rho.low, "lower") if rho.value >= 0 else (rho.high, "upper")
    clear = nearer is not None and nearer * rho.value > 0
    return Claim(
        text=f"{text}: ρ = {decimal(rho.value, '.2f')} over {rho.denominator:.0f} unrecovered failures, "
        f"permutation p = {p:.3g} after Holm over {compared} methods.",
        status=ClaimStatus.UNREACHABLE
        if never
        else ClaimStatus.SUPPORTED
        if p <= SIGNIFICANCE and clear
        else ClaimStatus.NOT_SUPPORTED,
        point=f"ρ = {decimal(rho.value, '.2f')}",
        conservative="no interval"
        if nearer is None
        else f"{decimal(nearer, '.2f')} at the interval's {end} end",
    )
