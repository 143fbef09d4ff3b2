"""Where wobble can show at all: how often answers are right, and what each accuracy leaves room for."""

from __future__ import annotations

from matplotlib.axes import Axes

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import BAND, GREY, INK, PALE, Plot, Skipped, canvas
from leadline.report.stability import Bin, Decile, ceiling_deciles, p_histogram

NAME = "observability"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """(a) The distribution of p with its band. (b) Largest observed and expected wobble by accuracy."""
    bins, deciles = p_histogram(document), ceiling_deciles(document)
    if not bins:
        return Skipped("no distribution of the share of right answers")
    narrow = width < 5
    if not deciles:
        picture = canvas(width, 1.8)
        _distribution(picture.subplots(), bins)
    else:
        picture = canvas(width, 3.6 if narrow else 1.9)
        left, right = picture.subplots(2, 1) if narrow else picture.subplots(1, 2)
        _distribution(left, bins)
        left.set_title("(a)", loc="left")
        _ceiling(right, deciles)
        right.set_title("(b)", loc="left")
    cells = sum(each.count for each in bins)
    text = (
        f"(a) Distribution of p, the share of right answers, over {cells:,.0f} pairs of a configuration and "
        "an item, in bins [a, b); shaded: the band 0.3 ≤ p ≤ 0.7, whose end lies in the bin beyond "
        "it. Bars that leave the axis carry their counts; p = 0 and p = 1 "
        "stand apart."
    )
    if deciles:
        text += (
            " (b) Largest observed wobble of a task by its accuracy, and the largest that the shares of "
            "right answers let expect if all wrong answers to an item were one (lower) or none alike "
            "(upper): expectations and no bounds."
        )
    return Plot(picture, text)


def _distribution(axes: Axes, bins: tuple[Bin, ...]) -> None:
    axes.axvspan(0.3, 0.7, facecolor=BAND, edgecolor="none", zorder=0)
    inner = [each.count for each in bins if each.low < each.high]
    top = 1.35 * max([1.0, *inner])
    for each in bins:
        exact = each.low == each.high
        left = each.low - 0.045 if each.low == 0 and exact else each.low + 0.005 if exact else each.low
        across = 0.04 if exact else each.high - each.low
        axes.bar(left, min(each.count, top), width=across, align="edge", facecolor="white" if exact else PALE,
                 edgecolor=GREY, linewidth=0.4, hatch="////" if exact else None, zorder=2)  # fmt: skip
        if each.count > top:
            middle = left + across / 2
            at, side = (left + across + 0.01, "left") if each.low == 0 else (left - 0.01, "right")
            axes.annotate(f"{each.count:,.0f}", (at, 0.98 * top), ha=side, va="top", zorder=4)
            axes.plot([middle - 0.03, middle + 0.03], [0.88 * top, 0.93 * top], color="white", linewidth=2.5,
                      zorder=3)  # fmt: skip
    axes.set_ylim(0, top)
    axes.set_xlim(-0.06, 1.06)
    axes.set_xlabel("p: share of an item's answers that are right")
    axes.set_ylabel("pairs")


def _ceiling(axes: Axes, deciles: list[Decile]) -> None:
    for place, each in enumerate(deciles):
        middle = (each.low + each.high) / 2
        if each.observed is not None:
            axes.bar(middle, each.observed, width=0.06, facecolor=PALE, edgecolor=GREY, linewidth=0.5,
                     label="observed" if place == 0 else None)  # fmt: skip
        for reachable, marker, label in ((each.lower, "D", "lower model"), (each.upper, "^", "upper model")):
            if reachable is not None:
                axes.plot([middle], [reachable], marker=marker, markersize=4, markerfacecolor="white",
                          color=INK, linestyle="", label=label if place == 0 else None, zorder=3)  # fmt: skip
    first = min(each.low for each in deciles)
    axes.set_xlim(min(first, 0.7) - 0.02, 1.02)
    axes.set_xticks([tenth / 10 for tenth in range(round(10 * min(first, 0.7)), 11)])
    highest = max(
        end for each in deciles for end in (each.observed, each.lower, each.upper) if end is not None
    )
    axes.set_ylim(0, 1.08 * max(highest, 0.01))
    axes.set_xlabel("accuracy of the task, in tenths")
    axes.set_ylabel("largest wobble")
    # Above the axes, where nothing is drawn.
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=3, handlelength=1.0, columnspacing=1.0,
                handletextpad=0.4, borderaxespad=0.0)  # fmt: skip
