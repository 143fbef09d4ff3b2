"""Wobble of two groups of items: those that an audit flags against clean ones, and the study's own."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.lenses.finding import Figure
from leadline.report.charts.axis import ticks
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import percent, printed
from leadline.report.stability import POOLED, Compared, compared_with_clean, rows_of, value, whole
from leadline.report.tables import anchor

ROW, TOP = 56, 2
LEFT, WIDTH = 1.5, 82
# More groups than this are in the tables, not in a picture.
MOST = 24
TABLES = ("flagged against clean", "by failure type", "chosen")


def contrast(document: FindingsDocument) -> Chart | None:
    """Each group above the one that it is compared with, by the study's rule; None where nothing is."""
    flagged = [Compared(f"{one.label} against clean", one.figures) for one in compared_with_clean(document)]
    groups = [*flagged, *_chosen(document)]
    shown = groups[:MOST]
    tables = tuple(anchor(found) for name in TABLES if (found := whole(document, "contrast", name)))
    if not shown:
        return None
    top = min(1.0, max([0.05, *(_end(one.figures[side]) for one in shown for side in ("of", "against"))]))
    more = len(groups) - len(shown)
    height = TOP + ROW * len(shown) + 24
    described = "; ".join(
        f"{one.label}: {printed('of', one.figures['of'])} against "
        f"{printed('against', one.figures['against'])}"
        for one in shown
    )
    title = "Wobble of one group of items and of another"
    canvas = Canvas("c-contrast", title, described, height + (16 if more else 0))
    for tick in ticks(top, most=4):
        x = LEFT + WIDTH * tick / top
        for place in range(len(shown)):
            y = TOP + ROW * place
            canvas.line(x, y + 17, x, y + ROW - 3, "grid" if tick else "axis")
        canvas.text(x, height - 8, percent(tick).replace(".0", ""), "tick", anchor="middle")
    for place, one in enumerate(shown):
        y = TOP + ROW * place
        canvas.text(0, y + 12, one.label, "row-label")
        apart = printed("difference", one.figures.get("difference")).value
        canvas.text(100, y + 12, apart, "row-figure", anchor="end")
        _interval(canvas, one.figures, "of", y + 25, top)
        _interval(canvas, one.figures, "against", y + 42, top)
    if more:
        canvas.text(100, height + 8, f"{more} more in the table", "tick", anchor="end")
    legend = (
        Legend("shallow-swatch", "Wobble of the group named first"),
        Legend("deep-swatch", "Wobble of the group that it is compared with"),
        Legend("whisker-swatch", "95 % interval"),
    )
    return Chart("", "Wobble of groups of items", canvas.drawn(), legend, tables[:1])


def _chosen(document: FindingsDocument) -> list[Compared]:
    """The study's own groups, by its own rule of sameness."""
    return [
        Compared(row.keys["contrast"], row.figures)
        for row in rows_of(whole(document, "contrast", "chosen"))
        if row.keys.get("measure") == "wobble"
        and row.keys.get("stratum") == "all items"
        and row.keys.get("subset") == POOLED
        and value(row.figures, "of") is not None
        and value(row.figures, "against") is not None
    ]


def _interval(canvas: Canvas, figures: Mapping[str, Figure], side: str, y: float, top: float) -> None:
    figure = figures[side]
    if figure.value is None:
        return
    kind = "shallow" if side == "of" else "deep"
    x = end = LEFT + WIDTH * figure.value / top
    if figure.low is not None and figure.high is not None:
        end = LEFT + WIDTH * min(figure.high, top) / top
        canvas.whisker(LEFT + WIDTH * figure.low / top, end, y, f"{kind}-whisker")
    if side == "of":
        canvas.circle(x, y, 4.5, "shallow-dot")
    else:
        canvas.diamond(x, y, 4.5, "deep-dot")
    canvas.text(end, y + 4, printed("of", figure).value, "value", dx=8)


def _end(figure: Figure) -> float:
    return max(figure.value or 0.0, figure.high or 0.0)
