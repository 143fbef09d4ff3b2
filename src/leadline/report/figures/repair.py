"""Wobble of the same items before and after they were changed: a panel of the figure `contrast`."""

from __future__ import annotations

from matplotlib.axes import Axes

from leadline.lenses.finding import Figure
from leadline.report.figures.plot import DOTTED, GREY, INK, interval, rows
from leadline.report.stability import Repaired


def changed_items(axes: Axes, repaired: Repaired) -> None:
    """Both rates as bars; on the second bar the interval of the change, against the rule of the first rate.

    Both are hatched: a window that was cut anew does not make an item clean.
    """
    before, after = repaired.figures["before"], repaired.figures["after"]
    for place, figure in enumerate((before, after)):
        axes.barh(place, figure.value or 0.0, height=0.62, facecolor="white", edgecolor=GREY, linewidth=0.5,
                  hatch="////")  # fmt: skip
    rule = before.value or 0.0
    interval(axes, _against(rule, repaired.figures.get("fall_newcombe")), 1.2, colour=GREY)
    interval(axes, _against(rule, repaired.figures["fall"]), 1.0)
    axes.axvline(rule, color=INK, linewidth=1.1, zorder=2)
    if repaired.threshold is not None:
        axes.axvline(repaired.threshold, color=INK, linestyle=DOTTED, linewidth=0.9, zorder=2)
    rows(axes, ["before the change", "after it"])
    reach = [_against(rule, repaired.figures[name]).high or 0.0 for name in ("fall", "fall_newcombe")
             if name in repaired.figures]  # fmt: skip
    axes.set_xlim(0, min(1.05, 1.15 * max(rule, after.value or 0.0, repaired.threshold or 0.0, *reach)))
    axes.set_xlabel("wobble")


def caption(repaired: Repaired) -> str:
    """What the panel shows, and by which intervals."""
    figures = repaired.figures
    dotted = ""
    if repaired.threshold is not None:
        dotted = f" The dotted rule is the threshold that was registered beforehand ({repaired.threshold:g})."
    return (
        f"Wobble of {figures['items'].value or 0:,.0f} items before and after they were changed, over the "
        f"same {figures['cells'].value or 0:,.0f} cells. The interval is that of the change, drawn against "
        "the heavy rule at the rate before it, the place of no change: heavy, over items; light, "
        f"Newcombe's, which takes both sides as independent.{dotted}"
    )


def _against(rule: float, fall: Figure | None) -> Figure:
    """The interval of a fall as one of rates after it; what lies below zero is cut off."""
    if fall is None or fall.low is None or fall.high is None:
        return Figure(value=None)
    return Figure(value=None, low=max(0.0, rule - fall.high), high=rule - fall.low)
