"""Shared instability of pairs of two families, where a set holds several configurations of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import Expected, no_figure, plain_count
from leadline.bundle.verifier.top_sets import Shared, Shuffled, best_first, pair_ratio_draws
from leadline.bundle.verifier.transfer_figures import null_figures


def families_repeat(kin: Sequence[str]) -> bool:
    """Whether two configurations are of one family."""
    return len(set(kin)) < len(kin)


def family_null(
    scores: list[list[float]], k: int, kin: Sequence[str], strata: Optional[list[int]] = None
) -> Optional[Shuffled]:
    """The values of a family shuffled together; None where all are of one."""
    return Shuffled(scores, [k], strata, kin) if len(set(kin)) > 1 else None


def family_figures(
    scores: list[list[float]], k: int, kin: Sequence[str], null: Optional[Shuffled], permutations: int
) -> dict[str, Expected]:
    """Every figure of the pairs of two families."""
    rankings = [best_first(own) for own in scores]
    units = len(scores[0])
    shared = Shared(rankings, units, k, kin)
    everything = len(Shared(rankings, units, k).shares)
    pairs = len(shared.shares)
    figures = {
        "families": plain_count(len(set(kin))),
        "configurations": plain_count(len(scores)),
        "units": plain_count(units),
        "pairs": plain_count(pairs, everything),
    }
    if not pairs or null is None:
        unknown = ("mean", "hits", "expected", "chance", "null_mean", "null_hits", "p")
        return {**figures, **{name: no_figure(0) for name in unknown}}
    total, shares = sum(shared.shares.values()), shared.shares
    involved = {kin[member] for pair in shares for member in pair}
    drawn = Drawn(
        lambda: pair_ratio_draws(len(scores), shares, dict.fromkeys(shares, 1.0), kin), between=True
    )
    return {
        **figures,
        "mean": Expected(total / pairs, total, pairs, drawn if len(involved) > 2 else None),
        "hits": plain_count(shared.total, shared.owed),
        "expected": Expected(sum(shared.blind.values()), None, pairs),
        "chance": Expected(sum(shared.chances.values()) / pairs, None, pairs),
        **null_figures(shared, null, k, permutations),
    }
