"""How much wobble each accuracy leaves room for: the largest observed beside what two models expect."""

from __future__ import annotations

from leadline.report.charts.axis import ticks
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import percent
from leadline.report.stability import ceiling_deciles, whole
from leadline.report.tables import anchor

ROW, TOP = 40, 2
LEFT, WIDTH = 1.5, 84


def ceiling(document: FindingsDocument) -> Chart | None:
    """By tenth of accuracy of a task, most accurate first."""
    finding = whole(document, "observability", "ceiling")
    deciles = ceiling_deciles(document)[::-1]
    if finding is None or not deciles:
        return None
    ends = [end for each in deciles for end in (each.observed, each.lower, each.upper) if end is not None]
    top = min(1.0, max([0.05, *ends]))
    height = TOP + ROW * len(deciles) + 24
    described = "; ".join(
        f"accuracy {each.label}, {each.tasks:.0f} tasks: observed {_words(each.observed)}, expected "
        f"{_words(each.lower)} (lower), {_words(each.upper)} (upper)"
        for each in deciles
    )
    canvas = Canvas("c-ceiling", "Largest wobble of a task by its accuracy", described, height)
    for tick in ticks(top, most=4):
        x = LEFT + WIDTH * tick / top
        for place in range(len(deciles)):
            y = TOP + ROW * place
            canvas.line(x, y + 17, x, y + ROW - 3, "grid" if tick else "axis")
        canvas.text(x, height - 8, percent(tick).replace(".0", ""), "tick", anchor="middle")
    for place, each in enumerate(deciles):
        y = TOP + ROW * place
        canvas.text(0, y + 12, f"Accuracy {each.label}", "row-label")
        canvas.text(100, y + 12, f"{each.tasks:.0f} tasks" if each.tasks != 1 else "1 task", "row-figure",
                    anchor="end")  # fmt: skip
        if each.lower is not None and each.upper is not None:
            low, high = sorted((each.lower, each.upper))
            canvas.line(LEFT + WIDTH * low / top, y + 27, LEFT + WIDTH * high / top, y + 27, "deep-whisker")
        for end in (each.lower, each.upper):
            if end is not None:
                canvas.diamond(LEFT + WIDTH * end / top, y + 27, 4.5, "deep-dot")
        if each.observed is not None:
            canvas.circle(LEFT + WIDTH * each.observed / top, y + 27, 4.5, "shallow-dot")
    legend = (
        Legend("shallow-swatch", "Largest wobble observed"),
        Legend("deep-swatch", "Largest expected: wrong answers all alike, and none alike"),
    )
    return Chart("", "What each accuracy leaves room for", canvas.drawn(), legend, (anchor(finding),))


def _words(share: float | None) -> str:
    return "unknown" if share is None else percent(share)
