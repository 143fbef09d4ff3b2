"""What a page sends of a reading and of a decision: whether it can be kept, in words for who sent it."""

from __future__ import annotations

from leadline.bench.adjudications import Adjudication
from leadline.bench.item import MAX_CHARACTERS, Item
from leadline.bench.outcomes import NAMES, SETTLING, worded
from leadline.bench.views import LabellerView
from leadline.errors import UsageError
from leadline.review.answer_fields import (
    ANSWER,
    UNSETTLED,
    answer_in,
    is_unsettled,
    said_both,
    text_of,
    unanswered,
)
from leadline.review.decide import check_corrected
from leadline.review.drafts import Fields
from leadline.review.readable import unreadable

OUTCOMES = {outcome: worded(outcome).capitalize() for outcome in SETTLING}
WITHDRAWN = "withdrawn"
# Sent by the page that shows what was hidden, and by no other.
IS_DECISION = "outcome"


def faults_of_reading(view: LabellerView, fields: Fields) -> dict[str, str]:
    """By field; told from what the reader sees, so that no refusal tells anything of the key."""
    if both := said_both(view, fields):
        return {UNSETTLED: both}
    if is_unsettled(fields):
        return {}
    answer = answer_in(view, fields)
    place = ANSWER if view.answer_type != "parts" else ""
    if not answer:
        return {place: "Write what the text says, or say that it cannot settle the question."}
    if lacking := unanswered(view, fields):
        return {place: f"Not answered yet: {', '.join(lacking)}."}
    if len(answer) > MAX_CHARACTERS["answer"]:
        return {place: f"At most {MAX_CHARACTERS['answer']:,} characters."}
    if fault := unreadable(view, answer):
        return {place: f"{fault[:1].upper()}{fault[1:]}."}
    return {}


def faults_of_decision(item: Item, fields: Fields, standing: Adjudication | None) -> dict[str, str]:
    """By field; `standing` is the decision in force, which alone can be taken back."""
    outcome, reason, corrected = (text_of(fields, name) for name in ("outcome", "reason", "corrected"))
    faults = {}
    if outcome not in (*OUTCOMES, WITHDRAWN):
        faults["outcome"] = "Choose an outcome."
    elif outcome == WITHDRAWN and standing is None:
        faults["outcome"] = "There is no decision in force that could be taken back."
    if not reason:
        faults["reason"] = "Give the reason: others will want to follow it."
    if outcome == "upheld" and corrected:
        try:
            check_corrected(item, outcome, corrected)
        except UsageError as error:
            faults["corrected"] = f"{error.what[:1].upper()}{error.what[1:]}."
        if len(corrected) > MAX_CHARACTERS["answer"]:
            faults["corrected"] = f"At most {MAX_CHARACTERS['answer']:,} characters."
    return faults


def seen_by(fields: Fields) -> int | None:
    """How many decisions the page shows that this is sent from; None where it does not say."""
    seen = text_of(fields, "seen")
    return int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 9 else None


def decided_meanwhile(last: Adjudication) -> str:
    """What a reader is told whose page does not show `last` yet. Who opens it again has seen it, and may
    decide all the same."""
    return (
        f"{last.reader} has decided on this item since you opened this page ({NAMES[last.outcome]}): "
        "open it again to see why. What you wrote is kept."
    )
