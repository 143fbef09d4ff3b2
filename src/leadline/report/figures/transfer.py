"""What configurations share of their least steady items, against what shuffled values share."""

from __future__ import annotations

from leadline.report.document import FindingsDocument
from leadline.report.figures.plot import GREY, INK, PALE, Plot, Skipped, canvas
from leadline.report.numbers import printed
from leadline.report.stability import transfer_null

NAME = "transfer"


def draw(document: FindingsDocument, width: float) -> Plot | Skipped:
    """The permutation null as a histogram, the observed mean as a line, its interval as a span."""
    found = transfer_null(document)
    if found is None:
        return Skipped("no transfer between configurations")
    picture = canvas(width, 1.75)
    axes = picture.subplots()
    for each in found.bins:
        axes.bar(each.low, each.count, width=each.high - each.low, align="edge", facecolor=PALE,
                 edgecolor=GREY, linewidth=0.4)  # fmt: skip
    tallest = max(each.count for each in found.bins)
    mean = found.figures["mean"]
    value = mean.value or 0.0
    axes.axvline(value, color=INK, linewidth=1.2)
    furthest = max(mean.high or value, value, *(each.high for each in found.bins if each.count))
    beyond = value > 0.5 * furthest  # then there is more room on the left
    axes.annotate(f"observed {value:.3f}", (value, 1.12 * tallest), xytext=(-3 if beyond else 3, 0),
                  textcoords="offset points", ha="right" if beyond else "left", va="center")  # fmt: skip
    if mean.low is not None and mean.high is not None:
        y = 0.55 * tallest
        axes.plot([mean.low, mean.high], [y, y], color=INK, marker="|", markersize=6, linewidth=0.9)
        over = "families" if found.across else "configurations"
        axes.annotate(f"95 % over {over}", ((mean.low + mean.high) / 2, y), xytext=(0, 4),
                      textcoords="offset points", ha="center", va="bottom",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    axes.set_ylim(0, 1.22 * tallest)
    axes.set_xlim(0, 1.06 * furthest)
    axes.set_xlabel(f"mean share of one's {found.k} least steady items in another's {2 * found.k}")
    axes.set_ylabel("permutations")
    p = printed("p", found.figures.get("p")).value
    p = p if p.startswith("<") else f"= {p}"
    one, many = ("family", "families") if found.across else ("configuration", "configurations")
    of = " of pairs of two families" if found.across else ""
    return Plot(
        picture,
        f"Mean transfer{of} at k = {found.k} against its permutation null ({found.permutations:,} "
        f"permutations that shuffle each {one}'s values among its own items), p {p}. "
        f"The span is the 95 % bootstrap interval over {many}, not over their pairs, which are not "
        "independent.",
    )
