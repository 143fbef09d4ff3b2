"""Wobble of the items that an audit flags against those that it does not, and by why they are flagged; and of
items before and after they were changed."""

from __future__ import annotations

from matplotlib.axes import Axes

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import DOTTED, GREY, INK, ROW, Plot, Skipped, canvas, interval, rows
from leadline.report.figures.repair import caption, changed_items
from leadline.report.stability import Compared, compared_with_clean, repaired

NAME = "contrast"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """The rate of each group with the clean rate as a rule; the same items before and after a change; the
    differences of the groups with both intervals. Panels without findings are left out."""
    groups, change = compared_with_clean(document), repaired(document)
    if not groups and change is None:
        return Skipped("no audit groups the items into flagged and clean ones, and none was changed")
    panels = [
        name for name, there in (("rates", groups), ("change", change), ("differences", groups)) if there
    ]
    narrow = width < 5
    heights = {
        "rates": 0.75 + 1.6 * ROW * (len(groups) + 1),
        "differences": 0.75 + 1.6 * ROW * (len(groups) + 1),
        "change": 0.75 + 1.6 * ROW * 2,
    }
    if narrow or len(panels) == 1:
        grid = [[name] for name in panels]
    elif change is None:
        grid = [panels]
    else:
        grid = [["rates", "change"], ["differences", "differences"]]
    tall = [max(heights[name] for name in row) for row in grid]
    picture = canvas(width, sum(tall))
    axes = picture.subplot_mosaic([list(row) for row in grid], height_ratios=tall)
    said = []
    for letter, name in zip("abc", panels, strict=False):
        title = f"({letter})" if len(panels) > 1 else ""
        if name == "rates":
            _rates(axes[name], groups)
            clean = groups[0].figures["against"]
            said.append(
                f"{title} Wobble of flagged items and of each failure type, item counts beside the bars; the "
                f"dotted rule is the rate of the clean items ({clean.value or 0:.3f}). Intervals: "
                f"{groups[0].figures['of'].method}."
            )
        elif name == "differences":
            _differences(axes[name], groups, labelled=len(grid) > 1)
            said.append(
                f"{title} Difference to the clean items: heavy, over items; light, Newcombe's "
                "interval, which takes the cells of one item as independent. An association, which does not "
                "say why."
            )
        elif change is not None:
            changed_items(axes[name], change)
            said.append(f"{title} {caption(change)}")
        axes[name].set_title(title, loc="left")
    return Plot(picture, " ".join(said).strip())


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
