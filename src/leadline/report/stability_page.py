"""The page's sections on stability: five questions, with how to read the charts that answer them."""

from __future__ import annotations

from leadline.report.charts.ceiling import ceiling
from leadline.report.charts.contrast import contrast
from leadline.report.charts.group import ChartGroup
from leadline.report.charts.p_distribution import p_distribution
from leadline.report.charts.split_half import split_half
from leadline.report.charts.transfer_null import transfer
from leadline.report.charts.wobble import wobble
from leadline.report.document import FindingsDocument


def stability_groups(document: FindingsDocument, leads: bool) -> list[ChartGroup]:
    """The sections that the document has findings for; with `leads` only the claims stand before them."""
    found = (
        (
            ("wobble", "Wobble"),
            "Is the answer the same when asked again?",
            "Wobble is the share of items whose answers are not all the same; a dot further right is less "
            "steady. Two configurations whose intervals overlap widely should not be put in order.",
            [wobble(document)],
        ),
        (
            ("room", "Room for it"),
            "Could wobble have shown at all?",
            "An item that is always right cannot wobble, so a tall bar at p = 1 means that this benchmark "
            "has little room to show any. Beside it, the most that tasks of each accuracy showed (dots), "
            "and the most that two models of how wrong answers fall have them show (diamonds, no bounds: a "
            "dot may lie beyond): where diamonds lie low, a low wobble says nothing.",
            [p_distribution(document), ceiling(document)],
        ),
        (
            ("transfer", "Shared?"),
            "Are configurations unsteady on the same items?",
            "The line is what pairs of configurations share of their least steady items, the bars what they "
            "share when values are shuffled. It speaks of items rather than of chance where its interval "
            "lies right of all but the highest 2.5 % of the bars. Where several configurations are of one "
            "family, only pairs of two families are drawn.",
            [transfer(document)],
        ),
        (
            ("groups", "Groups"),
            "Do some items wobble more than others?",
            "Each group of items (dot) stands above the one that it is compared with (diamond), the "
            "difference beside its name. An association does not say why: groups may differ in much else.",
            [contrast(document)],
        ),
        (
            ("halves", "Reliability"),
            "Would half of the answers have told the same?",
            "Each configuration’s samples are split in two, and tasks are ranked by wobble on both halves: "
            "near 1 the two agree. Below about 0.7 differences between single tasks are mostly noise.",
            [split_half(document)],
        ),
    )
    return [
        ChartGroup(anchor, short, title, lead, charts, leads=leads, titled=anchor == "room")
        for (anchor, short), title, lead, drawn in found
        if (charts := tuple(chart for chart in drawn if chart is not None))
    ]
