"""Bootstrap by other draws than the report's: intervals agree when their ends lie where chance puts them.

The report took its q-quantile of N draws, this file makes M draws of its own. The share of the true bootstrap
distribution below a quantile of N draws has the standard error sqrt(q(1-q)/N); so the report's end must lie
between the quantiles of the own draws at q ± z·sqrt(q(1-q)(1/N + 1/M)), or be the next value beyond. No
shape is assumed, and a statistic that takes few values may be one step off.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import ceil, floor, inf, sqrt
from operator import itemgetter
from statistics import median
from typing import Any

DRAWS = 4000
# Standard errors that an end may be off: among ten thousand ends less than one is, by chance.
TOLERANCE = 4.5
# A sample of so many items is drawn fewer times, so that one figure takes no longer than a second.
_MOST_PICKS = 6_000_000
_getters: dict[tuple[int, int], list[Callable[[Sequence[Any]], Any]]] = {}
_known: dict[Any, list[float]] = {}


def draws_for(n: int) -> int:
    """How often a sample of n items is resampled."""
    return max(400, min(DRAWS, _MOST_PICKS // max(n, 1)))


def resamples(n: int, stream: int = 0) -> list[Callable[[Sequence[Any]], Any]]:
    """Functions that each take one resample, with replacement, of a sequence of n > 1 values."""
    key = (n, stream)
    if key not in _getters:
        if sum(size for size, _ in _getters) * DRAWS > 8_000_000:
            _getters.clear()
        rng = random.Random(f"verify {n} {stream}")
        choose, all_of = rng.choices, range(n)
        _getters[key] = [itemgetter(*choose(all_of, k=n)) for _ in range(draws_for(n))]
    return _getters[key]


def ratio_draws(above: Sequence[float], below: Sequence[float], stream: int = 0) -> list[float]:
    """Σ above / Σ below over resampled items, sorted; infinite where nothing stands below."""
    pairs = sorted(zip(above, below))
    if not pairs:
        return []
    if pairs[0] == pairs[-1]:
        return [pairs[0][0] / pairs[0][1] if pairs[0][1] else inf]
    key = ("ratio", stream, tuple(pairs))
    if key not in _known:
        _forget()
        tops, bottoms = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        taken = resamples(len(pairs), stream)
        if min(bottoms) == max(bottoms):
            whole = bottoms[0] * len(pairs)
            found = [sum(take(tops)) / whole if whole else inf for take in taken]
        else:
            found = []
            for take in taken:
                total = sum(take(bottoms))
                found.append(sum(take(tops)) / total if total else inf)
        _known[key] = sorted(found)
    return _known[key]


def mean_draws(values: Sequence[float]) -> list[float]:
    """Means over resampled items, sorted."""
    return ratio_draws(values, [1] * len(values))


def sum_draws(values: Sequence[float]) -> list[float]:
    """Sums over resampled items, sorted."""
    return [mean * len(values) for mean in mean_draws(values)]


def median_draws(values: Sequence[float]) -> list[float]:
    """Medians over resampled items, sorted."""
    ordered = sorted(values)
    if not ordered or ordered[0] == ordered[-1]:
        return ordered[:1]
    key = ("median", 0, tuple(ordered))
    if key not in _known:
        _forget()
        _known[key] = sorted(median(take(ordered)) for take in resamples(len(ordered)))
    return _known[key]


def difference_draws(
    first: tuple[Sequence[float], Sequence[float]], second: tuple[Sequence[float], Sequence[float]]
) -> list[float]:
    """The ratio of one group less that of another, each resampled by itself, sorted."""
    return sorted(a - b for a, b in _side_by_side(unsorted_ratios(*first, 1), unsorted_ratios(*second, 2)))


def joint_difference_draws(clusters: Sequence[tuple[float, float, float, float]]) -> list[float]:
    """The same where clusters hold items of both groups (above, below; above, below) and are drawn whole.

    A resample that leaves a group empty has no value.
    """

    def difference(drawn: Sequence[int]) -> float | None:
        sums = [sum(clusters[at][part] for at in drawn) for part in range(4)]
        return sums[0] / sums[1] - sums[2] / sums[3] if sums[1] and sums[3] else None

    return statistic_draws(len(clusters), difference, draws_for(20 * len(clusters)))


def unsorted_ratios(above: Sequence[float], below: Sequence[float], stream: int) -> list[float]:
    """Ratios of resampled items in the order of the draws, so that several can be combined draw by draw."""
    if len(above) == 1 or len(set(zip(above, below))) == 1:
        return [above[0] / below[0] if below[0] else inf]
    found = []
    for take in resamples(len(above), stream):
        total = sum(take(below))
        found.append(sum(take(above)) / total if total else inf)
    return found


def statistic_draws(
    n: int, statistic: Callable[[Sequence[int]], float | None], draws: int = DRAWS
) -> list[float]:
    """Any statistic of the numbers 0..n-1 resampled, sorted; draws without a value are counted apart."""
    if n < 2:
        return Draws([])
    numbers = range(n)
    found = [statistic(take(numbers)) for take in resamples(n)[:draws]]
    kept = Draws(sorted(value for value in found if value is not None))
    kept.lost = 1 - len(kept) / len(found)
    return kept


class Draws(list[float]):
    """Draws of a statistic that is not always defined; `lost` is the share of those that had no value.

    The report gives no interval where that is more than one in ten.
    """

    lost = 0.0

    @property
    def may_be_withheld(self) -> bool:
        """So many draws were lost that there may be no interval."""
        return self.lost > 0.07

    @property
    def must_be_withheld(self) -> bool:
        """So many that there can be none."""
        return self.lost > 0.13


def end_fits(end: float | None, draws: Sequence[float], share: float, theirs: int) -> bool:
    """Whether an end of an interval lies where the `share`-quantile of `theirs` draws may lie.

    An end of None stands for one that is not finite.
    """
    if not draws:
        return end is None
    if end is None:
        return any(
            end_fits(beyond, draws, share, theirs)
            for beyond in (inf, -inf)
            if beyond in (draws[0], draws[-1])
        )
    ours = len(draws)
    if draws[0] == draws[-1]:
        return _near(end, draws[0])
    reach = TOLERANCE * sqrt(share * (1 - share) * (1 / theirs + 1 / ours))
    lower = draws[max(0, floor((share - reach) * ours))]
    upper = draws[min(ours - 1, ceil((share + reach) * ours))]
    # One step of the statistic further on either side.
    before = bisect_left(draws, lower) - 1
    after = bisect_right(draws, upper)
    lower = draws[before] if before >= 0 else lower
    upper = draws[after] if after < ours else upper
    return lower <= end <= upper or _near(end, lower) or _near(end, upper)


def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def _side_by_side(first: list[float], second: list[float]) -> list[tuple[float, float]]:
    longest = max(len(first), len(second))
    return [(first[at % len(first)], second[at % len(second)]) for at in range(longest)]


def _forget() -> None:
    if len(_known) > 3000:
        _known.clear()
