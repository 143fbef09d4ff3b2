"""Wobble of the items that an audit flags against those that it does not, and by why they are flagged."""

from __future__ import annotations

from matplotlib.axes import Axes

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import DOTTED, GREY, INK, ROW, Plot, Skipped, canvas, interval, rows
from leadline.report.stability import Compared, compared_with_clean

NAME = "contrast"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """(a) The rate of each group with the clean rate as a rule. (b) The differences with both intervals."""
    groups = compared_with_clean(document)
    if not groups:
        return Skipped("no audit groups the items into flagged and clean ones")
    narrow = width < 5
    height = 0.75 + 1.6 * ROW * (len(groups) + 1)
    picture = canvas(width, 2 * height if narrow else height)
    above, below = picture.subplots(2, 1) if narrow else picture.subplots(1, 2)
    _rates(above, groups)
    _differences(below, groups, labelled=narrow)
    clean = groups[0].figures["against"]
    return Plot(
        picture,
        "(a) Wobble of flagged items and of each failure type, item counts beside the bars; the dotted rule "
        f"is the rate of the clean items ({clean.value or 0:.3f}). Intervals: "
        f"{groups[0].figures['of'].method}. (b) Difference to the clean items: heavy, bootstrap over items; "
        "light, Newcombe's interval, which takes the cells of one item as independent. An "
        "association, which does not say why.",
    )


def _rates(axes: Axes, groups: list[Compared]) -> None:
    clean = groups[0].figures["against"]
    bars = [(one.label, one.figures["of"], one.figures.get("items_of"), True) for one in groups]
    bars.append(("clean", clean, groups[0].figures.get("items_against"), False))
    for place, (_, figure, items, flagged) in enumerate(bars):
        axes.barh(place, figure.value or 0.0, height=0.62, facecolor="white" if flagged else "#c9c9c9",
                  edgecolor=GREY, linewidth=0.5, hatch="////" if flagged else None)  # fmt: skip
        interval(axes, figure, place)
        if items is not None and items.value is not None:
            end = max(figure.high or 0.0, figure.value or 0.0)
            axes.annotate(f"n = {items.value:,.0f}", (end, place), xytext=(4, 0), textcoords="offset points",
                          va="center", fontsize=6)  # fmt: skip
    axes.axvline(clean.value or 0.0, color=INK, linestyle=DOTTED, linewidth=0.9, zorder=2)
    rows(axes, [label for label, *_ in bars])
    top = max(max(figure.high or 0.0, figure.value or 0.0) for _, figure, *_ in bars)
    axes.set_xlim(0, min(1.25, 1.3 * top))
    axes.set_xlabel("wobble")
    axes.set_title("(a)", loc="left")


def _differences(axes: Axes, groups: list[Compared], labelled: bool) -> None:
    for place, one in enumerate(groups):
        figure, newcombe = one.figures["difference"], one.figures.get("difference_newcombe")
        if figure.value is None:
            continue
        if newcombe is not None:
            interval(axes, newcombe, place + 0.22, colour=GREY)
        interval(axes, figure, place)
        axes.plot([figure.value], [place], marker="D", markersize=4, color=INK, linestyle="", zorder=4)
    axes.axvline(0.0, color=INK, linewidth=1.1)
    rows(axes, [one.label for one in groups])
    if not labelled:
        axes.set_ylim(len(groups) + 0.6, -0.6)  # in line with the bars, which have one row more
        axes.tick_params(axis="y", labelleft=False)
    axes.set_xlabel("difference to clean items")
    axes.set_title("(b)", loc="left")
