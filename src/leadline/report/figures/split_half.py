"""Split-half reliability by configuration: what half of the answers tells, and what all of them would."""

from __future__ import annotations

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import DOTTED, GREY, INK, ROW, Plot, Skipped, canvas, rows
from leadline.report.stability import by_configuration, rows_of, value, whole

NAME = "split-half"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """Circles for the halves, diamonds for the full length, a dotted rule at the median."""
    lines = [
        line
        for line in by_configuration(whole(document, "reliability", "by configuration"))
        if value(line.figures, "corrected") is not None
    ]
    if not lines:
        return Skipped("no split-half reliability could be estimated")
    lines.sort(key=lambda line: value(line.figures, "corrected") or 0.0)
    picture = canvas(width, 0.75 + ROW * len(lines))
    axes = picture.subplots()
    lowest = 0.0
    for place, line in enumerate(lines):
        half, full = value(line.figures, "r"), value(line.figures, "corrected") or 0.0
        if half is not None:
            axes.plot([half, full], [place, place], color=GREY, linewidth=0.6, zorder=2)
            axes.plot([half], [place], marker="o", markersize=4.5, markerfacecolor="white", color=INK,
                      linestyle="", zorder=3)  # fmt: skip
            lowest = min(lowest, half)
        axes.plot([full], [place], marker="D", markersize=3.6, color=INK, linestyle="", zorder=4)
        lowest = min(lowest, full)
    overall = rows_of(whole(document, "reliability", "overall"))
    median = overall[0].figures.get("median_corrected") if overall else None
    if median is not None and median.value is not None:
        axes.axvline(median.value, color=INK, linestyle=DOTTED, linewidth=0.9)
    rows(axes, [line.label for line in lines])
    axes.set_xlim(min(-0.02, lowest - 0.05), 1.03)
    axes.set_xlabel("○ halves   ◆ full length (Spearman–Brown)")
    tasks = lines[0].figures["corrected"].denominator
    words = f", {median.value:.3f}" if median is not None and median.value is not None else ""
    return Plot(
        picture,
        "Split-half reliability by configuration"
        + (f", over {tasks:,.0f} tasks" if tasks else "")
        + ". Circles: correlation between the task vectors of even and of odd samples; diamonds: corrected "
        f"to full length. The dotted rule is the median corrected value{words}.",
    )
