"""How numbers become figures: each kind of figure with its interval, and how claims spell them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.lenses.finding import Figure
from leadline.lenses.protocol import Protocol
from leadline.stats.alike import alike, difference_of_alike, share_of_alike
from leadline.stats.bootstrap import bootstrap_mean, bootstrap_median, bootstrap_ratio
from leadline.stats.intervals import NO_INTERVAL, Interval, wilson
from leadline.stats.small_groups import bootstrap_means

# A claim is supported when its interval leaves out zero and its corrected p-value is at most this.
SIGNIFICANCE = 0.05


def share(numerator: int, denominator: int, note: str = "", empty: str = "nothing to count over") -> Figure:
    """A share of items with its Wilson interval; without a denominator it has no value, and says `empty`."""
    if denominator == 0:
        return Figure(value=None, numerator=numerator, denominator=0, method="wilson", note=note or empty)
    low, high = wilson(numerator, denominator)
    return Figure(
        value=numerator / denominator,
        numerator=numerator,
        denominator=denominator,
        low=low,
        high=high,
        method="wilson",
        note=note,
    )


def left_out(once: int, of: str = "item") -> str:
    """The note on cells that were read once, in which nothing can differ; "" for none.

    >>> left_out(10)
    '10 items with a single readable answer left out'
    """
    return f"{once} {of}{'' if once == 1 else 's'} with a single readable answer left out" if once else ""


def count(value: int, of: int | None = None, note: str = "") -> Figure:
    """A plain number of things, out of `of`."""
    return Figure(value=value, numerator=value, denominator=of, method="count", note=note)


def unknown(note: str, denominator: float | None = None) -> Figure:
    """A figure that cannot be estimated, and why."""
    return Figure(value=None, denominator=denominator, note=note)


def p_value(value: float, method: str, denominator: int) -> Figure:
    """A p-value; `denominator` is the number of items that the test disputes over."""
    return Figure(value=value, denominator=denominator, method=method)


def mean(values: npt.NDArray[Any], protocol: Protocol, note: str = "", empty: str = "no items") -> Figure:
    """The mean of one number from 0 to 1 per item [items], with a bootstrap interval over items.

    Where all items are alike there is nothing to resample, and the interval is Wilson's over so many items.
    """
    return _mean(values, protocol, note, empty, is_difference=False)


def mean_difference(
    values: npt.NDArray[Any], protocol: Protocol, note: str = "", empty: str = "no items"
) -> Figure:
    """The mean of one difference from -1 to 1 per item [items], with a bootstrap interval over items.

    Where all items differ alike, or not at all, the interval is Tango's over so many items.
    """
    return _mean(values, protocol, note, empty, is_difference=True)


def _mean(
    values: npt.NDArray[Any], protocol: Protocol, note: str, empty: str, *, is_difference: bool
) -> Figure:
    n = len(values)
    if n == 0:
        return Figure(value=None, denominator=0, method=bootstrapped(protocol), note=note or empty)
    total = float(values.sum())
    if alike(values, np.ones(n)):
        return without_spread(total / n, (total, n), n, note, is_difference=is_difference)
    ends = bootstrap_mean(values, protocol.bootstrap_draws, protocol.bootstrap_seed)
    return _with(ends, total / n, (total, n), protocol, note)


def without_spread(
    value: float,
    counts: tuple[float | None, float],
    items: int,
    note: str = "",
    *,
    is_difference: bool = False,
) -> Figure:
    """A mean that each of so many items has: what so many leave open, where a bootstrap would have no width.

    `counts`: numerator and denominator.
    """
    low, high = (difference_of_alike if is_difference else share_of_alike)(value, items)
    return Figure(
        value=value,
        numerator=counts[0],
        denominator=counts[1],
        low=low,
        high=high,
        method="tango over items" if is_difference else "wilson over items",
        note=note,
    )


def means(
    groups: Sequence[npt.NDArray[Any]], protocol: Protocol, notes: Sequence[str], empty: str = "no items"
) -> list[Figure]:
    """As `mean`, of many groups of items at once; the resamples of small groups are shared."""
    ends = bootstrap_means(groups, protocol.bootstrap_draws, protocol.bootstrap_seed)
    found = []
    for values, one, note in zip(groups, ends, notes, strict=True):
        n, total = len(values), float(values.sum())
        if n == 0:
            found.append(Figure(value=None, denominator=0, method=bootstrapped(protocol), note=empty))
        elif alike(values, np.ones(n)):
            found.append(without_spread(total / n, (total, n), n, note))
        else:
            found.append(_with(one, total / n, (total, n), protocol, note))
    return found


def median(
    values: npt.NDArray[Any], protocol: Protocol, note: str = "", over: str = "items", empty: str = "no items"
) -> Figure:
    """The median of one number per item [items], with a bootstrap interval over items, or `over` others."""
    if len(values) == 0:
        return Figure(value=None, denominator=0, method=bootstrapped(protocol, over), note=note or empty)
    ends = bootstrap_median(values, protocol.bootstrap_draws, protocol.bootstrap_seed)
    return _with(ends, float(np.median(values)), (None, len(values)), protocol, note, over)


def ratio(
    numerators: npt.NDArray[Any],
    denominators: npt.NDArray[Any],
    protocol: Protocol,
    empty: str = "nothing to count over",
    note: str = "",
    is_share: bool = True,
) -> Figure:
    """Σ numerators / Σ denominators, both [items], with a bootstrap interval over items.

    Where all items with a denominator have the same share, the interval is Wilson's over so many items; a
    ratio that is no share (tokens an item) has none then.
    """
    above, below = float(numerators.sum()), float(denominators.sum())
    if below == 0:
        return Figure(value=None, numerator=above, denominator=0, method=bootstrapped(protocol), note=empty)
    if alike(numerators, denominators):
        items = int((denominators > 0).sum())
        if is_share:
            return without_spread(above / below, (above, below), items, note)
        note = "; ".join(filter(None, [note, f"all {items} items alike: nothing tells how they vary"]))
        return _with(NO_INTERVAL, above / below, (above, below), protocol, note)
    ends = bootstrap_ratio(numerators, denominators, protocol.bootstrap_draws, protocol.bootstrap_seed)
    if ends.high is None:
        note = "; ".join(filter(None, [note, "no upper end: some resamples have nothing to divide by"]))
    return _with(ends, above / below, (above, below), protocol, note)


def bootstrapped(protocol: Protocol, over: str = "items") -> str:
    """What the interval of a bootstrapped figure is called."""
    return f"bootstrap over {over}, {protocol.bootstrap_draws} draws, seed {protocol.bootstrap_seed}"


def percent(value: float | None) -> str:
    """0.1234 -> "12.3 %"; halves are rounded up, as in the report's tables: 26 of 32 is 81.3 % in both."""
    if value is None:
        return "n/a"
    # Decimal of the shortest decimal form: 0.8125 as it reads, not as its binary neighbour.
    return f"{(100 * Decimal(repr(value))).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def points(figure: Figure) -> str:
    """A difference of shares in percentage points with its interval: "+12.3 points [+4.0, +20.1]"."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "n/a"
    return f"{decimal(100 * figure.value, '+.1f')} points [{decimal(100 * figure.low, '+.1f')}, " + (
        f"{decimal(100 * figure.high, '+.1f')}]"
    )


def in_points(difference: float | None) -> str:
    """One difference of shares in percentage points: "+12.3 points"."""
    return "n/a" if difference is None else f"{decimal(100 * difference, '+.1f')} points"


def decimal(value: float, form: str = ".3f") -> str:
    """A number as tables set it, with a minus sign for a hyphen: -0.12 -> "−0.120".

    >>> decimal(-12.34, "+.1f")
    '−12.3'
    """
    return format(value, form).replace("-", "\N{MINUS SIGN}")


def between(figure: Figure) -> str:
    """The interval of a share: "[7.7 %, 9.8 %]"."""
    return f"[{percent(figure.low)}, {percent(figure.high)}]"


def counted(figure: Figure) -> str:
    """A share with what it was counted over: "12.3 % (7/57)"."""
    if figure.value is None or figure.numerator is None or figure.denominator is None:
        return "n/a"
    return f"{percent(figure.value)} ({figure.numerator:.0f}/{figure.denominator:.0f})"


def above_zero(figure: Figure) -> bool:
    """Whether the whole interval lies above zero."""
    return figure.low is not None and figure.low > 0


def below_zero(figure: Figure) -> bool:
    """Whether the whole interval lies below zero."""
    return figure.high is not None and figure.high < 0


def _with(
    ends: Interval,
    value: float,
    counts: tuple[float | None, float],
    protocol: Protocol,
    note: str,
    over: str = "items",
) -> Figure:
    return Figure(
        value=value,
        numerator=counts[0],
        denominator=counts[1],
        low=ends.low,
        high=ends.high,
        method=bootstrapped(protocol, over),
        note=note,
    )
