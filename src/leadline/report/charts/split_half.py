"""Whether half of the answers tells the same of the tasks: correlation of the halves, and at full length."""

from __future__ import annotations

from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import MINUS, printed
from leadline.report.stability import Line, by_configuration, rows_of, value, whole
from leadline.report.tables import anchor

ROW, TOP = 38, 18
LEFT, WIDTH = 2.0, 82.0
MOST = 40


def split_half(document: FindingsDocument) -> Chart | None:
    """Circles for the halves, diamonds for the full length, a dotted rule at the median."""
    finding = whole(document, "reliability", "by configuration")
    lines = [each for each in by_configuration(finding) if value(each.figures, "corrected") is not None]
    if finding is None or not lines:
        return None
    lines = sorted(lines, key=_full)[:MOST]
    low = min([0.0, *(_full(line) for line in lines)])
    low = -1.0 if low < -0.4 else -0.5 if low < 0 else 0.0  # with room for the number beside the mark
    height = TOP + ROW * len(lines) + 24
    described = "; ".join(
        f"{line.label}: halves {printed('r', line.figures.get('r')).value}, full length "
        f"{printed('corrected', line.figures['corrected']).value}"
        for line in lines
    )
    canvas = Canvas("c-halves", "Split-half reliability by configuration", described, height)

    def across(r: float) -> float:
        return LEFT + WIDTH * (max(r, low) - low) / (1 - low)

    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        if tick < low:
            continue
        for place in range(len(lines)):
            y = TOP + ROW * place
            canvas.line(across(tick), y + 17, across(tick), y + ROW - 3, "axis" if tick == 0 else "grid")
        canvas.text(across(tick), height - 8, f"{tick:g}".replace("-", MINUS), "tick", anchor="middle")
    overall = rows_of(whole(document, "reliability", "overall"))
    median = value(overall[0].figures, "median_corrected") if overall else None
    if median is not None:
        canvas.line(across(median), TOP, across(median), TOP + ROW * len(lines), "mark")
        words = f"median {printed('median_corrected', overall[0].figures['median_corrected']).value}"
        canvas.text(across(median), TOP - 6, words, "value", anchor="middle")
    for place, line in enumerate(lines):
        y = TOP + ROW * place
        half, full = value(line.figures, "r"), _full(line)
        canvas.text(0, y + 12, line.label, "row-label halo")
        if half is not None:
            canvas.line(across(half), y + 26, across(full), y + 26, "grid")
            canvas.circle(across(half), y + 26, 4.5, "hollow-dot")
        canvas.diamond(across(full), y + 26, 4.5, "deep-dot")
        side, dx = ("end", -9) if half is not None and full < half else ("start", 9)
        words = printed("corrected", line.figures["corrected"]).value
        canvas.text(across(full), y + 30, words, "value halo", anchor=side, dx=dx)
    legend = (
        Legend("hollow-swatch", "Correlation of the two halves"),
        Legend("deep-swatch", "Corrected to full length (Spearman–Brown)"),
    )
    return Chart("", "Split-half reliability", canvas.drawn(), legend, (anchor(finding),))


def _full(line: Line) -> float:
    return value(line.figures, "corrected") or 0.0
