"""Items on which the configurations of a study agree against the label: who agrees, how firmly, and who not.

What makes a candidate, its support, its floor and when it is firm is defined with the lens `label_errors`,
which tells of them; flags for a person to look at are raised from the same ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.frame import pieces
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.whole import Whole

Ints = npt.NDArray[np.int64]

LEAST = 2
# One dissenter is a near miss only where at least two others agree.
_LEAST_WITH_DISSENT = 3
# From this share of its readings on, every configuration is sure of what it says.
SURE = 0.9
# What the dissenter says.
LABEL, OTHER = "the label", "something else"
# A longer text says more than its value.
_SHOWN = 60


@dataclass(frozen=True)
class Candidates:
    """Items whose label the configurations of a panel contradict; arrays are [candidates], in their order."""

    panel: Panel
    items: Ints  # place of the item in the panel
    code: Ints  # the value agreed on
    agree: Ints  # configurations that hold it
    support: Ints  # their readings that say so
    readings: Ints  # readings of all configurations
    weakest: Ints  # the configuration with the fewest readings for its own modal answer
    right: Ints  # readings of all configurations that say what the label says
    undecidable: int  # items that some configuration has no reading of
    once_read: Ints  # configurations that were asked once, and are not compared, with a reading
    once_right: Ints  # of these, whose reading is what the label says

    @property
    def unanimous(self) -> npt.NDArray[np.bool_]:
        """Without a dissenter [candidates]."""
        return np.asarray(self.agree == len(self.panel.members))

    @property
    def floor(self) -> tuple[Ints, Ints]:
        """Readings of the weakest configuration for its answer, and all its readings, both [candidates]."""
        top, n = (
            counts[self.weakest, self.items].astype(np.int64) for counts in (self.panel.top, self.panel.n)
        )
        return top, n

    @property
    def disputed(self) -> npt.NDArray[np.bool_]:
        """The dissenter's own modal answer is correct [candidates]."""
        return np.asarray(self.panel.correct[:, self.items].any(axis=0))

    @property
    def firm(self) -> npt.NDArray[np.bool_]:
        """Most readings say so, the weakest configuration in most of its own, and nobody's modal answer is
        correct, of those asked once neither [candidates]."""
        top, n = self.floor
        unheld = ~self.disputed & (self.once_right == 0)
        return np.asarray(unheld & (2 * self.support > self.readings) & (2 * top > n))

    @property
    def sure(self) -> npt.NDArray[np.bool_]:
        """Unanimous, every configuration says so in at least nine of ten of its readings, and none that was
        asked once says the label [candidates]."""
        shares = self.panel.top[:, self.items] / np.maximum(self.panel.n[:, self.items], 1)
        return np.asarray(self.unanimous & (self.once_right == 0) & (shares >= SURE).all(axis=0))


def candidates(panel: Panel) -> Candidates:
    """The candidates among the items of a panel whose values can be compared across configurations."""
    number = len(panel.members)
    everywhere = panel.read.all(axis=0)
    modal = np.sort(panel.modal, axis=0)
    # With at most one dissenter the answer agreed on is in the middle of the ordered ones. Of two
    # configurations the middle one agrees with the other, or neither is of any opinion.
    agreed = modal[number // 2]
    holds = panel.modal == agreed
    agree = holds.sum(axis=0)
    dissenters = 1 if number >= _LEAST_WITH_DISSENT else 0
    # Who has as many correct readings is of no opinion against the label.
    against = (~holds | (~panel.correct & (panel.top > panel.right))).all(axis=0)
    support = np.where(holds, panel.top, 0).sum(axis=0, dtype=np.int64)
    right = panel.right.sum(axis=0, dtype=np.int64)
    enough = (agree >= number - dissenters) & (support > right)
    found = np.flatnonzero(everywhere & against & enough)
    share = support[found] / np.maximum(panel.n.sum(axis=0, dtype=np.int64)[found], 1)
    order = np.lexsort((panel.items[found], -share, -agree[found]))
    items = found[order]
    # Fewest readings; of several the one whose readings are the smaller share; then the first.
    top, n = panel.top[:, items].astype(np.float64), panel.n[:, items]
    weakest = np.argmin(top + top / (np.maximum(n, 1) + 1), axis=0) if len(items) else items
    return Candidates(
        panel=panel,
        items=items,
        code=agreed[items].astype(np.int64),
        agree=agree[items].astype(np.int64),
        support=support[items],
        readings=panel.n.sum(axis=0, dtype=np.int64)[items],
        weakest=weakest,
        right=right[items],
        undecidable=int((~everywhere).sum()),
        once_read=np.zeros(len(items), np.int64),
        once_right=np.zeros(len(items), np.int64),
    )


@dataclass(frozen=True)
class Contradicted:
    """The candidates of a study: what `labels` call the configurations that were compared, `once` those that
    were asked once and are not, and by item whose answers are texts the text that says most often what is
    agreed on."""

    found: Candidates
    labels: tuple[str, ...]
    once: tuple[str, ...]
    answered: dict[str, str]

    def value(self, at: int) -> str:
        """What the configurations say of candidate `at`."""
        panel = self.found.panel
        code, item = self.found.code[at], self.found.items[at]
        return self.answered.get(str(panel.items[item]), str(panel.values[code]))

    def dissenter(self, at: int) -> tuple[str, str]:
        """Who does not agree on candidate `at`, and what that one says; "" twice where all agree."""
        found = self.found
        dissent = np.flatnonzero(found.panel.modal[:, found.items[at]] != found.code[at])
        if not len(dissent):
            return "", ""
        return self.labels[dissent[0]], LABEL if found.disputed[at] else OTHER


def contradicted(study: Whole, *, undecided: bool = False) -> Contradicted | None:
    """All candidates among a study's items, or among those that nobody has decided on; None for fewer than
    two configurations."""
    chosen = study.repeated if len(study.repeated) >= LEAST else tuple(range(len(study.members)))
    if len(chosen) < LEAST:
        return None
    everyone = study.everyone
    if undecided and decided(everyone):
        everyone = everyone.filter(pl.col("adjudication").fill_null("") == "")
    shared = everyone.with_columns(pl.coalesce("value_shared", "value").alias("value"))
    found = candidates(make_panel(shared, [study.members[number] for number in chosen]))
    once = [number for number in range(len(study.members)) if number not in chosen]
    if once:
        found = _heard(found, make_panel(shared, [study.members[number] for number in once]))
    labels, others = (tuple(study.labels[number] for number in part) for part in (chosen, once))
    return Contradicted(found, labels, others, _as_answered(shared, found))


def _heard(found: Candidates, once: Panel) -> Candidates:
    """The candidates with what the configurations of another panel, which were asked once, say of them."""
    places = {str(item): place for place, item in enumerate(once.items)}
    read, right = np.zeros((2, len(found.items)), np.int64)
    for at, item in enumerate(found.panel.items[found.items]):
        if (place := places.get(str(item))) is not None:
            read[at], right[at] = once.read[:, place].sum(), once.correct[:, place].sum()
    return replace(found, once_read=read, once_right=right)


def decided(readings: pl.DataFrame) -> set[str]:
    """The items that a person decided on."""
    of_person = pl.col("adjudication").fill_null("") != ""
    return {item for piece in pieces(readings) for item in piece.filter(of_person)["item"].unique()}


def _as_answered(readings: pl.DataFrame, found: Candidates) -> dict[str, str]:
    """By item whose answers are texts: the text that says most often what is agreed on."""
    panel = found.panel
    wanted = pl.DataFrame(
        {
            "item": [str(panel.items[item]) for item in found.items],
            "value": [str(panel.values[code]) for code in found.code],
        },
        schema={"item": pl.String, "value": pl.String},
    )
    who = pl.DataFrame(
        [(one.model, one.configuration) for one in panel.members],
        schema={"model": pl.String, "configuration": pl.String},
        orient="row",
    )
    said = [
        piece.filter((pl.col("state") == "ok") & (pl.col("answer_type") == "text"))
        .join(wanted, on=["item", "value"], how="semi")
        .join(who, on=["model", "configuration"], how="semi")
        .select("model", "configuration", "item", "sample", "text")
        for piece in pieces(readings)
    ]
    counts: dict[str, Counter[str]] = {}
    for item, text in pl.concat(said).unique().select("item", "text").iter_rows():
        counts.setdefault(item, Counter())[" ".join((text or "").split())] += 1
    shown = {item: min(texts, key=lambda text: (-texts[text], text)) for item, texts in counts.items()}
    return {item: text for item, text in shown.items() if 0 < len(text) <= _SHOWN and text.isprintable()}
