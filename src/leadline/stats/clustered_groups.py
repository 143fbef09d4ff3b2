"""Two groups of items that come in clusters (tasks): clusters, not items, are what is drawn.

Items of one task resemble each other, so a group of fifty items of four tasks tells little more of other
tasks than four numbers would. A cluster carries all of its items, in whichever group they are. Where the
groups share no cluster each group's clusters are drawn by themselves; where they do, all clusters are drawn
together, and a resample that leaves a group empty is dropped.
Sources: A. C. Cameron, J. B. Gelbach and D. L. Miller, Review of Economics and Statistics 90 (2008) 414–427
(clusters resampled, and that few of them are too few); A. Donner and N. Klar, Design and Analysis of Cluster
Randomization Trials in Health Research (2000), chapter 6 (whole clusters dealt out).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import numpy.typing as npt

from leadline.stats.bootstrap import DRAWS, percentiles
from leadline.stats.intervals import NO_INTERVAL, Interval
from leadline.stats.two_groups import Counts, bootstrap_groups, resampled_sums

# Of fewer clusters in a group nothing is said of others; and no interval where more resamples are lost.
CLUSTERS = 3
LOST = 0.1


def in_clusters(counts: Counts, clusters: npt.NDArray[np.int64], number: int) -> Counts:
    """What each of `number` clusters adds up, from counts [items] and the items' clusters [items].

    >>> import numpy as np
    >>> in_clusters(Counts(np.array([1.0, 0, 1]), np.array([2.0, 2, 2])), np.array([0, 0, 2]), 3).denominators
    array([4., 0., 2.])
    """
    above, below = (np.bincount(clusters, weights=part, minlength=number) for part in counts)
    return Counts(above.astype(np.float64), below.astype(np.float64))


def share_clusters(of: Counts, against: Counts) -> bool:
    """Whether some cluster has items of both groups; both [clusters], zero where a cluster has none."""
    return bool(((of.denominators > 0) & (against.denominators > 0)).any())


def bootstrap_clusters(
    of: Sequence[Counts],
    against: Sequence[Counts],
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
) -> list[Interval]:
    """Percentile intervals of the ratio of `of` less that of `against`, of several figures of the same items.

    Every count is [clusters], the same clusters in the same order, and zero where a cluster has none of the
    group. None where more than a tenth of the resamples leave a group empty.
    """
    if not of:
        return []
    if not share_clusters(of[0], against[0]):
        groups = (_there(of), _there(against))
        return [one.difference for one in bootstrap_groups(*groups, draws, seed, level)]
    sums = resampled_sums([*of, *against], draws, np.random.default_rng(seed))
    with np.errstate(invalid="ignore"):
        ratios = (sums[:, 0::2] / sums[:, 1::2]).T
    found = []
    for one, other in zip(ratios[: len(of)], ratios[len(of) :], strict=True):
        kept = (one - other)[~np.isnan(one - other)]
        found.append(NO_INTERVAL if len(kept) < (1 - LOST) * draws else percentiles(kept, level))
    return found


def smallest_p(of: int, against: int) -> float:
    """The smallest two-sided p of dealing so many out to two groups of these sizes, whatever they carry.

    Where the groups are equally large, dealing them out the other way round is as far from no difference.

    >>> smallest_p(3, 3), smallest_p(2, 3)
    (0.1, 0.1)
    """
    return min(1.0, (2 if of == against else 1) / comb(of + against, of))


def _there(groups: Sequence[Counts]) -> list[Counts]:
    """Without the clusters that have none of the group."""
    its = groups[0].denominators > 0
    return [Counts(*(part[its] for part in counts)) for counts in groups]
