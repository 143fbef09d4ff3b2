"""Which labels should a person look at again, because the configurations agree against them?

On each item every configuration has a modal answer. Where all of them (or all but one, from three
configurations on) give the same one, and it is not correct, the item is a candidate: it may be that the label
is wrong, the question ambiguous, or a mistake that models share. Two things must hold besides: each of these
configurations gives that answer more often than a correct one (a tie with the label is no opinion against
it), and all configurations together have more readings that say so, of those that agree, than correct ones. A
flag is a candidate for a person, never a correction. Answers of different configurations are compared by the
item's own rule over all of them together.

Support = readings that say so, of the configurations that hold the answer, over the readings of all of them.
The floor is the configuration that backs its own modal answer with the fewest readings, over all (a dissenter
included): the weakest leg that the agreement stands on; of equally few the smaller share of its readings,
then the first configuration.

A candidate is *firm* when more than half of all readings support it, the weakest leg is more than half of its
configuration's readings, and no configuration's own modal answer is correct: what one of them says for the
label is not outvoted by the others. Without a firm one the claim is not supported.

Where two configurations or more were asked repeatedly, those are compared: one reading is no measure of what
a configuration says most often. Who was asked once has no part in agreement, support and floor, but is heard:
`once_for_label` counts those whose answer is the label, and with one of them a candidate is not firm.

An item is looked at only where every configuration was read at least once; excluded and flagged items are
looked at as well, those that a person decided on are not: they are counted. Order: unanimous first, then by
the share of readings that support.

`value` is the answer agreed on; a text, whose value is a normal form, is shown as it was answered most often
(of equally frequent ones the first in order), on one line, where that is no longer than sixty characters.
Source: Probity, its list of label errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import count, share
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.frame import pieces
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole

Ints = npt.NDArray[np.int64]

DEFINITION = (
    "Items on which all configurations, or all but one, agree on an answer that is not correct. Support: "
    "readings that say so of the configurations that agree, over the readings of all. Floor: readings for "
    "its own most frequent answer of the configuration that has the fewest, and out of how many. Agree: "
    "configurations of that opinion, each with more readings for it than for the label. For label: correct "
    "readings, over the readings of all; fewer than support. Firm: support and floor are both above one "
    "half, and no configuration's most frequent answer is the label. Where two configurations or more were "
    "asked repeatedly, these are meant by all; for label, asked once: of the others with a readable answer, "
    "those that say the label, which a firm candidate has none of. A flag is a candidate for a person, never "
    "a correction."
)
LEAST = 2
# One dissenter is a near miss only where at least two others agree.
_LEAST_WITH_DISSENT = 3
# From this share of its readings on, every configuration is sure of what it says.
SURE = 0.9
# What the dissenter says.
LABEL, OTHER = "the label", "something else"
_ROWS = 200
# A longer text says more than its value.
_SHOWN = 60
# More names than this make no readable line.
_NAMED = 5


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


def whole(study: Whole) -> list[Finding]:
    """The finding `candidates`; none for fewer than two configurations."""
    about = contradicted(study, undecided=True)
    if about is None:
        return []
    return [
        Finding(
            lens="label_errors",
            table="candidates",
            model=ALL_MODELS,
            title="Labels that a person should look at again",
            definition=DEFINITION,
            rows=tuple(_rows(about)),
            claims=(_claim(about),),
            notes=tuple(_notes(study, about)),
        )
    ]


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


def _rows(about: Contradicted) -> list[Row]:
    found = about.found
    panel = found.panel
    rows = []
    tops, of = found.floor
    for at, item in enumerate(found.items[:_ROWS]):
        dissenter, dissent = about.dissenter(at)
        keys = {
            "item": str(panel.items[item]),
            "task": str(panel.tasks[item]),
            "value": about.value(at),
            "dissenter": dissenter,
            "dissent": dissent,
            "weakest": about.labels[found.weakest[at]],
            "excluded": str(panel.excluded[item]),
        }
        support = int(found.support[at]), int(found.readings[at])
        figures = {
            "support": Figure(
                value=support[0] / support[1],
                numerator=support[0],
                denominator=support[1],
                method="share of readings, no interval: readings of one configuration resemble each other",
            ),
            "floor": share(int(tops[at]), int(of[at])),
            "agree": count(int(found.agree[at]), of=len(about.labels)),
            "for_label": count(int(found.right[at]), of=support[1]),
        }
        if about.once:
            figures["once_for_label"] = count(int(found.once_right[at]), of=int(found.once_read[at]))
        rows.append(Row(keys=keys, figures=figures))
    return rows


def _claim(about: Contradicted) -> Claim:
    found = about.found
    number, unanimous, sure = len(found.items), int(found.unanimous.sum()), int(found.sure.sum())
    members = len(found.panel.members)
    text = "Labels that a person should look at again, since the configurations agree against them"
    point = f"{_items(number)}, {unanimous} unanimously"
    if len({one.kin for one in found.panel.members}) < LEAST:
        return Claim(
            text=f"{text}: {point}; but all {members} configurations are of one family of models, which "
            "shares its mistakes.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point=point,
        )
    if not number:
        return Claim(text=f"{text}: none.", status=ClaimStatus.NOT_SUPPORTED, point="0 items")
    tops, of = found.floor
    least = int(np.argmin(tops))
    firm = int(found.firm.sum())
    how = "by most readings of all and of the weakest configuration, with no configuration for the label"
    again, once = "", ""
    if about.once:
        again = " that were asked repeatedly"
        held = int((found.once_right > 0).sum())
        once = f"; on {held or 'none'} a configuration that was asked once says the label"
    return Claim(
        text=f"{text}: {point} of {members} configurations{again}; {firm or 'none'} {how}{once}. "
        "Candidates, not corrections.",
        status=ClaimStatus.SUPPORTED if firm else ClaimStatus.NOT_SUPPORTED,
        point=point,
        conservative=f"{sure} with all configurations{again} at {SURE:.0%} or more of their readings"
        f"{' and none asked once for the label' if once else ''}; weakest "
        f"support anywhere {tops[least]} of {of[least]} readings",
    )


def named(names: Sequence[str]) -> str:
    """The first few of many names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _items(number: int) -> str:
    return f"{number} item" if number == 1 else f"{number} items"


def _notes(study: Whole, about: Contradicted) -> list[str]:
    notes = ["A flag is a candidate for a person, never a correction.", *caveats(study, about)]
    if len(about.found.items) > _ROWS:
        notes.append(f"{len(about.found.items) - _ROWS} more candidates are not listed.")
    if settled := len(decided(study.everyone)):
        notes.append(f"Not looked at, since a person decided on them: {_items(settled)}.")
    return notes


def caveats(study: Whole, about: Contradicted) -> list[str]:
    """What a reader of the candidates has to know of the answers that they come from."""
    notes = []
    found, members = about.found, len(about.labels)
    kin = len({one.kin for one in found.panel.members})
    if members < 5 or kin < 3:
        notes.append(
            f"{members} configurations of {kin} {'family' if kin == 1 else 'families'} of models: so few "
            "agree by sharing a mistake as easily as by the label being wrong."
        )
    if about.once:
        held = int((found.once_right > 0).sum())
        notes.append(
            f"Asked once, and so not among the {members} configurations that are compared: "
            f"{named(about.once)}. On {held or 'none'} of {_items(len(found.items))} one of these says the "
            f"label{', which is then not firm' if held else ''}."
        )
    if found.undecidable:
        notes.append(
            f"Not decidable, as some configuration has no reading of it: {_items(found.undecidable)}."
        )
    if not study.repeated:
        notes.append(
            "Nothing was asked twice: the modal answer is the only one, and the floor is one reading."
        )
    return notes


LENS = Lens("label_errors", order=59, whole=whole)
