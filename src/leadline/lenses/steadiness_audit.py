"""Does a technique gain on items that can be answered from what the model is shown, or on others?

Gain (share of the baseline's failures that the method answers correctly) on items that the audit flags
against gain on items that it looked at and did not flag; Loss alike, over the baseline's successes. Items
that the study leaves out because of the audit are counted here where they were asked, items left out by name
are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from leadline.lenses.audited import UNFLAGGED
from leadline.lenses.figures import (
    SIGNIFICANCE,
    above_zero,
    counted,
    in_points,
    p_value,
    points,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Method
from leadline.lenses.transitions import Transitions, transitions_of
from leadline.lenses.view import View
from leadline.stats.fisher import fisher_p, smallest_fisher_p
from leadline.stats.intervals import newcombe
from leadline.stats.multiple import holm


@dataclass(frozen=True)
class Sides:
    """What a method recovers and breaks among flagged items and among clean ones."""

    flagged: Transitions
    clean: Transitions

    @property
    def recovered(self) -> int:
        """Of both."""
        return self.flagged.recovered + self.clean.recovered

    @property
    def failures(self) -> int:
        """Of both."""
        return self.flagged.d0 + self.clean.d0

    @property
    def p(self) -> float:
        """That the two gains are one."""
        flagged, clean = self.flagged, self.clean
        return fisher_p(flagged.recovered, flagged.d0, clean.recovered, clean.d0)


def gain_by_audit(view: View) -> Finding | None:
    """Table "gain by audit"; None where no item was audited, or none is flagged, or none clean."""
    everyone = view.everyone
    audited = everyone.readings.group_by("item").agg(pl.col("audit").first().fill_null(""))
    audited = audited.filter(pl.col("audit") != "").select(
        "item", (~pl.col("audit").is_in(UNFLAGGED)).alias("flagged")
    )
    if audited["flagged"].n_unique() < 2:
        return None
    found: dict[Method, Sides] = {}
    for method in view.protocol.methods:
        if everyone.has(method.name):
            pairs = everyone.paired(method).join(audited, on="item")
            flagged = transitions_of(pairs.filter(pl.col("flagged")))
            found[method] = Sides(flagged, transitions_of(pairs.filter(~pl.col("flagged"))))
    if not found:
        return None
    tested = [method for method, sides in found.items() if sides.flagged.d0 and sides.clean.d0]
    corrected = dict(zip(tested, holm([found[method].p for method in tested]), strict=True))
    rows, claims = [], []
    for method, sides in found.items():
        figures = _figures(sides, corrected.get(method), len(tested))
        rows.append(Row(keys={"method": method.name}, figures=figures))
        claims.append(_claim(method.called, sides, figures, len(tested)))
    number = audited["flagged"].sum()
    return Finding(
        lens="steadiness",
        table="gain by audit",
        model=view.model,
        title="Is the gain concentrated in items that the audit flags?",
        definition="Gain and Loss (see transitions) over flagged items and over clean ones; differences are "
        "flagged less clean. Recovered flagged: share of flagged items among those that the method recovers. "
        "Failures flagged: their share among the baseline's failures, which it would be if the gain were the "
        "same everywhere.",
        rows=tuple(rows),
        claims=tuple(claims),
        notes=(
            f"{number} flagged and {audited.height - number} clean items were asked, those that the study "
            "leaves out because of the audit included.",
        ),
    )


def _figures(sides: Sides, corrected: float | None, compared: int) -> dict[str, Figure]:
    flagged, clean = sides.flagged, sides.clean
    failure, success = "the baseline has no failure there", "the baseline has no success there"
    figures = {
        "gain_flagged": share(flagged.recovered, flagged.d0, empty=failure),
        "gain_clean": share(clean.recovered, clean.d0, empty=failure),
        "gain_difference": _difference((flagged.recovered, flagged.d0), (clean.recovered, clean.d0)),
        "gain_p": unknown(failure, 0),
        "gain_p_holm": unknown(failure, 0),
        "recovered_flagged": share(flagged.recovered, sides.recovered, empty="nothing is recovered"),
        "failures_flagged": share(flagged.d0, sides.failures, empty="the baseline has no failure"),
        "loss_flagged": share(flagged.broken, flagged.d1, empty=success),
        "loss_clean": share(clean.broken, clean.d1, empty=success),
        "loss_difference": _difference((flagged.broken, flagged.d1), (clean.broken, clean.d1)),
        "loss_p": unknown(success, 0),
    }
    if corrected is not None:
        figures["gain_p"] = p_value(sides.p, "exact fisher", sides.failures)
        method = f"exact fisher, holm over {compared} methods"
        figures["gain_p_holm"] = p_value(corrected, method, sides.failures)
    if flagged.d1 and clean.d1:
        loss = fisher_p(flagged.broken, flagged.d1, clean.broken, clean.d1)
        figures["loss_p"] = p_value(loss, "exact fisher", flagged.d1 + clean.d1)
    return figures


def _difference(one: tuple[int, int], other: tuple[int, int]) -> Figure:
    if not one[1] or not other[1]:
        return unknown("one side has nothing to count over", one[1] + other[1])
    low, high = newcombe(*one, *other)
    value = one[0] / one[1] - other[0] / other[1]
    return Figure(value=value, denominator=one[1] + other[1], low=low, high=high, method="newcombe")


def _claim(name: str, sides: Sides, figures: dict[str, Figure], compared: int) -> Claim:
    text = f"The gain of {name} is concentrated in flagged items"
    flagged, clean = sides.flagged, sides.clean
    if not flagged.d0 or not clean.d0:
        which = "flagged" if not flagged.d0 else "clean"
        text = f"{text}: the baseline has no failure among the {which} items."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    if smallest_fisher_p(flagged.d0, clean.d0) * compared > SIGNIFICANCE:
        text = (
            f"{text}: with {flagged.d0} flagged and {clean.d0} clean failures no result could support this."
        )
        return Claim(text=text, status=ClaimStatus.UNREACHABLE)
    if not sides.recovered:
        text = f"{text}: it recovers none of {sides.failures} failures, so that there is no gain."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    difference, p = figures["gain_difference"], figures["gain_p_holm"].value
    evidence = (
        f"it recovers {counted(figures['gain_flagged'])} of flagged failures and "
        f"{counted(figures['gain_clean'])} of clean ones, {points(difference)}; exact Fisher p = {p:.3g} "
        f"after Holm over {compared} methods."
    )
    supported = p is not None and p <= SIGNIFICANCE and above_zero(difference)
    return Claim(
        text=f"{text}: {evidence}",
        status=ClaimStatus.SUPPORTED if supported else ClaimStatus.NOT_SUPPORTED,
        point=f"{counted(figures['recovered_flagged'])} of what it recovers is flagged, of the failures "
        f"{counted(figures['failures_flagged'])}",
        conservative=f"{in_points(difference.low or 0.0)} of gain at the interval's lower end",
    )
