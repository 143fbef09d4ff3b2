"""Where the gold answer's first token went on failures that stayed failures: three parts of one bar."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.lenses.finding import Figure
from leadline.report.charts.rows import laid_out
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import count, printed
from leadline.report.tables import anchor, slug

ROW, BAR = 46, 22
# A part narrower than this share cannot hold its own percentage on a phone.
LABELLED = 0.13
PARTS = (("improved", "better"), ("tied", "tied"), ("worsened", "worse"))


def rank_shift(document: FindingsDocument, model: str) -> Chart | None:
    """Shares of unrecovered failures whose gold rank improved, stayed, worsened."""
    finding = document.finding("rank_shift", "overall", model)
    rows = [
        (row.keys.get("method", ""), (document.label(row.keys.get("method", "")), row.figures))
        for row in (finding.rows if finding else ())
        if all(row.figures.get(part) for part, _ in PARTS)
    ]
    if finding is None or all(_nothing(figures) for _, (_, figures) in rows):
        return None
    described = "; ".join(
        f"{label}: none"
        if _nothing(figures)
        else f"{label}: " + ", ".join(f"{part} {printed(part, figures[part])}" for part, _ in PARTS)
        for _, (label, figures) in rows
    )
    layout = laid_out(document, rows, ROW)
    title = f"Rank shift of each method, {model}"
    canvas = Canvas(slug("c-ranks", model), title, described, layout.height + 4)
    hatch = canvas.hatch()
    layout.draw_heads(canvas)
    for y, (label, figures) in layout:
        canvas.text(0, y + 13, label, "row-label")
        denominator = figures["tied"].denominator
        if denominator is not None:
            canvas.text(100, y + 13, f"n = {count(denominator)}", "row-figure", anchor="end")
        if _nothing(figures):  # no bar, but not left out: it left no failure, or no rank was probed
            canvas.text(0, y + 20 + BAR / 2 + 4, "none", "row-figure")
            continue
        start = 0.0
        for part, kind in PARTS:
            share = 100 * (figures[part].value or 0.0)
            canvas.rect(start, y + 20, share, BAR, kind, style=hatch if kind == "worse" else "")
            if share >= 100 * LABELLED:
                words = printed(part, figures[part]).value
                canvas.text(start + share / 2, y + 20 + BAR / 2 + 4, words, f"in-{kind}", anchor="middle")
            start += share
    legend = (
        Legend("better-swatch", "Improved: nearer the top"),
        Legend("tied-swatch", "Tied"),
        Legend("worse-swatch", "Worsened: further down"),
    )
    return Chart(model, "Rank shift", canvas.drawn(), legend, (anchor(finding),))


def _nothing(figures: Mapping[str, Figure]) -> bool:
    """Whether there was no failure to count the parts over."""
    return any(figures[part].value is None for part, _ in PARTS)
