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
Floats = npt.NDArray[np.float64]

# Numbers in a table of items × values² (8 bytes each) that is still made.
_LARGEST_TABLE = 4_000_000


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
    said = np.asarray(readings, dtype=np.float64)
    paired = said[:, (~np.isnan(said)).sum(axis=0) >= 2]
    if paired.size == 0 or np.unique(paired[~np.isnan(paired)]).size < 2:
        return None, NO_INTERVAL
    generator = np.random.default_rng(seed)
    if paired.shape[0] == 2 and level != "ordinal":
        drawn = _resampled_alpha_of_two(paired, level, draws, generator)
    else:
        drawn = _resampled_alpha(paired, level, draws, generator)
    return _alpha(paired, level), percentiles(drawn, 0.95) if drawn.size else NO_INTERVAL


def _alpha(paired: Floats, level: Level) -> float:
    import krippendorff

    values = np.unique(paired[~np.isnan(paired)]).size
    if paired.shape[0] == 2 and level != "ordinal" and paired.shape[1] * values**2 > _LARGEST_TABLE:
        return float(_alpha_of_two(paired, level, np.ones((1, paired.shape[1]), dtype=np.int64))[0])
    return float(krippendorff.alpha(reliability_data=paired, level_of_measurement=level))


def _resampled_alpha(paired: Floats, level: Level, draws: int, generator: np.random.Generator) -> Floats:
    drawn = []
    for _ in range(draws):
        again = paired[:, generator.integers(paired.shape[1], size=paired.shape[1])]
        if np.unique(again[~np.isnan(again)]).size > 1:  # else alpha is not defined
            drawn.append(_alpha(again, level))
    return np.asarray(drawn)


def _resampled_alpha_of_two(
    paired: Floats, level: Level, draws: int, generator: np.random.Generator
) -> Floats:
    blocks = [
        _alpha_of_two(paired, level, weights)
        for weights in resample_counts(np.ones(paired.shape[1], dtype=np.int64), draws, generator)
    ]
    drawn = np.concatenate(blocks)
    return drawn[np.isfinite(drawn)]


def _alpha_of_two(paired: Floats, level: Level, weights: npt.NDArray[np.int64]) -> Floats:
    """Alpha of two readers without gaps [2, items], for each row of weights [draws, items]; infinite where a
    draw holds one value alone.

    One less the mean distance within items over the mean distance of any two values. The library's table is
    items × values², and takes gigabytes where each of a thousand items has a value of its own.
    """
    values, codes = np.unique(paired, return_inverse=True)
    codes = codes.reshape(paired.shape)
    one, other = values[:, None], values[None, :]
    if level == "nominal":
        apart = (one != other).astype(np.float64)
    else:
        apart = (one - other) ** 2
        if level == "ratio":
            sums = (one + other) ** 2
            apart = np.divide(apart, sums, out=np.zeros_like(apart), where=sums != 0)
    counts = np.zeros((len(weights), len(values)))
    for side in codes:
        for value in range(len(values)):
            counts[:, value] += weights[:, side == value].sum(axis=1)
    items = weights.sum(axis=1)
    within = weights @ apart[codes[0], codes[1]] / items
    among = np.einsum("dv,dv->d", counts @ apart, counts) / (2 * items * (2 * items - 1))
    ratio = np.full(len(weights), np.inf)
    np.divide(within, among, out=ratio, where=among > 0)
    return np.asarray(1 - ratio)
