"""Shared instability between families: what is left once configurations of one family do not vouch for each
other.

Configurations of one model, or of one declared family, are unsteady on the same items for reasons of their
own. Where a set holds several of a family, its claims therefore rest on pairs of two families alone. The
interval resamples families, each with all its configurations. The null shuffles the values of a family's
configurations together, so that what they share among themselves stays as it is: two families of six that
coincide on one item coincide on it 36 times, and they do so by chance as often in the null.
Fewer than three families say nothing about families. Source: as `lenses.transfer`; the clusters are the
nodes of `stats.pair_bootstrap`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.lenses.figures import bootstrapped, count, unknown
from leadline.lenses.finding import Figure, Row
from leadline.lenses.protocol import Protocol
from leadline.lenses.transfer_figures import mean_over, null_figures, null_of
from leadline.lenses.transfer_scores import Scores
from leadline.stats.pair_bootstrap import MEMBERS, Floats, Mask, pair_weights
from leadline.stats.permutation import SharedByChance
from leadline.stats.top_sets import TopSets, top_sets

ANYWHERE, IN_STRATA = "among all items", "within accuracy strata"
DEFINITION = (
    "As by k, at the largest k and over items, of pairs of two families alone: for sets that hold several "
    "configurations of one family, whose pairs are no independent witnesses. Intervals resample families. "
    "The null shuffles a family's configurations together, among all items or within accuracy strata. The "
    "set's claims rest on these rows."
)


def families_repeat(scores: Scores) -> bool:
    """Whether the set holds two configurations of one family."""
    return len(_families(scores)) < len(scores.members)


def across_null(
    scores: Scores, k: int, protocol: Protocol, strata: Floats | None = None
) -> SharedByChance | None:
    """The null of pairs of two families; None where there are none."""
    if len(_families(scores)) < 2:
        return None
    kin = np.array([one.kin for one in scores.members])
    return null_of(scores, (k,), protocol, strata, kin)[k]


def family_row(scores: Scores, shuffled: str, k: int, protocol: Protocol, null: SharedByChance | None) -> Row:
    """The pairs of two families against their `null`."""
    sets = top_sets(scores.table, k)
    pairs = sets.pairs & scores.crossed
    names = _families(scores)
    figures = {
        "families": count(len(names)),
        "configurations": count(len(scores.members)),
        "units": count(scores.units),
        "pairs": count(int(pairs.sum()), int(sets.pairs.sum())),
        **_shared(scores, sets, pairs, names, protocol),
        **null_figures(sets, null, protocol, pairs),
    }
    return Row(keys={"set": scores.set, "shuffled": shuffled}, figures=figures)


def _shared(
    scores: Scores, sets: TopSets, pairs: Mask, names: Sequence[str], protocol: Protocol
) -> dict[str, Figure]:
    """`mean`, `hits` and `expected` over pairs of two families."""
    if not pairs.any():
        why = "no two families have an unstable unit" if len(names) > 1 else "all are of one family"
        return dict.fromkeys(("mean", "hits", "expected"), unknown(why, 0))
    family = [names.index(one.kin) for one in scores.members]
    drawn = pair_weights(len(names), protocol.bootstrap_draws, protocol.bootstrap_seed)[:, family]
    mean = mean_over(sets.share, pairs, drawn, protocol)
    method = bootstrapped(protocol, "families")
    there = {scores.members[at].kin for at in np.flatnonzero(pairs.any(axis=1))}
    if len(there) < MEMBERS:
        note = f"no interval: fewer than {MEMBERS} families have an unstable unit"
        mean = mean.model_copy(update={"low": None, "high": None, "note": note})
    asked = int(np.where(pairs, sets.own[:, None], 0).sum())
    return {
        "mean": mean.model_copy(update={"method": method}),
        "hits": count(int(sets.hits[pairs].sum()), asked),
        "expected": Figure(
            value=float(sets.expected[pairs].sum()),
            denominator=int(pairs.sum()),
            method="Σ |top of A| · |top of B| / N",
        ),
    }


def _families(scores: Scores) -> list[str]:
    """Names of the families, in the order of their first configurations."""
    return list(dict.fromkeys(one.kin for one in scores.members))
