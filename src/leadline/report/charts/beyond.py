"""What a method reaches of what sampling reaches (SGR), and of what it does not (DGR): dots with whiskers."""

from __future__ import annotations

from leadline.lenses.finding import Figure
from leadline.report.charts.axis import reach, ticks
from leadline.report.charts.rows import laid_out
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import percent, printed
from leadline.report.tables import anchor, slug

ROW, TOP = 54, 2
LEFT, WIDTH = 1.5, 82  # percent: the rest of the width is for the value behind the longest whisker


def beyond(document: FindingsDocument, model: str, temperature: str) -> Chart | None:
    """Shallow and deep gain rates of each method at one temperature."""
    finding = document.finding("beyond_sampling", "rates", model)
    rows = [
        (row.keys.get("method", ""), (document.label(row.keys.get("method", "")), row.figures))
        for row in (finding.rows if finding else ())
        if row.keys.get("temperature") == temperature and {"sgr", "dgr"} <= row.figures.keys()
    ]
    if finding is None or not rows:
        return None
    top = reach(document, "beyond_sampling", "rates", ("sgr", "dgr"))
    layout = laid_out(document, rows, ROW, TOP)
    height = layout.height + 24
    described = "; ".join(
        f"{label}: SGR {printed('sgr', figures['sgr'])}, DGR {printed('dgr', figures['dgr'])}"
        for _, (label, figures) in rows
    )
    title = f"Shallow and deep gain of each method at τ = {temperature}, {model}"
    canvas = Canvas(slug("c-beyond", temperature, model), title, described, height)
    for tick in ticks(top, most=4):
        x = LEFT + WIDTH * tick / top
        for y, _ in layout:  # broken where the methods' names stand
            canvas.line(x, y + 17, x, y + ROW - 4, "grid" if tick else "axis")
        canvas.text(x, height - 8, percent(tick).replace(".0", ""), "tick", anchor="middle")
    layout.draw_heads(canvas)
    for y, (label, figures) in layout:
        canvas.text(0, y + 12, label, "row-label")
        _dot(canvas, figures["sgr"], y + 26, top, "shallow-dot")
        _dot(canvas, figures["dgr"], y + 41, top, "deep-dot")
    legend = (
        Legend("shallow-swatch", "SGR: of failures that sampling reaches"),
        Legend("deep-swatch", "DGR: of failures that it never reached"),
        Legend("whisker-swatch", "95 % interval"),
    )
    return Chart(model, f"τ = {temperature}", canvas.drawn(), legend, (anchor(finding),))


def _dot(canvas: Canvas, figure: Figure, y: float, top: float, kind: str) -> None:
    if figure.value is None:
        canvas.text(LEFT, y + 4, "not estimable", "value", dx=6)
        return
    x = LEFT + WIDTH * figure.value / top
    end = x
    if figure.low is not None and figure.high is not None:
        end = LEFT + WIDTH * min(figure.high, top) / top
        canvas.whisker(LEFT + WIDTH * figure.low / top, end, y, kind.replace("dot", "whisker"))
    if kind == "deep-dot":
        canvas.diamond(x, y, 5, kind)
    else:
        canvas.circle(x, y, 4.5, kind)
    canvas.text(end, y + 4, printed("sgr", figure).value, "value", dx=8)
