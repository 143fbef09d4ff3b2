"""How far two readers, or several, agree beyond what chance gives: Cohen's kappa, Krippendorff's alpha.

Sources: J. Cohen, Educational and Psychological Measurement 20 (1960) 37–46; J. L. Fleiss, J. Cohen and
B. S. Everitt, Psychological Bulletin 72 (1969) 323–327, for the standard error of kappa; K. Krippendorff,
Computing Krippendorff's Alpha-Reliability (2011).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from leadline.stats.bootstrap import DRAWS, percentiles, resample_counts
from leadline.stats.intervals import NO_INTERVAL, Interval

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> tuple[float | None, Interval]:
    """Cohen's kappa of two readers' labels [items], in [-1, 1], and its asymptotic 95 % interval.

    None where it cannot be told: no items, or both readers gave one and the same label throughout, so that
    chance alone would have them agree. Raises ValueError where the readers have different numbers of items.

    >>> kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])[0]
    0.5
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels beside {len(second)}")
    labels = {label: number for number, label in enumerate(dict.fromkeys((*first, *second)))}
    if len(labels) < 2:
        return None, NO_INTERVAL
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(first, second, strict=True):
        table[labels[one], labels[other]] += 1
    with np.errstate(invalid="ignore"):  # of a table whose standard error cannot be told
        found = cohens_kappa(table)
    low, high = float(found.kappa_low), float(found.kappa_upp)
    if not (np.isfinite(low) and np.isfinite(high)):
        return float(found.kappa), NO_INTERVAL
    # The normal approximation may lie beyond what kappa can be.
    return float(found.kappa), Interval(max(low, -1.0), min(high, 1.0))


def resampled_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], draws: int = DRAWS, seed: int = 0
) -> Interval:
    """95 % interval of Cohen's kappa of two readers' labels [items], a percentile bootstrap over items.

    None where kappa cannot be told. Draws in which it cannot, since one label is all that is left, are left
    out. Raises ValueError where the readers have different numbers of items.

    >>> low, high = resampled_kappa(["a", "b"] * 20, ["a", "b"] * 18 + ["a", "a", "b", "b"])
    >>> 0.7 < low < 0.9 < high <= 1
    True
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels beside {len(second)}")
    labels = {label: number for number, label in enumerate(dict.fromkeys((*first, *second)))}
    if len(labels) < 2:
        return NO_INTERVAL
    # A resample is described by how often each pair of labels is in it: a multinomial draw.
    pairs = Counter((labels[one], labels[other]) for one, other in zip(first, second, strict=True))
    places = np.asarray(sorted(pairs))
    counts = np.asarray([pairs[one, other] for one, other in places.tolist()])
    drawn = []
    for weights in resample_counts(counts, draws, np.random.default_rng(seed)):
        for weight in weights:
            if np.unique(places[weight > 0]).size > 1:
                table = np.zeros((len(labels), len(labels)))
                table[places[:, 0], places[:, 1]] = weight
                drawn.append(float(cohens_kappa(table, return_results=False)))
    return percentiles(np.asarray(drawn), 0.95) if drawn else NO_INTERVAL


def alpha(
    readings: npt.ArrayLike, level: Level, draws: int = DRAWS, seed: int = 0
) -> tuple[float | None, Interval]:
    """Krippendorff's alpha of numbers [readers, items], NaN where a reader gave none, and its interval.

    `level` says when two numbers are how far apart: `nominal` for codes of labels. The interval is a
    percentile bootstrap over items. None where it cannot be told: no item with two readings, or all
    readings alike.
    """
    import krippendorff

    said = np.asarray(readings, dtype=np.float64)
    paired = said[:, (~np.isnan(said)).sum(axis=0) >= 2]
    if paired.size == 0 or np.unique(paired[~np.isnan(paired)]).size < 2:
        return None, NO_INTERVAL
    value = float(krippendorff.alpha(reliability_data=paired, level_of_measurement=level))
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(draws):
        again = paired[:, generator.integers(paired.shape[1], size=paired.shape[1])]
        if np.unique(again[~np.isnan(again)]).size > 1:  # else alpha is not defined
            drawn.append(float(krippendorff.alpha(reliability_data=again, level_of_measurement=level)))
    return value, percentiles(np.asarray(drawn), 0.95) if drawn else NO_INTERVAL
