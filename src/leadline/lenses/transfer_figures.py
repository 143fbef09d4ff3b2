"""What pairs of configurations share, as figures: the mean share with its interval, chance and the null."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import count, share, unknown
from leadline.lenses.finding import Figure
from leadline.lenses.protocol import Protocol
from leadline.lenses.transfer_scores import Scores
from leadline.stats.intervals import Interval
from leadline.stats.pair_bootstrap import (
    MEMBERS,
    Floats,
    Mask,
    PairInterval,
    bootstrap_pair_median,
    bootstrap_pair_ratio,
    pair_weights,
)
from leadline.stats.permutation import SharedByChance, p_of, shared_by_chance
from leadline.stats.top_sets import TopSets

NO_PAIRS = "no two configurations have an unstable unit"
TOO_FEW = f"no interval: fewer than {MEMBERS} configurations have an unstable unit"


def null_of(
    scores: Scores,
    ks: tuple[int, ...],
    protocol: Protocol,
    strata: Floats | None = None,
    families: npt.NDArray[Any] | None = None,
) -> dict[int, SharedByChance]:
    """The permutation null of `scores` by k, with the protocol's permutations and seed.

    `families` names those that are shuffled together; only pairs of two of them count then.
    """
    rule = protocol.stability
    return shared_by_chance(scores.table, ks, rule.permutations, rule.permutation_seed, strata, families)


def drawn_members(scores: Scores, protocol: Protocol) -> Floats:
    """How often each configuration is in each bootstrap draw [draws, configurations]."""
    return pair_weights(len(scores.members), protocol.bootstrap_draws, protocol.bootstrap_seed)


def pair_figures(sets: TopSets, pairs: Mask, drawn: Floats, protocol: Protocol) -> dict[str, Figure]:
    """`mean`, `median`, `mean_untied`, `hits`, `expected` and `ratio` over some pairs of configurations."""
    if not pairs.any():
        nothing = unknown(NO_PAIRS, 0)
        return dict.fromkeys(("mean", "median", "mean_untied", "hits", "expected", "ratio"), nothing)
    hits, expected = (np.where(pairs, of, 0.0) for of in (sets.hits, sets.expected))
    asked = int(np.where(pairs, sets.own[:, None], 0).sum())
    below = float(expected.sum())
    middle = bootstrap_pair_median(sets.share, pairs, drawn)
    return {
        "mean": mean_over(sets.share, pairs, drawn, protocol),
        "median": _resampled(
            float(np.median(sets.share[pairs])), None, int(pairs.sum()), middle, protocol, len(drawn)
        ),
        "mean_untied": mean_over(sets.untied_share, pairs, drawn, protocol),
        "hits": count(int(hits.sum()), asked),
        "expected": Figure(value=below, denominator=int(pairs.sum()), method="Σ |top of A| · |top of B| / N"),
        "ratio": _resampled(
            float(hits.sum()) / below,
            float(hits.sum()),
            below,
            bootstrap_pair_ratio(hits, expected, drawn),
            protocol,
            len(drawn),
        ),
    }


def null_figures(
    sets: TopSets, null: SharedByChance | None, protocol: Protocol, pairs: Mask | None = None
) -> dict[str, Figure]:
    """`chance`, `null_mean`, `null_hits` and `p` of all pairs, or of those that `null` is about."""
    pairs = sets.pairs if pairs is None else pairs
    if null is None or not pairs.any():
        return dict.fromkeys(("chance", "null_mean", "null_hits", "p"), unknown(NO_PAIRS, 0))
    number, by_pair = len(null.mean), int(pairs.sum())
    blind = np.broadcast_to(sets.wide[None, :] / sets.units, pairs.shape)[pairs]
    observed = float(sets.share[pairs].mean())
    p = p_of(null.mean, observed)
    named = permuted(protocol)
    return {
        "chance": Figure(
            value=float(blind.mean()),
            denominator=by_pair,
            method="mean of |top of B| / N",
            note=f"in the median pair {float(np.median(blind)):.4f}",
        ),
        "null_mean": _quantiles(null.mean, number, named),
        "null_hits": _quantiles(null.hits.astype(np.float64), number, named),
        "p": Figure(
            value=p,
            denominator=number,
            method=f"permutation, one-sided, {named}",
            note=f"less than 1/{number + 1:,}: no permutation reaches it" if p * (number + 1) < 1.5 else "",
        ),
    }


def count_figures(sets: TopSets) -> dict[str, Figure]:
    """`pairs_sharing` anything, and pairs that were `truncated`."""
    pairs = sets.pairs
    by_pair = int(pairs.sum())
    first = int((pairs & (sets.own < sets.k)[:, None]).sum())
    return {
        "pairs_sharing": share(int((pairs & (sets.hits > 0)).sum()), by_pair, empty=NO_PAIRS),
        "truncated": count(
            int((pairs & sets.short).sum()),
            by_pair,
            note=f"{first} of them have fewer than {sets.k} unstable units to look for" if first else "",
        ),
    }


def mean_over(values: Floats, pairs: Mask, drawn: Floats, protocol: Protocol) -> Figure:
    """The mean of one number per pair, with a bootstrap interval over configurations."""
    if not pairs.any():
        return unknown(NO_PAIRS, 0)
    ends = bootstrap_pair_ratio(np.where(pairs, values, 0.0), pairs.astype(np.float64), drawn)
    total, number = float(values[pairs].sum()), int(pairs.sum())
    return _resampled(total / number, total, number, ends, protocol, len(drawn))


def permuted(protocol: Protocol) -> str:
    """What a null's interval is called."""
    rule = protocol.stability
    return f"{rule.permutations:,} permutations, seed {rule.permutation_seed}"


def _quantiles(values: Floats, number: int, named: str) -> Figure:
    low, high = np.quantile(values, [0.025, 0.975])
    return Figure(
        value=float(values.mean()),
        denominator=number,
        low=float(low),
        high=float(high),
        method=f"quantiles of {named}",
    )


def _resampled(
    value: float,
    above: float | None,
    below: float,
    ends: PairInterval,
    protocol: Protocol,
    draws: int,
) -> Figure:
    interval: Interval = ends.interval
    note = TOO_FEW if interval.low is None else ""
    if ends.without:
        note = f"{ends.without:,} of {draws:,} draws held no such pair and were left out"
    return Figure(
        value=value,
        numerator=above,
        denominator=below,
        low=interval.low,
        high=interval.high,
        method=f"bootstrap over configurations, {draws} draws, seed {protocol.bootstrap_seed}",
        note=note,
    )
