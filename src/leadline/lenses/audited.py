"""What an audit's verdict and a person's decision mean to a lens, and which items a selection picks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from leadline.lenses.protocol import Selection

if TYPE_CHECKING:
    from leadline.lenses.panel import Panel

# Items that an audit looked at without flagging them: what could not be checked is not flagged.
UNFLAGGED = ("clean", "not checkable")
# Why an item is left out that a study names: its question or its label is no good, so it is in no group.
NAMED = "named"
# The same, where a person decided so: by name it is too, only with a reader, a date and a reason.
ADJUDICATED = ("adjudicated wrong", "adjudicated ambiguous")

Mask = npt.NDArray[np.bool_]


def flagged(panel: Panel) -> Mask:
    """Which items [items] the audit flags."""
    return ~np.isin(panel.audit, ("", *UNFLAGGED))


def clean(panel: Panel) -> Mask:
    """Which items [items] the audit looked at and does not flag."""
    return np.isin(panel.audit, UNFLAGGED)


def flagged_and_clean(panel: Panel) -> tuple[Mask, Mask]:
    """The two groups that an audit makes of everyone's panel [items]: flagged items, the population's rest.

    Flagged items are usually left out of the population, so they are taken from wherever they are; items that
    are left out by name or by a person's decision are in neither group.
    """
    return flagged(panel) & ~named(panel), clean(panel) & (panel.excluded == "")


def named(panel: Panel) -> Mask:
    """Which items [items] are left out of the population item by item: in study.yaml, or by a decision."""
    return np.isin(panel.excluded, (NAMED, *ADJUDICATED))


def adjudicated(panel: Panel) -> Mask:
    """Which items [items] a person's decision alone leaves out of the population."""
    return np.isin(panel.excluded, ADJUDICATED)


def chosen(panel: Panel, selection: Selection) -> Mask:
    """Which items [items] meet every condition of the selection."""
    mask = np.ones(len(panel.items), dtype=bool)
    if selection.audit:
        by_verdict = np.isin(panel.audit, selection.audit)
        if "flagged" in selection.audit:
            by_verdict |= flagged(panel)
        if "clean" in selection.audit:
            by_verdict |= clean(panel)
        mask &= by_verdict
    for wanted, of_items in (
        (selection.stated, panel.stated),
        (selection.categories, panel.categories),
        (selection.tasks, panel.tasks),
        (selection.answer_types, panel.answer_types),
        (selection.items, panel.items),
    ):
        if wanted:
            mask &= np.isin(of_items, wanted)
    return mask
