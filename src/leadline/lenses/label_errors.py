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

from collections.abc import Sequence

import numpy as np

from leadline.lenses.contradicted import LEAST, SURE, Contradicted, contradicted, decided
from leadline.lenses.figures import count, share
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole

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
_ROWS = 200
# More names than this make no readable line.
_NAMED = 5


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
            f"{named(about.once)}. On {held or 'none'} of {_items(len(found.items))} one of them says the "
            f"label{'; such a candidate is not firm' if held else ''}."
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
