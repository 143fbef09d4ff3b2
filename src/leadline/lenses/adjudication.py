"""What people's decisions on labels do to accuracy and wobble: both readings, side by side.

"labelled" goes over the population and the items that a decision alone takes out of it, every answer judged
by its label as it was; "adjudicated" is the population, judged by labels as people corrected them.
change = adjudicated - labelled. A decision changes no answer, so wobble moves only with the items taken out.

Accuracy = measured cells (n ≥ 2) whose most frequent value is correct; wobble = measured cells that are
unstable; both as the lens `wobble` defines them, and over the same cells, so that both tables say one
number. A configuration that was asked once has no measured cell; its accuracy, in its own row, is over the
cells read. All configurations: those asked repeatedly (where there are none, all), Σ over cells / number of
cells, by bootstrap over items. taken_right = correct readings of what was taken out, by the labels as they
were; taken_items = the items that they are of.

What people decide on is chosen, and no sample. Where they look at what configurations answer otherwise,
taking such an item out takes a wrong answer out, and correcting its label turns one right: accuracy rises
whoever decides. So a change is a count of what decisions did, no effect that an interval could support, and
neither reading stands alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.audited import adjudicated
from leadline.lenses.figures import (
    count,
    counted,
    in_points,
    percent,
    ratio,
    share,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.frame import pieces
from leadline.lenses.label_errors import named
from leadline.lenses.moved import moved
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole
from leadline.lenses.wobble import POOLED
from leadline.stats.two_groups import Counts

Mask = npt.NDArray[np.bool_]

DEFINITION = (
    "Labelled: the population and the items that a person's decision alone takes out of it, answers judged "
    "by the labels as they were. Adjudicated: the population, by labels as people corrected them. Change: "
    "adjudicated less labelled, items resampled with what each adds to either reading. Accuracy: share of "
    "items with two readable answers or more whose most frequent answer is correct; of a configuration that "
    "was asked once, of items with a readable answer. Wobble: share of items with two readable answers or "
    "more whose answers are not all the same. Taken out, right: share of readings of the items taken out "
    "that are right by the labels as they were; taken out, items: how many items these are of."
)
_UNMOVED = "no item was taken out, and a label changes no answer"
_NONE_TAKEN = "no item was taken out"
_SEVERAL = 2


@dataclass(frozen=True)
class Readings:
    """`labelled` holds all items of the first reading, `adjudicated` the same ones as they are judged now;
    `kept` are those that stay [items]; `repeated` the members that were asked repeatedly."""

    labelled: Panel
    adjudicated: Panel
    kept: Mask
    repeated: tuple[int, ...]
    protocol: Protocol

    @cached_property
    def accuracy(self) -> tuple[Mask, Mask, Mask]:
        """Cells measured, or read of who was asked once; of these right by the labels as they were, and as
        they are [C, I]."""
        again = np.isin(np.arange(len(self.labelled.members)), self.repeated)
        there = np.where(again[:, None], self.labelled.measured, self.labelled.read)
        return there, self.labelled.correct, self.adjudicated.correct

    @cached_property
    def wobble(self) -> tuple[Mask, Mask, Mask]:
        """Cells measured; of these unstable, by either reading the same [C, I]."""
        measured, unstable = self.labelled.measured, self.labelled.unstable
        return measured, unstable & measured, unstable & measured


def look(whole: Whole) -> list[Finding]:
    """Finding `both`; none where no decision corrects a label or takes an item out."""
    if not whole.members:
        return []
    everyone = whole.panel_by(whole.protocol.stability.sameness, everyone=True)
    panel = everyone.only(items=(everyone.excluded == "") | adjudicated(everyone))
    corrected = _corrected(whole.everyone, panel)
    kept = ~adjudicated(panel)
    if kept.all() and corrected.is_empty():
        return []
    both = Readings(_by_labels(whole, panel, corrected), panel, kept, whole.repeated, whole.protocol)
    members = list(range(len(whole.members)))
    pool = list(whole.repeated) or members
    single = [_row(whole.labels[number], [number], both) for number in members]
    rows = [_row(POOLED, pool, both), *single] if len(pool) > 1 else single
    return [
        Finding(
            lens="adjudication",
            table="both",
            model=ALL_MODELS,
            title="What people's decisions on labels change",
            definition=DEFINITION,
            rows=tuple(rows),
            claims=(_claim(rows[0], single),),
            notes=tuple(_notes(both, corrected["item"].n_unique(), whole.labels)),
        )
    ]


def _by_labels(whole: Whole, panel: Panel, corrected: pl.DataFrame) -> Panel:
    """The panel with answers judged by the labels as they were; only what differs is laid out anew."""
    if corrected.is_empty():
        return panel
    before = corrected.with_columns(pl.col("correct_labelled").alias("correct"))
    part = make_panel(before, panel.members, whole.protocol.stability.sameness)
    hits = panel.hits.copy()
    hits[:, np.searchsorted(panel.items, part.items), : part.hits.shape[2]] = part.hits
    return panel.judged(hits)


def _corrected(readings: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The readings of the panel's items whose label was corrected."""
    wanted = pl.col("correct_labelled").is_not_null() & pl.col("item").is_in(panel.items.tolist())
    return pl.concat([piece.filter(wanted) for piece in pieces(readings)])


def _row(label: str, members: list[int], both: Readings) -> Row:
    figures = {}
    for name, (there, before, after) in (("acc", both.accuracy), ("wobble", both.wobble)):
        cells = there[members].sum(axis=0).astype(np.float64)
        items = cells > 0
        sums = [(right & there)[members].sum(axis=0).astype(np.float64)[items] for right in (before, after)]
        kept, of = both.kept[items], cells[items]
        figures[f"{name}_labelled"] = _share(Counts(sums[0], of), members, both.protocol)
        figures[f"{name}_adjudicated"] = _share(Counts(sums[1][kept], of[kept]), members, both.protocol)
        figures[f"{name}_change"] = _change(
            Counts(sums[0], of), Counts(sums[1] * kept, of * kept), both.protocol, relabels=name == "acc"
        )
    return Row(keys={"configuration": label}, figures=figures | _taken_out(both, members))


def _share(counts: Counts, members: list[int], protocol: Protocol) -> Figure:
    """Of one configuration every item has one cell, and Wilson's interval holds."""
    if len(members) > 1:
        return ratio(*counts, protocol)
    return share(int(counts.numerators.sum()), int(counts.denominators.sum()))


def _change(before: Counts, after: Counts, protocol: Protocol, *, relabels: bool) -> Figure:
    items = len(before.denominators)
    if not relabels and items and (after.denominators > 0).all():
        return Figure(value=0, denominator=items, method="by construction", note=_UNMOVED)
    return moved(before, after, protocol, relabels=relabels)


def _taken_out(both: Readings, members: list[int]) -> dict[str, Figure]:
    taken = both.labelled.only(members=members, items=~both.kept)
    right, n = (counts.sum(axis=0).astype(np.float64) for counts in (taken.right, taken.n))
    read = n > 0
    empty = "no readable answer to what was taken out" if len(n) else _NONE_TAKEN
    return {
        "taken_right": ratio(right[read], n[read], both.protocol, empty=empty),
        "taken_items": count(int(read.sum())),
    }


def _claim(first: Row, single: list[Row]) -> Claim:
    """What was counted, and what it never shows: people chose what to decide on."""
    figures, name = first.figures, first.keys["configuration"]
    what = "pooled accuracy" if name == POOLED else f"accuracy of {name}"
    before, after, change = (figures[f"acc_{name}"] for name in ("labelled", "adjudicated", "change"))
    if before.value is None or after.value is None or change.value is None:
        text = f"What adjudication changes of {what} cannot be told."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    return Claim(
        text="That configurations are better or worse than the labels as they were say is not shown by "
        f"adjudication. Counted: {what} {counted(after)} instead of {counted(before)}, "
        f"{in_points(change.value)}{_ways(single)}. People chose what to decide on; where they look at what "
        "configurations answer otherwise, accuracy rises whoever decides. Both readings are to be reported.",
        status=ClaimStatus.UNREACHABLE,
        point=f"{percent(after.value)} adjudicated",
        conservative=f"{percent(before.value)} by the labels as they were",
    )


def _ways(single: list[Row]) -> str:
    """In how many configurations accuracy rises, falls and stays."""
    changes = [row.figures["acc_change"].value for row in single]
    told = [change for change in changes if change is not None]
    ways = {
        "rises": sum(change > 0 for change in told),
        "falls": sum(change < 0 for change in told),
        "stays": sum(change == 0 for change in told),
    }
    if len(told) < _SEVERAL:
        return ""
    said = ", ".join(f"{way} in {number}" for way, number in ways.items() if number)
    return f"; accuracy {said} of {len(told)} configurations"


def _notes(both: Readings, corrected: int, labels: tuple[str, ...]) -> list[str]:
    out = Counter(both.labelled.excluded[~both.kept].tolist())
    taken = ", ".join(f"{reason.removeprefix('adjudicated ')} {out[reason]}" for reason in sorted(out))
    notes = [
        f"Taken out: {sum(out.values())} of {len(both.kept)} items{f' ({taken})' if taken else ''}. "
        f"Labels corrected: {corrected}."
    ]
    once = [label for number, label in enumerate(labels) if number not in both.repeated]
    if once and both.repeated:
        pooled = f", and not in {POOLED}" if len(both.repeated) > 1 else ""
        notes.append(f"Asked once{pooled}: {named(once)}.")
    return [*notes, "Who decided, when, and why stands in the file of decisions."]


LENS = Lens("adjudication", order=59, whole=look)
