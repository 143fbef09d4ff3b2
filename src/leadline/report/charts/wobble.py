"""How steady each configuration is: dots with whiskers, the steadiest first."""

from __future__ import annotations

from leadline.report.charts.axis import ticks
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import percent, printed
from leadline.report.stability import Line, steadiest_first, value, whole
from leadline.report.tables import anchor

ROW, TOP = 38, 2
LEFT, WIDTH = 1.5, 82  # percent: the rest of the width is for the value behind the longest whisker
# More configurations than this are in the table below, not in a picture.
MOST = 40


def wobble(document: FindingsDocument) -> Chart | None:
    """Wobble under the study's rule, and rarefied, which configurations of unequal length share."""
    finding = whole(document, "wobble", "overall")
    everyone = steadiest_first(document)
    lines = everyone[:MOST]
    if finding is None or not lines:
        return None
    top = min(1.0, max([0.05, *(_end(line) for line in lines)]))
    more = len(everyone) - len(lines)
    height = TOP + ROW * len(lines) + 24
    described = "; ".join(f"{line.label}: {printed('wobble', line.figures['wobble'])}" for line in lines)
    canvas = Canvas("c-wobble", "Wobble by configuration, ascending", described, height + (16 if more else 0))
    for tick in ticks(top, most=4):
        x = LEFT + WIDTH * tick / top
        for place in range(len(lines)):  # broken where the names stand
            y = TOP + ROW * place
            canvas.line(x, y + 17, x, y + ROW - 3, "grid" if tick else "axis")
        canvas.text(x, height - 8, percent(tick).replace(".0", ""), "tick", anchor="middle")
    for place, line in enumerate(lines):
        y = TOP + ROW * place
        figure = line.figures["wobble"]
        canvas.text(0, y + 12, line.label, "row-label")
        if (rare := value(line.figures, "rarefied")) is not None:
            canvas.diamond(LEFT + WIDTH * rare / top, y + 26, 4.5, "deep-dot")
        x = end = LEFT + WIDTH * (figure.value or 0.0) / top
        if figure.low is not None and figure.high is not None:
            end = LEFT + WIDTH * min(figure.high, top) / top
            canvas.whisker(LEFT + WIDTH * figure.low / top, end, y + 26, "shallow-whisker")
        canvas.circle(x, y + 26, 4.5, "shallow-dot")
        text = printed("wobble", figure)
        canvas.text(end, y + 30, text.value, "value", dx=8)
    if more:
        canvas.text(100, height + 8, f"{more} less steady ones in the table", "tick", anchor="end")
    legend = (
        Legend("shallow-swatch", "Wobble"),
        Legend("deep-swatch", "Rarefied: at a number of answers common to all"),
        Legend("whisker-swatch", "95 % interval"),
    )
    return Chart("", "Wobble by configuration", canvas.drawn(), legend, (anchor(finding),))


def _end(line: Line) -> float:
    figure = line.figures["wobble"]
    return max(figure.value or 0.0, figure.high or 0.0, value(line.figures, "rarefied") or 0.0)
