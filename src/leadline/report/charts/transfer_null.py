"""What configurations share of their least steady items, against what shuffled values share."""

from __future__ import annotations

from leadline.report.charts.axis import ticks
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import count, percent, printed
from leadline.report.stability import Bin, transfer_null, whole
from leadline.report.tables import anchor

LEFT, WIDTH = 2.0, 90.0
TOP, TALL = 34, 140


def transfer(document: FindingsDocument) -> Chart | None:
    """The permutation null as a histogram, the observed mean as a line, its interval as a span."""
    finding = whole(document, "transfer", "null")
    found = transfer_null(document)
    if finding is None or found is None:
        return None
    mean = found.figures["mean"]
    observed = mean.value or 0.0
    top = max([observed, mean.high or 0.0, *(each.high for each in found.bins if each.count)]) * 1.04 or 1.0
    tallest = max(each.count for each in found.bins)
    base = TOP + TALL
    p = printed("p", found.figures.get("p")).value
    described = (
        f"Observed mean share {printed('mean', mean)}; {count(found.permutations)} permutations lie between "
        f"{percent(_ends(found.bins)[0])} and {percent(_ends(found.bins)[1])}; p {p}"
    )
    canvas = Canvas("c-transfer", "Mean transfer against its permutation null", described, base + 40)
    for tick in ticks(min(top, 1.0), most=5):
        x = LEFT + WIDTH * tick / top
        canvas.line(x, TOP, x, base, "grid")
        canvas.text(x, base + 16, percent(tick).replace(".0", ""), "tick", anchor="middle")
    for each in found.bins:
        tall = TALL * 0.9 * each.count / tallest
        left, right = (LEFT + WIDTH * end / top for end in (each.low, each.high))
        if each.count:
            canvas.rect(left, base - tall, right - left - 0.15, tall, "bar")
    canvas.line(LEFT, base, LEFT + WIDTH, base, "axis")
    x = LEFT + WIDTH * observed / top
    if mean.low is not None and mean.high is not None:
        low, high = (LEFT + WIDTH * end / top for end in (mean.low, mean.high))
        canvas.whisker(low, high, TOP + 0.35 * TALL, "shallow-whisker")
    canvas.line(x, TOP - 8, x, base, "observed")
    side = "end" if x > 60 else "start"
    words = f"observed {percent(observed)}, p {p if p.startswith('<') else f'= {p}'}"
    canvas.text(x, TOP - 14, words, "value", anchor=side, dx=4 if side == "end" else -4)
    middle = f"share of one’s {found.k} least steady items in another’s {2 * found.k}"
    canvas.text(LEFT + WIDTH / 2, base + 34, middle, "tick", anchor="middle")
    one, over = ("family", "families") if found.across else ("configuration", "configurations")
    legend = (
        Legend("tied-swatch", f"Permutations that shuffle each {one}’s values among its items"),
        Legend("found-swatch", f"Observed, with the 95 % interval over {over}"),
    )
    by_k = whole(document, "transfer", "across families" if found.across else "by k")
    tables = (anchor(by_k),) if by_k else (anchor(finding),)
    return Chart("", "Transfer against its null", canvas.drawn(), legend, tables)


def _ends(bins: tuple[Bin, ...]) -> tuple[float, float]:
    counted = [each for each in bins if each.count]
    return counted[0].low, counted[-1].high
