"""How often answers are right: a histogram whose tallest bars are cut, as most items are always right."""

from __future__ import annotations

from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import count, percent
from leadline.report.stability import Bin, p_histogram, whole
from leadline.report.tables import anchor

LEFT, WIDTH = 11.0, 86.0  # percent: numbers stand left of the axis
TOP, TALL = 30, 150
EDGE = 4.0  # percent that the bars of exactly 0 and exactly 1 take at both ends


def p_distribution(document: FindingsDocument) -> Chart | None:
    """Cells by p, the share of an item's answers that are right, with the band in which wobble shows."""
    finding = whole(document, "observability", "distribution")
    bins = p_histogram(document)
    if finding is None or not bins:
        return None
    cells = sum(each.count for each in bins)
    most = 1.25 * max([1.0, *(each.count for each in bins if each.low < each.high)])
    described = "; ".join(
        f"p {_span(each)}: {count(each.count)} of {count(cells)}" for each in bins if each.count
    )
    canvas = Canvas("c-p", "Distribution of the share of right answers", described, TOP + TALL + 40)
    hatch = canvas.hatch()
    base = TOP + TALL
    canvas.rect(_x(0.3), TOP, _x(0.7) - _x(0.3), TALL, "band")
    canvas.text((_x(0.3) + _x(0.7)) / 2, TOP + 13, "0.3–0.7", "tick", anchor="middle")
    for share in (0.5, 1.0):
        y = base - TALL * share / 1.25
        canvas.line(LEFT, y, LEFT + WIDTH, y, "grid")
        canvas.text(LEFT, y + 4, count(round(most * share / 1.25)), "tick", anchor="end", dx=-6)
    for each in bins:
        _bar(canvas, each, most, base, hatch)
    canvas.line(LEFT, base, LEFT + WIDTH, base, "axis")
    for p in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.text(_x(p), base + 16, f"{p:g}", "tick", anchor="middle")
    canvas.text(LEFT + WIDTH / 2, base + 34, "p, share of right answers", "tick", anchor="middle")
    always = sum(each.count for each in bins if each.low == each.high == 1) / cells
    legend = (
        Legend("tied-swatch", "Items (with a configuration) that are right now and then"),
        Legend(
            "worse-swatch",
            f"Never right, and right whenever readable ({percent(always)}): bars beside the axis",
        ),
    )
    return Chart("", "How often answers are right", canvas.drawn(), legend, (anchor(finding),))


def _bar(canvas: Canvas, each: Bin, most: float, base: float, hatch: str) -> None:
    exact = each.low == each.high
    left = (LEFT if each.low == 0 else LEFT + WIDTH - EDGE + 0.4) if exact else _x(each.low)
    wide = EDGE - 0.4 if exact else _x(each.high) - _x(each.low) - 0.3
    tall = TALL * min(each.count / most, 1.0)
    canvas.rect(left, base - tall, wide, tall, "worse" if exact else "bar", style=hatch if exact else "")
    if each.count > most:  # cut: a gap in the bar, and its count on top
        canvas.rect(left, TOP + 14, wide, 4, "cut")
        at, side = (left + wide, "end") if each.low else (left, "start")
        canvas.text(at, TOP - 5, count(each.count), "value", anchor=side)


def _x(p: float) -> float:
    return LEFT + EDGE + (WIDTH - 2 * EDGE) * p


def _span(each: Bin) -> str:
    return f"= {each.low:g}" if each.low == each.high else f"in [{each.low:g}, {each.high:g})"
