"""What a technique recovers and what it breaks: bars that leave the middle in opposite directions."""

from __future__ import annotations

from leadline.report.charts.axis import reach, ticks
from leadline.report.charts.rows import laid_out
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import percent, printed
from leadline.report.tables import anchor, slug

ROW, TOP, BAR = 44, 8, 14
# A side is longer than its largest interval, so that the value written behind it has room on a phone.
SIDE = 0.66


def decomposition(document: FindingsDocument, model: str) -> Chart | None:
    """Gain to the right (share of the baseline's failures), loss to the left (share of its successes)."""
    finding = document.finding("transitions", "overall", model)
    rows = [
        (
            row.keys["method"],
            (
                document.label(row.keys["method"]),
                row.figures["gain"],
                row.figures["loss"],
                row.figures.get("net"),
            ),
        )
        for row in (finding.rows if finding else ())
        if "method" in row.keys and {"gain", "loss"} <= row.figures.keys()
    ]
    if finding is None or not rows:
        return None
    top = reach(document, "transitions", "overall", ("gain", "loss"))
    scale = 50 * SIDE / top
    layout = laid_out(document, rows, ROW, TOP)
    height = layout.height + 24
    described = "; ".join(
        f"{label}: gain {printed('gain', gain)}, loss {printed('loss', loss)}"
        for _, (label, gain, loss, _) in rows
    )
    canvas = Canvas(slug("c-gain", model), f"Gain and loss of each method, {model}", described, height)
    hatch = canvas.hatch()
    for tick in ticks(top, most=3):
        for side in {1, -1} if tick else {1}:
            x = 50 + side * tick * scale
            canvas.line(x, TOP, x, layout.height, "grid" if tick else "axis")
            canvas.text(x, height - 8, percent(tick).replace(".0", ""), "tick", anchor="middle")
    layout.draw_heads(canvas)
    for y, (label, gain, loss, net) in layout:
        canvas.text(0, y + 13, label, "row-label")
        if net is not None and net.value is not None:
            canvas.text(100, y + 13, f"net {printed('net', net).value}", "row-figure", anchor="end")
        middle = y + 20 + BAR / 2
        for figure, side, kind, style in ((gain, 1, "better", ""), (loss, -1, "worse", hatch)):
            if figure.value is None:
                continue
            length = figure.value * scale
            canvas.rect(50 if side > 0 else 50 - length, y + 20, length, BAR, kind, style=style)
            end = length
            if figure.low is not None and figure.high is not None:
                canvas.whisker(50 + side * figure.low * scale, 50 + side * figure.high * scale, middle)
                end = max(length, figure.high * scale)
            words, align = printed("gain", figure).value, "start" if side > 0 else "end"
            canvas.text(50 + side * end, middle + 4, words, "value", anchor=align, dx=6 * side)
    legend = (
        Legend("worse-swatch", "Loss: successes broken"),
        Legend("better-swatch", "Gain: failures recovered"),
        Legend("whisker-swatch", "95 % interval"),
    )
    return Chart(model, "Gain and loss", canvas.drawn(), legend, (anchor(finding),))
