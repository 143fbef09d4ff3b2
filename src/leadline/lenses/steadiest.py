"""May the configuration with the lowest wobble be called the steadiest?

The configuration with the lowest rarefied wobble (of equal ones the first) is set against each other one on
the items that both have at least m readings of: the difference of rarefied wobble, its interval by bootstrap
over items with both their numbers, and the exact McNemar test of the items that only one of the two is
unstable on. To be the steadiest it must differ from every one of the others, so no test is corrected for the
number of tests (an intersection-union test: R. L. Berger, Technometrics 24 (1982) 295–300).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.lenses.figures import SIGNIFICANCE, below_zero, count, mean_difference, p_value, percent, points
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import Floats, Panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS
from leadline.stats.mcnemar import mcnemar_exact, smallest_p

DEFINITION = (
    "The configuration with the lowest rarefied wobble against each of the others, on the items that both "
    "have enough readings of. Difference: its rarefied wobble less the other's (bootstrap over items). Only "
    "here, only there: items that are unstable under one alone; McNemar: exact test of these counts."
)


def steadiest(protocol: Protocol, panel: Panel, labels: Sequence[str]) -> list[Finding]:
    """Finding `steadiest`; none with fewer than two configurations, or where nobody has enough readings."""
    m = protocol.stability.rarefy
    flips = panel.rarefied(m)
    there = ~np.isnan(flips)
    able = [number for number in range(len(labels)) if there[number].any()]
    if len(able) < 2:
        return []
    # Equal but for their last digits counts as equal, and the name decides.
    rates = {number: round(float(flips[number, there[number]].mean()), 12) for number in able}
    best = min(able, key=lambda number: (rates[number], labels[number]))
    others = sorted(
        (number for number in able if number != best), key=lambda number: (rates[number], labels[number])
    )
    rows = tuple(
        Row(
            keys={"configuration": labels[best], "against": labels[other]},
            figures=_compared(protocol, panel, flips, best, other),
        )
        for other in others
    )
    return [
        Finding(
            lens="wobble",
            table="steadiest",
            model=ALL_MODELS,
            title="Is the steadiest configuration clearly the steadiest?",
            definition=DEFINITION,
            rows=rows,
            claims=(_claim(labels[best], rates[best], rows),),
            notes=(f"Rarefied to m = {m} readings.",),
        )
    ]


def _compared(protocol: Protocol, panel: Panel, flips: Floats, best: int, other: int) -> dict[str, Figure]:
    both = ~np.isnan(flips[best]) & ~np.isnan(flips[other])
    here, there = panel.unstable[best, both], panel.unstable[other, both]
    only_here, only_there = int((here & ~there).sum()), int((there & ~here).sum())
    items = int(both.sum())
    return {
        "difference": mean_difference(
            flips[best, both] - flips[other, both], protocol, empty="no item in common"
        ),
        "only_here": count(only_here, items),
        "only_there": count(only_there, items),
        "mcnemar_p": p_value(mcnemar_exact(only_here, only_there), "exact mcnemar", only_here + only_there),
    }


def _claim(name: str, rate: float, rows: Sequence[Row]) -> Claim:
    text = f"{name} is the steadiest of {len(rows) + 1} configurations"
    nearest = max(rows, key=lambda row: row.figures["mcnemar_p"].value or 0.0)
    items = min(int(row.figures["only_here"].denominator or 0) for row in rows)
    point = (
        f"{percent(rate)} rarefied, the next {percent(rate - (rows[0].figures['difference'].value or 0.0))}"
    )
    if items == 0 or smallest_p(items) > SIGNIFICANCE:
        return Claim(
            text=f"{text}: with {items} items in common no result could support this.",
            status=ClaimStatus.UNREACHABLE if items else ClaimStatus.NOT_ESTIMABLE,
            point=point,
            conservative=f"{items} items in common",
        )
    clear = [
        row
        for row in rows
        if (row.figures["mcnemar_p"].value or 0.0) <= SIGNIFICANCE and below_zero(row.figures["difference"])
    ]
    figures = nearest.figures
    return Claim(
        text=f"{text}: clearly steadier than {len(clear)} of {len(rows)} others.",
        status=ClaimStatus.SUPPORTED if len(clear) == len(rows) else ClaimStatus.NOT_SUPPORTED,
        point=point,
        conservative=f"against {nearest.keys['against']} {points(figures['difference'])}, exact McNemar "
        f"p = {figures['mcnemar_p'].value:.2g}",
    )
