"""Wobble by configuration, ascending, with 95 % intervals; the axis is broken where some are far away."""

from __future__ import annotations

from matplotlib.axes import Axes

from leadline.report.document import FindingsDocument
from leadline.report.figures.broken_axis import Break, axis_break
from leadline.report.figures.plot import GREY, INK, PALE, ROW, Plot, Skipped, canvas, interval, rows
from leadline.report.stability import Line, steadiest_first

NAME = "wobble"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """One bar per configuration; those beyond a break are hatched."""
    lines = steadiest_first(document)
    if not lines:
        return Skipped("no configuration was asked twice")
    ends = [_ends(line) for line in lines]
    top = 1.03 * max(0.02, *(high for _, high in ends))
    broken = axis_break(ends, top)
    picture = canvas(width, 0.55 + ROW * len(lines))
    if broken is None:
        axes = picture.subplots()
        _bars(axes, lines, None)
        axes.set_xlim(0, top)
        rows(axes, [line.label for line in lines])
    else:
        _two_panels(picture, lines, broken, top)
    picture.supxlabel("wobble: share of items not always answered alike", fontsize=7)
    return Plot(picture, _caption(lines, broken))


def _two_panels(picture: object, lines: list[Line], broken: Break, top: float) -> None:
    left, right = picture.subplots(  # type: ignore[attr-defined]
        1, 2, sharey=True, width_ratios=[max(broken.below, 0.35 * (top - broken.above)), top - broken.above]
    )
    for axes in (left, right):
        _bars(axes, lines, broken)
    left.set_xlim(0, broken.below)
    right.set_xlim(broken.above, top)
    rows(left, [line.label for line in lines])
    right.spines["left"].set_visible(False)
    right.tick_params(axis="y", left=False, labelleft=False)
    for axes, place in ((left, 1.0), (right, 0.0)):  # two slanted strokes: the axis is not in one piece
        axes.plot([place], [0], marker=[(-1, -2), (1, 2)], markersize=7, linestyle="", color=INK,
                  transform=axes.transAxes, clip_on=False)  # fmt: skip


def _bars(axes: Axes, lines: list[Line], broken: Break | None) -> None:
    for place, line in enumerate(lines):
        figure = line.figures["wobble"]
        far = broken is not None and (figure.value or 0.0) > broken.below
        axes.barh(
            place,
            figure.value or 0.0,
            height=0.62,
            facecolor="white" if far else PALE,
            edgecolor=GREY,
            linewidth=0.5,
            hatch="////" if far else None,
        )
        interval(axes, figure, place)


def _ends(line: Line) -> tuple[float, float]:
    figure = line.figures["wobble"]
    value = figure.value or 0.0
    low = value if figure.low is None else figure.low
    return min(low, value), value if figure.high is None else max(figure.high, value)


def _caption(lines: list[Line], broken: Break | None) -> str:
    counts = [line.figures["wobble"].denominator or 0 for line in lines]
    items = (
        f"{min(counts):,.0f}" if min(counts) == max(counts) else f"{min(counts):,.0f} to {max(counts):,.0f}"
    )
    text = (
        f"Wobble by configuration, ascending, with 95 % intervals ({lines[0].figures['wobble'].method}; "
        f"{items} items per configuration)."
    )
    if broken is None:
        return text
    return (
        f"{text} The axis is broken between {broken.below:.3f} and {broken.above:.3f}, where no interval "
        "lies; hatched configurations lie beyond the break."
    )
