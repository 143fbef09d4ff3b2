"""What a layer over items moves: the change of a share when items go, or are judged by another label.

Both readings are of the same items, and of what goes nothing is left in the second; so items are resampled
with all of their numbers. Where items are all alike a resample cannot tell what so few leave open, and an
interval over the number of items stands in its place (`stats.alike`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import bootstrapped, without_spread
from leadline.lenses.finding import Figure
from leadline.lenses.protocol import Protocol
from leadline.stats.alike import alike, difference_of_groups
from leadline.stats.intervals import Interval
from leadline.stats.two_groups import Counts, bootstrap_change

Mask = npt.NDArray[np.bool_]


def moved(before: Counts, after: Counts, protocol: Protocol, *, relabels: bool = False) -> Figure:
    """The ratio of `after` less that of `before`, both [items].

    Every denominator of `before` is above zero. One of `after` is the same, or zero with its numerator: the
    item went. `relabels`: items may be counted otherwise, and that none is was measured; else what no item
    goes from cannot change.
    """
    items, kept = len(before.denominators), after.denominators > 0
    if not kept.any():
        why = "nothing was measured of the items that stay" if items else "nothing was measured"
        return Figure(value=None, denominator=items, method=bootstrapped(protocol), note=why)
    value = after.ratio - before.ratio
    stays = int(kept.sum())
    if stays == items:
        if relabels and alike(after.numerators - before.numerators, before.denominators):
            total = float(after.numerators.sum() - before.numerators.sum())
            figure = without_spread(
                value, (total, float(before.denominators.sum())), items, is_difference=True
            )
            return figure.model_copy(update={"numerator": None, "denominator": items})
    elif alike(*before) and alike(after.numerators[kept], after.denominators[kept]):
        ends, method = _of_alike(before, after, stays)
        return Figure(value=value, denominator=items, low=ends.low, high=ends.high, method=method)
    ends = bootstrap_change(before, after, protocol.bootstrap_draws, protocol.bootstrap_seed)
    return Figure(value=value, denominator=items, low=ends.low, high=ends.high, method=bootstrapped(protocol))


def _of_alike(before: Counts, after: Counts, stays: int) -> tuple[Interval, str]:
    """Ends and method where the items of either reading are all alike, and some of the first went."""
    items = len(before.denominators)
    if not np.isclose(before.ratio, after.ratio, rtol=0, atol=1e-9):
        return difference_of_groups(after.ratio, stays, before.ratio, items), "newcombe over items"
    # What stays less everything is what stays less what goes, times the part that goes.
    part = 1 - float(after.denominators.sum() / before.denominators.sum())
    apart = difference_of_groups(before.ratio, stays, before.ratio, items - stays)
    ends = Interval(*(None if end is None else part * end for end in apart))
    return ends, "newcombe over items, times the part left out"
