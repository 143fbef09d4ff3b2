"""What a page sends of a reading and of a decision: whether it can be kept, in words for who sent it."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.bench.adjudications import Adjudication
from leadline.bench.item import MAX_CHARACTERS, Item
from leadline.bench.views import for_labeller
from leadline.errors import UsageError
from leadline.review.decide import check_corrected
from leadline.review.drafts import Fields
from leadline.review.readings import same_reader
from leadline.study.judging import reading_of

OUTCOMES = {
    "upheld": "The doubt is right: the label is wrong",
    "rejected": "The doubt is wrong: the label stands",
    "excluded-ambiguous": "The item admits more than one reading",
}
WITHDRAWN = "withdrawn"
# Sent by the page that shows what was hidden, and by no other.
IS_DECISION = "outcome"


def text_of(fields: Fields, name: str) -> str:
    """A field as text that can be written to a file."""
    found = fields.get(name)
    return found.strip().encode("utf-8", "replace").decode() if isinstance(found, str) else ""


def faults_of_reading(item: Item, fields: Fields) -> dict[str, str]:
    """In words that tell nothing of the key."""
    answer = text_of(fields, "answer")
    if fields.get("unsettled"):
        return {}
    if not answer:
        return {"answer": "Write what the text says, or say that it cannot settle the question."}
    if len(answer) > MAX_CHARACTERS["answer"]:
        return {"answer": f"At most {MAX_CHARACTERS['answer']:,} characters."}
    if reading_of(item, answer).value is None:
        return {"answer": f"This cannot be read as an answer. Expected is {for_labeller(item).how}."}
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


def decided_since(fields: Fields, decisions: Sequence[Adjudication], reader: str) -> str:
    """That somebody else has decided on the item after the page was made, which says how many decisions it
    shows (`seen`); "" otherwise. Who opens the page again has seen it, and may decide all the same."""
    seen = text_of(fields, "seen")
    if not (seen.isascii() and seen.isdigit() and len(seen) < 9) or len(decisions) <= int(seen):
        return ""
    last = decisions[-1]
    if same_reader(last.reader, reader):
        return ""
    return (
        f"{last.reader} has decided on this item since you opened this page ({last.outcome}): "
        "open it again to see why. What you wrote is kept."
    )
