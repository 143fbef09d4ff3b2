"""Does a technique make answers steadier? Its repeated answers beside plain sampling, item by item.

A technique has several answers to an item when it was asked again (a deterministic one, its answer drawn at
a temperature) or has paths of its own. They are set against plain sampling at the same temperature, on the
items that both answered, with equally many answers of both: rarefied to the study's m (items with at least m
readings of both), and over the first n readings in order of sample, n being the smaller of the two numbers of
readings (items with n ≥ 2). An item is less steady when only the technique's answers differ among themselves,
steadier when only those of plain sampling do; McNemar's exact test is on these items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    below_zero,
    count,
    in_points,
    mean,
    mean_difference,
    p_value,
    points,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.protocol import Again, Member, Protocol
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Change:
    """Two ways of answering at equally many readings; arrays are [items], of the items that count.

    `rarefied` and `rarefied_plain` are over items with m readings of both, the others over items with two.
    """

    m: int
    rarefied: Floats
    rarefied_plain: Floats
    unstable: Mask
    unstable_plain: Mask
    dispersion: Floats
    dispersion_plain: Floats

    @property
    def less_steady(self) -> int:
        """Items that are unstable under the technique alone."""
        return int((self.unstable & ~self.unstable_plain).sum())

    @property
    def steadier(self) -> int:
        """Items that are unstable under plain sampling alone."""
        return int((~self.unstable & self.unstable_plain).sum())


def change_between(panel: Panel, m: int) -> Change:
    """The second configuration of `panel` is the plain one, the first is set against it."""
    enough = (panel.n >= m).all(axis=0)
    rarefied = panel.rarefied(m)[:, enough]
    common = panel.n.min(axis=0)
    there = panel.codes >= 0
    first = there & (there.cumsum(axis=2) <= common[None, :, None])
    equal = replace(panel, codes=np.where(first, panel.codes, np.int32(-1))).only(items=common >= 2)
    return Change(m, *rarefied, *equal.unstable, *equal.dispersion)


def wobble_change(view: View) -> Finding | None:
    """Table "wobble change"; None where no technique has several answers and a temperature beside it."""
    found: dict[Again, Change] = {}
    notes = []
    for again in repeated(view):
        if not view.has(again.plain):
            notes.append(
                f"{view.protocol.label(again.method)}: not compared, the study has no plain sampling at "
                f"τ = {again.temperature:g}."
            )
            continue
        members = [Member(view.model, name) for name in (again.configuration, again.plain)]
        names = [member.configuration for member in members]
        readings = view.readings.filter(pl.col("configuration").is_in(names))
        found[again] = change_between(make_panel(readings, members), view.protocol.stability.rarefy)
    if not found:
        return None
    tested = [again for again, change in found.items() if len(change.unstable)]
    raw = {again: mcnemar_exact(found[again].steadier, found[again].less_steady) for again in tested}
    corrected = dict(zip(raw, holm(list(raw.values())), strict=True))
    rows, claims = [], []
    for again, change in found.items():
        figures = _figures(change, view.protocol)
        for key, values, method in (
            ("mcnemar_p", raw, "exact mcnemar"),
            ("mcnemar_p_holm", corrected, f"exact mcnemar, holm over {len(tested)} techniques"),
        ):
            disputed = change.steadier + change.less_steady
            known = again in values
            figures[key] = p_value(values[again], method, disputed) if known else unknown("no items", 0)
        rows.append(Row(keys={"method": again.method, "sampling": again.plain}, figures=figures))
        claims.append(_claim(again, view.protocol, change, figures, len(tested)))
    return Finding(
        lens="steadiness",
        table="wobble change",
        model=view.model,
        title="Do techniques make answers steadier?",
        definition="Techniques with several answers to each item, beside plain sampling, on the items that "
        f"both answered. Rarefied: chance that {view.protocol.stability.rarefy} answers are not all the "
        "same. Wobble: share of items whose answers are not all the same, over the first n of both, n the "
        "smaller of the two numbers of answers. Steadier: items on which only plain sampling is unstable; "
        "less steady: only the technique. Differences are technique less plain.",
        rows=tuple(rows),
        claims=tuple(claims),
        notes=(
            *notes,
            "A technique that sharpens the distribution of the next token wobbles less at the same "
            "temperature: steadier does not mean right.",
        ),
    )


def repeated(view: View) -> list[Again]:
    """The techniques with several answers that this model has readings of, in the order of the methods."""
    order = [method.name for method in view.protocol.methods]
    there = [again for again in view.protocol.again if view.has(again.configuration)]
    return sorted(there, key=lambda again: order.index(again.method) if again.method in order else len(order))


def _figures(change: Change, protocol: Protocol) -> dict[str, Figure]:
    items = len(change.unstable)
    few = f"no item has {change.m} readings of both"
    # Equal numbers that differ in their last digit would be drawn as so many different ones.
    own, plain, difference, dispersion = (
        np.round(values, 12)
        for values in (
            change.rarefied,
            change.rarefied_plain,
            change.rarefied - change.rarefied_plain,
            change.dispersion - change.dispersion_plain,
        )
    )
    return {
        "rarefied": mean(own, protocol, empty=few),
        "rarefied_plain": mean(plain, protocol, empty=few),
        "rarefied_difference": mean_difference(difference, protocol, empty=few),
        "wobble": share(int(change.unstable.sum()), items),
        "wobble_plain": share(int(change.unstable_plain.sum()), items),
        "steadier": count(change.steadier, items),
        "less_steady": count(change.less_steady, items),
        "dispersion_difference": mean_difference(dispersion, protocol),
    }


def _claim(
    again: Again, protocol: Protocol, change: Change, figures: dict[str, Figure], compared: int
) -> Claim:
    name, plain = protocol.label(again.method), protocol.label(again.plain)
    items = len(change.unstable)
    base = f"{name} makes answers {{}} than plain sampling at {plain}"
    if not items:
        text = f"{base.format('steadier')}: no item has two readings of both."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    if smallest_p(items) * compared > SIGNIFICANCE:
        text = f"{base.format('steadier')}: with {items} items no result could support this."
        return Claim(text=text, status=ClaimStatus.UNREACHABLE)
    difference, p = figures["rarefied_difference"], figures["mcnemar_p_holm"].value
    more_waver = change.less_steady > change.steadier
    less = more_waver if difference.value is None else difference.value > 0
    nearer, end = (difference.low, "lower") if less else (difference.high, "upper")
    clear = difference.value is None or (above_zero(difference) if less else below_zero(difference))
    supported = p is not None and p <= SIGNIFICANCE and clear and more_waver == less
    evidence = (
        f"{change.steadier} items are steadier and {change.less_steady} less steady, of {items}; rarefied "
        f"wobble {points(difference)}; exact McNemar p = {p:.3g} after Holm over {compared} techniques."
    )
    return Claim(
        text=f"{base.format('less steady' if less else 'steadier')}: {evidence}",
        status=ClaimStatus.SUPPORTED if supported else ClaimStatus.NOT_SUPPORTED,
        point=f"{in_points(difference.value)} of rarefied wobble",
        conservative=f"{in_points(nearer)} at the interval's {end} end",
    )
