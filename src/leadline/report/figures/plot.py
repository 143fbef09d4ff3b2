"""What every figure is made on: sizes, type, greys, and the axes that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from leadline.lenses.finding import Figure

# Inches: one column of a two-column page, and the whole width of it.
WIDTHS = {"column": 3.3, "page": 7.0}

INK, GREY, PALE, BAND = "#1a1a1a", "#6e6e6e", "#c9c9c9", "#ececec"
DOTTED = (0, (1, 2))
ROW = 0.16  # inches that a row of 7-point type takes

SETTINGS: Any = {  # matplotlib's own names
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 0.9,
    "lines.markersize": 4,
    "savefig.dpi": 300,
    "figure.dpi": 300,
    "text.parse_math": False,  # names of configurations are text, whatever signs they hold
    "axes.unicode_minus": True,
    "svg.fonttype": "none",  # words stay words: they can be searched, and set in the paper's own type
    "pdf.fonttype": 42,
    "svg.hashsalt": "leadline",
}


@dataclass(frozen=True)
class Plot:
    """A drawn figure and the words that belong under it."""

    picture: Picture
    caption: str


@dataclass(frozen=True)
class Skipped:
    """Why a figure is not drawn: what the findings lack."""

    reason: str


def canvas(width: float, height: float) -> Picture:
    """An empty picture of this size in inches."""
    return Picture(figsize=(width, height), layout="constrained")


def interval(axes: Axes, figure: Figure, y: float, *, colour: str = INK) -> None:
    """The interval of a figure as a horizontal line with caps at height `y`."""
    if figure.low is None or figure.high is None:
        return
    axes.plot([figure.low, figure.high], [y, y], color=colour, linewidth=0.9, solid_capstyle="butt", zorder=3)
    axes.plot(
        [figure.low, figure.high], [y, y], linestyle="", marker="|", markersize=4, color=colour, zorder=3
    )


def rows(axes: Axes, labels: Sequence[str]) -> None:
    """Name the rows 0, 1, ... from the top down."""
    axes.set_yticks(range(len(labels)), [shortened(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def shortened(label: str, most: int = 34) -> str:
    """A label that leaves room for the figure beside it; the findings hold the whole."""
    clean = "".join(sign if sign.isprintable() else " " for sign in label)
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"
