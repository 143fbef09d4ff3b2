"""What more sampling would still find: the unseen mass behind items that no sample has reached yet.

Each item was sampled K times; `hits` says how often it was answered correctly. f1 items were hit exactly
once, f2 exactly twice. Many singletons mean that the samples have not yet run out of items to find.

Sources: A. Chao, Biometrics 43 (1987) 783–791 (estimator and its log-normal interval); bias-corrected
form for incidence data with the factor (K-1)/K, and its variance: R. K. Colwell, EstimateS user's guide,
appendix B; expected finds of further samples: A. Chao et al., Ecological Monographs 84 (2014) 45–67; the
idea behind all of them: I. J. Good, Biometrika 40 (1953) 237–264.

The interval is that of the lower bound. Where many items are within reach but barely so, the bound lies
below the truth, and the interval with it: read it as "at least so many", never as "at most".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.stats.intervals import NO_INTERVAL, Interval, normal_quantile


@dataclass(frozen=True)
class Unseen:
    """How many items with no hit are nevertheless within reach (a lower bound), and how sure that is."""

    estimate: float
    interval: Interval
    once: int
    twice: int
    never: int


def unseen_reachable(hits: npt.ArrayLike, samples: int, level: float = 0.95) -> Unseen | None:
    """Chao's lower bound of the reachable items among those never hit; None when nothing was ever hit.

    `hits` [items] in 0..samples. Estimate and interval are capped at the number of items never hit, which
    is known here, unlike in ecology. With no item hit at all, the samples say nothing about what they miss.
    """
    counts = np.asarray(hits, dtype=np.int64)
    found, never = int((counts > 0).sum()), int((counts == 0).sum())
    if found == 0 or samples < 1:
        return None
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    estimate = _chao2(once, twice, samples)
    if estimate > 0:
        low, high = _log_normal(estimate, _variance(once, twice, samples, found, estimate), level)
    else:
        low, high = _complete(found, int(counts.sum()), level)
    return Unseen(
        min(estimate, never), Interval(min(low, never), min(high, never)), once=once, twice=twice, never=never
    )


def expected_new(hits: npt.ArrayLike, samples: int, more: int) -> float:
    """Items that `more` samples of each item would newly reach, at most those never hit.

    For one more sample and large K this is Good's f1 / K; it never exceeds Chao's estimate.
    """
    return float(_new(_frequencies(hits, samples)[None, :], samples, more)[0])


def expected_new_interval(
    hits: npt.ArrayLike, samples: int, more: int, *, draws: int, seed: int, level: float = 0.95
) -> Interval:
    """Percentile bootstrap over items of `expected_new`; none for no items."""
    frequencies = _frequencies(hits, samples)
    items = int(frequencies.sum())
    if items == 0:
        return NO_INTERVAL
    drawn = np.random.default_rng(seed).multinomial(items, frequencies / items, size=draws)
    low, high = np.quantile(_new(drawn, samples, more), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _frequencies(hits: npt.ArrayLike, samples: int) -> npt.NDArray[np.int64]:
    """How many items were hit 0, 1, ..., `samples` times (at least up to twice): [samples + 1]."""
    return np.bincount(np.asarray(hits, dtype=np.int64), minlength=max(samples, 2) + 1)


def _new(frequencies: npt.NDArray[np.int64], samples: int, more: int) -> npt.NDArray[np.float64]:
    """`expected_new` of each row of `frequencies` [rows, samples + 1]."""
    never, once, twice = (frequencies[:, n].astype(np.float64) for n in (0, 1, 2))
    unseen = (samples - 1) / samples * once * (once - 1) / (2 * (twice + 1))
    share = np.divide(once, samples * unseen + once, out=np.zeros_like(once), where=once > 0)
    new: npt.NDArray[np.float64] = np.minimum(unseen * (1 - (1 - share) ** more), never)
    return new


def _chao2(once: int, twice: int, samples: int) -> float:
    return (samples - 1) / samples * once * (once - 1) / (2 * (twice + 1))


def _variance(once: int, twice: int, samples: int, found: int, estimate: float) -> float:
    factor = (samples - 1) / samples
    if twice > 0:
        return (
            factor * once * (once - 1) / (2 * (twice + 1))
            + factor**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
            + factor**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
        )
    return (
        factor * once * (once - 1) / 2
        + factor**2 * once * (2 * once - 1) ** 2 / 4
        - factor**2 * once**4 / (4 * (found + estimate))
    )


def _log_normal(estimate: float, variance: float, level: float) -> tuple[float, float]:
    z = normal_quantile((1 + level) / 2)
    spread = math.exp(z * math.sqrt(math.log1p(max(variance, 0.0) / estimate**2)))
    return estimate / spread, estimate * spread


def _complete(found: int, incidences: int, level: float) -> tuple[float, float]:
    """The interval where the estimate is zero (at most one item was hit just once): what may still hide."""
    z = normal_quantile((1 + level) / 2)
    missed = math.exp(-incidences / found)  # chance that an item of mean hit count goes unhit (Poisson)
    centre, half = found / (1 - missed), z * math.sqrt(found * missed) / (1 - missed)
    return max(0.0, centre - half - found), centre + half - found
