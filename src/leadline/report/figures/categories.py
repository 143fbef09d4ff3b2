"""Wobble of every configuration in every category: dots with intervals, a panel for each category."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import GREY, INK, ROW, Plot, Skipped, canvas, interval, rows, shortened
from leadline.report.stability import Line, steadiest_first, whole

NAME = "categories"
# More panels than this do not fit on a page.
MOST = 24


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """Configurations by overall wobble, alike in every panel; a panel of too few tasks shows counts alone."""
    finding = whole(document, "wobble", "by category")
    if finding is None:
        return Skipped("no wobble by category")
    named = document.benchmark.category_name
    order = [line.label for line in steadiest_first(document)]
    categories = list(dict.fromkeys(row.keys.get("category", "") for row in finding.rows))
    cells = {(row.keys.get("category", ""), row.keys.get("configuration", "")): row for row in finding.rows}
    if len(categories) > MOST:
        return Skipped(f"{len(categories)} are too many panels ({named}): see the table")
    across = min(len(categories), 4 if width > 5 else 2)
    down = math.ceil(len(categories) / across)
    picture = canvas(width, 0.4 + down * (0.35 + 0.75 * ROW * len(order)))
    grid = picture.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(categories):
            axes.set_visible(False)
            continue
        name = categories[place]
        lines = [Line(label, row.figures) for label in order if (row := cells.get((name, label)))]
        _panel(axes, name, lines, order)
    top = max(
        (row.figures["wobble"].high or 0.0 for row in finding.rows if "wobble" in row.figures), default=0.0
    )
    grid[0][0].set_xlim(-0.02, 1.06 * max(top, 0.05))
    rows(grid[0][0], order)
    picture.supxlabel("wobble", fontsize=7)
    return Plot(
        picture,
        f"Wobble by configuration and {named}, with 95 % Wilson intervals; tasks in parentheses. "
        "Hollow marks with counts: too few tasks for a rate. No order of the panels is claimed: read the "
        "intervals.",
    )


def _panel(axes: Axes, name: str, lines: list[Line], order: list[str]) -> None:
    tasks = max((line.figures["tasks"].value or 0 for line in lines if "tasks" in line.figures), default=0)
    axes.set_title(shortened(name, 24) + (f" ({tasks:.0f})" if tasks else ""), loc="left", pad=3)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    for line in lines:
        place, figure = order.index(line.label), line.figures.get("wobble")
        if figure is None:
            continue
        if figure.value is None:
            words = "–" if figure.numerator is None else f"{figure.numerator:.0f}/{figure.denominator:.0f}"
            axes.plot(
                [0], [place], marker="o", markersize=3, color=GREY, markerfacecolor="white", linestyle=""
            )
            axes.annotate(words, (0, place), xytext=(4, 0), textcoords="offset points", va="center",
                          fontsize=5.5, color=GREY)  # fmt: skip
            continue
        interval(axes, figure, place, colour=GREY)
        axes.plot([figure.value], [place], marker="o", markersize=3.2, color=INK, linestyle="", zorder=4)
