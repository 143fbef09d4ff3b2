"""Agreement of two rankings: Kendall's τ_b and Spearman's ρ, the latter for many rankings at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leadline.stats.ranks import average_ranks

Floats = npt.NDArray[np.float64]

# Below three things any order agrees with any other, or is its reverse.
FEWEST = 3


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's τ_b of two scorings of the same things: 1 the same order, -1 reversed; ties are allowed for.

    None when it is not defined: fewer than two things, or one scoring ties them all.
    Source: M. G. Kendall, Biometrika 33 (1945) 239–251.
    """
    if len(first) != len(second):
        raise ValueError(f"rankings of {len(first)} and {len(second)} things")
    if len(first) < 2 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    one, other = (np.sign(np.subtract.outer(scores, scores)) for scores in map(np.asarray, (first, second)))
    tau = float((one * other).sum() / np.sqrt((one * one).sum() * (other * other).sum()))
    # The same order is exactly 1, whatever the square root in it comes to.
    return None if np.isnan(tau) else round(tau, 12)


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Spearman's ρ of the rows of `first` and `second` [..., things], ties at their average rank; [...].

    A thing without a score (nan) on one side is left out of its row. nan where it is not defined: fewer than
    three things, or one side ties them all.
    Source: C. Spearman, American Journal of Psychology 15 (1904) 72–101.

    >>> spearman([[1, 2, 3, 4], [1, 1, 1, 1]], [[10, 30, 20, 40], [1, 2, 3, 4]])
    array([0.8, nan])
    """
    one, other = np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))
    if one.shape[-1] == 0:
        return np.full(one.shape[:-1], np.nan)
    absent = np.isnan(one) | np.isnan(other)
    middle = ((~absent).sum(axis=-1, keepdims=True) + 1) / 2
    offsets = []
    for side in (one, other):
        ranks = average_ranks(np.where(absent, np.nan, side))
        # Ranks are halves of whole numbers, so that nothing is lost in these differences.
        offsets.append(np.where(absent, 0.0, ranks - middle))
    mine, its = offsets
    found = _coefficient((mine * its).sum(-1), (mine**2).sum(-1), (its**2).sum(-1))
    return np.where((~absent).sum(axis=-1) >= FEWEST, found, np.nan)


def spearman_resampled(first: npt.ArrayLike, second: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """Spearman's ρ in each resample [draws]; `weights` [draws, things] says how often a thing is in it.

    The same as `spearman` of the things written out as often as they were drawn: copies are ties. nan where
    it is not defined.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    there = ~(np.isnan(one) | np.isnan(other))
    times = np.asarray(weights, np.float64)[:, there]
    if not there.any():
        return np.full(len(times), np.nan)
    total = times.sum(axis=1)
    middle = ((total + 1) / 2)[:, None]
    mine, its = (_ranks(side[there], times) - middle for side in (one, other))
    found = _coefficient(
        np.einsum("dt,dt,dt->d", times, mine, its),
        np.einsum("dt,dt,dt->d", times, mine, mine),
        np.einsum("dt,dt,dt->d", times, its, its),
    )
    return np.where(total >= FEWEST, found, np.nan)


def _ranks(scores: Floats, times: Floats) -> Floats:
    """The average rank of each thing in each resample [draws, things]."""
    order = np.argsort(scores, kind="stable")
    _, begins = np.unique(scores[order], return_index=True)
    tied = np.add.reduceat(times[:, order], begins, axis=1)
    ranks: Floats = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
    return ranks[:, np.searchsorted(scores[order][begins], scores)]


def _coefficient(both: Floats, one: Floats, other: Floats) -> Floats:
    below = np.sqrt(one * other)  # of equal numbers exactly that number, so that perfect agreement is 1
    found = np.full(np.shape(below), np.nan)
    np.divide(both, below, out=found, where=below > 0)
    return np.asarray(np.clip(found, -1, 1))
