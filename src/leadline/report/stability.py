"""What a report's charts, figures and terminal show of the stability lenses, taken from their tables.

The stability lenses look at all configurations of all models side by side, so each of their tables exists
once, under the model "all models", and its rows are keyed by the labels of configurations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.lenses.finding import Figure, Finding, Row
from leadline.lenses.registry import ALL_MODELS
from leadline.report.document import FindingsDocument

# The row in which the configurations of a study are taken together.
POOLED = "all configurations"


@dataclass(frozen=True)
class Line:
    """One configuration (or group) with the figures of its row."""

    label: str
    figures: Mapping[str, Figure]


def whole(document: FindingsDocument, lens: str, table: str) -> Finding | None:
    """The finding of a stability lens; None when the study has none, or it has no rows."""
    finding = document.finding(lens, table, ALL_MODELS)
    return finding if finding is not None and finding.rows else None


def by_configuration(finding: Finding | None) -> list[Line]:
    """The rows that are about one configuration each, in the order of the finding; not the pooled one."""
    return [
        Line(row.keys["configuration"], row.figures)
        for row in (finding.rows if finding else ())
        if row.keys.get("configuration", POOLED) != POOLED
    ]


def pooled(finding: Finding | None) -> Mapping[str, Figure]:
    """The figures of all configurations together; empty where there are none."""
    return next((row.figures for row in rows_of(finding) if row.keys.get("configuration") == POOLED), {})


def rows_of(finding: Finding | None) -> tuple[Row, ...]:
    """The rows of a finding that may be missing."""
    return finding.rows if finding else ()


def steadiest_first(document: FindingsDocument) -> list[Line]:
    """Configurations by wobble, ascending; those without one are left out, equal ones keep their order."""
    lines = by_configuration(whole(document, "wobble", "overall"))
    known = [line for line in lines if value(line.figures, "wobble") is not None]
    return sorted(known, key=lambda line: value(line.figures, "wobble") or 0.0)


def value(figures: Mapping[str, Figure], key: str) -> float | None:
    """A figure's value; None where it is missing or cannot be estimated."""
    return figures[key].value if key in figures else None


def number(keys: Mapping[str, str], key: str) -> float | None:
    """A row's key read as a number; None where it is missing or none."""
    try:
        return float(keys[key])
    except (KeyError, ValueError):
        return None


@dataclass(frozen=True)
class Bin:
    """One bar of a histogram: from `low` to `high`."""

    low: float
    high: float
    count: float


@dataclass(frozen=True)
class TransferNull:
    """What shuffled values share, and the figures of what was observed, at the study's main k.

    `across` are pairs of two families alone, where several configurations are of one.
    """

    bins: tuple[Bin, ...]
    figures: Mapping[str, Figure]
    k: int
    across: bool = False

    @property
    def permutations(self) -> int:
        """How many permutations the histogram holds."""
        return int(sum(each.count for each in self.bins))


def transfer_null(document: FindingsDocument) -> TransferNull | None:
    """The permutation null over the items of all configurations; None where it cannot be drawn."""
    observed = [
        row
        for row in rows_of(whole(document, "transfer", "by k"))
        if row.keys.get("set") == POOLED
        and row.keys.get("unit") == "items"
        and number(row.keys, "k") is not None
    ]
    bins = histogram(whole(document, "transfer", "null"), "permutations", set=POOLED)
    if not observed or not bins:
        return None
    main = max(observed, key=lambda row: number(row.keys, "k") or 0)
    across = [
        row
        for row in rows_of(whole(document, "transfer", "across families"))
        if row.keys.get("set") == POOLED and value(row.figures, "mean") is not None
    ]
    # Its first row is the one whose null is drawn; without a pair of two families all pairs are.
    figures = across[0].figures if across else main.figures
    if value(figures, "mean") is None:
        return None
    return TransferNull(bins, figures, int(number(main.keys, "k") or 0), bool(across))


def histogram(finding: Finding | None, key: str, **keys: str) -> tuple[Bin, ...]:
    """The bars of a finding whose rows have "from" and "to", of the rows that have all `keys`."""
    found = []
    for row in rows_of(finding):
        low, high, counted = number(row.keys, "from"), number(row.keys, "to"), value(row.figures, key)
        if low is None or high is None or counted is None:
            continue
        if all(row.keys.get(name) == wanted for name, wanted in keys.items()):
            found.append(Bin(low, high, counted))
    return tuple(found)


@dataclass(frozen=True)
class Compared:
    """A group of items against another: rates and difference as `lenses.contrast` tells them."""

    label: str
    figures: Mapping[str, Figure]


def compared_with_clean(document: FindingsDocument) -> list[Compared]:
    """Flagged items, then each failure type, by the study's own rule of sameness; empty without an audit."""
    overall = [
        Compared("flagged, all", row.figures)
        for row in rows_of(whole(document, "contrast", "flagged against clean"))
        if row.keys.get("measure") == "wobble"
        and row.keys.get("stratum") == "all items"
        and row.keys.get("subset") == POOLED
    ]
    types = [
        Compared(row.keys.get("failure", ""), row.figures)
        for row in rows_of(whole(document, "contrast", "by failure type"))
        if row.keys.get("measure") == "wobble"
    ]
    return [one for one in overall + types if value(one.figures, "of") is not None]


@dataclass(frozen=True)
class Repaired:
    """All tasks before and after a change of the items; `threshold` is a registered rate after it, if any."""

    figures: Mapping[str, Figure]
    threshold: float | None


def repaired(document: FindingsDocument) -> Repaired | None:
    """By the study's own rule of sameness; None where the items were not answered before a change."""
    figures = next(
        (
            row.figures
            for row in rows_of(whole(document, "repair", "by task"))
            if row.keys.get("task") == "all tasks" and row.keys.get("measure") == "wobble"
        ),
        None,
    )
    if figures is None or value(figures, "before") is None or value(figures, "after") is None:
        return None
    told = document.protocol.before
    threshold = told.registered.threshold if told and told.registered else None
    if told and told.registered and told.registered.is_paired:
        threshold = told.registered.threshold + (value(figures, "before") or 0.0)
    return Repaired(figures, threshold)


def p_histogram(document: FindingsDocument) -> tuple[Bin, ...]:
    """How often cells are right: bins of p, with p = 0 and p = 1 as bins without width."""
    bins = histogram(whole(document, "observability", "distribution"), "cells")
    return bins if any(each.count for each in bins) else ()


@dataclass(frozen=True)
class Decile:
    """Tasks of one tenth of accuracy: the largest wobble observed, and expected by two models."""

    low: float
    high: float
    tasks: float
    observed: float | None
    lower: float | None
    upper: float | None

    @property
    def label(self) -> str:
        """ "0.9–1.0"."""
        return f"{self.low:.1f}–{self.high:.1f}"


def ceiling_deciles(document: FindingsDocument) -> list[Decile]:
    """By tenth of accuracy, those that hold a task; empty for a benchmark without tasks."""
    return [
        Decile(
            low,
            high,
            value(row.figures, "tasks") or 0,
            value(row.figures, "largest_observed"),
            value(row.figures, "largest_lower"),
            value(row.figures, "largest_upper"),
        )
        for row in rows_of(whole(document, "observability", "ceiling"))
        if (low := number(row.keys, "from")) is not None and (high := number(row.keys, "to")) is not None
    ]
