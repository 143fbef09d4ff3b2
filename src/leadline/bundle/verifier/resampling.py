"""Bootstrap by other draws than the report's: intervals agree when their ends lie where chance puts them.

The report took its q-quantile of N draws, this file makes M draws of its own. A share f of all resamples lies
below the report's end; if that is where chance put it, f and q are as far apart as shares of M and of N draws
are: so many standard errors, sqrt(p(1-p)(1/N + 1/M)) with p of both together. Of a statistic that takes few
values a share lies below an end, and a larger one does not lie above it: any share between will do. Nothing
is assumed of its shape. Both ends of an interval count together, for a narrow one is off at both.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import hypot, inf, isfinite, sqrt
from operator import itemgetter
from statistics import median
from typing import Any

DRAWS = 4000
# Standard errors that a number may be off: among ten thousand less than one is, by chance.
TOLERANCE = 4.5
# That both ends of an interval may be off together: among a hundred thousand less than one is.
TOGETHER = 5.25
# Where each value within so much of a quantile's share was drawn so often, these are all that there are.
_OFTEN = 20
_ABOUT = 0.02
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


def end_fits(
    end: float | None, draws: Sequence[float], share: float, theirs: int, between: bool = False
) -> bool:
    """Whether an end of an interval lies where the `share`-quantile of `theirs` draws may lie."""
    return end_distance(end, draws, share, theirs, between) <= TOLERANCE


def ends_fit(
    ends: tuple[float | None, float | None], draws: Sequence[float], theirs: int, between: bool = False
) -> bool:
    """Whether both ends of a 95 % interval lie where those of `theirs` draws may lie."""
    low, high = (end_distance(end, draws, share, theirs, between) for end, share in zip(ends, (0.025, 0.975)))
    return hypot(low, high) <= TOGETHER


def end_distance(
    end: float | None, draws: Sequence[float], share: float, theirs: int, between: bool = False
) -> float:
    """How many standard errors an end is off the `share`-quantile; infinite where it is no value at all.

    An end of None stands for one that is not finite. `between`: the report's quantiles may lie between two
    draws; else, of a statistic that takes few values, an end is one of them.
    """
    if not draws:
        return 0.0 if end is None else inf
    if end is None:
        beyond = [far for far in (-inf, inf) if far in (draws[0], draws[-1])]
        return min((end_distance(far, draws, share, theirs) for far in beyond), default=inf)
    if draws[0] == draws[-1]:
        return 0.0 if _near(end, draws[0]) else inf
    ours, slack = len(draws), _slack(end)
    below, within = bisect_left(draws, end - slack), bisect_right(draws, end + slack)
    lies_between = between and 0 < below < ours
    if below == within and not lies_between and _takes_few_values(draws, share):
        return inf
    if below == ours or within == 0:
        # Beyond all of our draws a share says nothing of how far.
        last, middle = draws[-1] if below else draws[0], draws[min(ours - 1, int(share * ours))]
        if abs(end - last) > abs(last - middle):
            return inf
    nearest = min(max(share, below / ours), within / ours)
    both = (nearest * ours + share * theirs) / (ours + theirs)
    return abs(nearest - share) / sqrt(both * (1 - both) * (1 / theirs + 1 / ours))


def _takes_few_values(draws: Sequence[float], share: float) -> bool:
    """Whether about the `share`-quantile each value was drawn so often that none is likely to be unseen."""
    ours = len(draws)
    at, last = max(0, int((share - _ABOUT) * ours)), min(ours - 1, int((share + _ABOUT) * ours))
    at = bisect_left(draws, draws[at] - _slack(draws[at]))
    while at <= last:
        beyond = bisect_right(draws, draws[at] + _slack(draws[at]))
        if beyond - at < _OFTEN:
            return False
        at = beyond
    return True


def _slack(value: float) -> float:
    return 1e-9 * max(1.0, abs(value)) if isfinite(value) else 0.0


def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def _side_by_side(first: list[float], second: list[float]) -> list[tuple[float, float]]:
    longest = max(len(first), len(second))
    return [(first[at % len(first)], second[at % len(second)]) for at in range(longest)]


def _forget() -> None:
    if len(_known) > 3000:
        _known.clear()
