"""What pairs of configurations share, as figures: shares with intervals, chance, and shuffled values."""

from __future__ import annotations

from statistics import median
from typing import Optional

from leadline.bundle.verifier.drawn import Drawn, Tail
from leadline.bundle.verifier.expected import Expected, no_figure, plain_count, wilson_share
from leadline.bundle.verifier.top_sets import (
    Pair,
    Shared,
    Shuffled,
    best_first,
    pair_median_draws,
    pair_ratio_draws,
    untied_shares,
)


def over_pairs(
    members: int, above: dict[Pair, float], below: Optional[dict[Pair, float]] = None
) -> Optional[Drawn]:
    """Draws of Σ above / Σ below over pairs; None for fewer than three configurations in a pair."""
    involved = {member for pair in above for member in pair}
    if len(involved) < 3:
        return None
    return Drawn(lambda: pair_ratio_draws(members, above, below or dict.fromkeys(above, 1.0)), between=True)


def pair_figures(
    scores: list[list[float]], k: int, null: Optional[Shuffled], permutations: int
) -> dict[str, Expected]:
    """Every figure of a set at one k."""
    units = len(scores[0])
    shared = Shared([best_first(own) for own in scores], units, k)
    figures = {"units": plain_count(units), **share_figures(scores, shared, k)}
    pairs = len(shared.shares)
    figures["chance"] = Expected(sum(shared.chances.values()) / pairs, None, pairs) if pairs else no_figure(0)
    figures["pairs_sharing"] = wilson_share(sum(hits > 0 for hits in shared.hits.values()), pairs)
    figures["truncated"] = plain_count(shared.truncated, pairs)
    if null is not None:
        figures.update(null_figures(shared, null, k, permutations))
    return figures


def share_figures(scores: list[list[float]], shared: Shared, k: int) -> dict[str, Expected]:
    """Means, hits and what blind sets would share."""
    members, pairs = len(scores), len(shared.shares)
    if not pairs:
        return {name: no_figure(0) for name in ("mean", "median", "mean_untied", "hits", "expected", "ratio")}
    untied = untied_shares(scores, k)
    total, expected = shared.total, sum(shared.blind.values())
    involved = {member for pair in shared.shares for member in pair}
    middle = (
        Drawn(lambda: pair_median_draws(members, shared.shares), between=True) if len(involved) > 2 else None
    )
    hits = {pair: float(number) for pair, number in shared.hits.items()}
    return {
        "mean": Expected(
            sum(shared.shares.values()) / pairs,
            sum(shared.shares.values()),
            pairs,
            over_pairs(members, shared.shares),
        ),
        "median": Expected(median(shared.shares.values()), None, pairs, middle),
        "mean_untied": Expected(
            sum(untied.values()) / pairs, sum(untied.values()), pairs, over_pairs(members, untied)
        ),
        "hits": plain_count(total, shared.owed),
        "expected": Expected(expected, None, pairs),
        "ratio": Expected(total / expected, total, expected, over_pairs(members, hits, shared.blind)),
    }


def null_figures(shared: Shared, null: Shuffled, k: int, permutations: int) -> dict[str, Expected]:
    """What shuffled values share, and how often they share as much."""
    if shared.mean is None:
        return {name: no_figure(0) for name in ("null_mean", "null_hits", "p")}
    means = Drawn(lambda: null.means[k], permutations, between=True)
    hits = Drawn(lambda: null.hits[k], permutations, between=True)
    return {
        "null_mean": Expected(means, None, permutations, means),
        "null_hits": Expected(hits, None, permutations, hits),
        "p": Expected(Tail(means, shared.mean), None, permutations),
    }


def median_of(members: int, values: dict[Pair, float]) -> Expected:
    """The median over pairs, configurations resampled."""
    if not values:
        return no_figure(0)
    involved = {member for pair in values for member in pair}
    ends = Drawn(lambda: pair_median_draws(members, values), between=True) if len(involved) > 2 else None
    return Expected(median(values.values()), None, len(values), ends)
