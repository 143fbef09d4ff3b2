"""What a page sends of a reading and of a decision: whether it can be kept, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from leadline.bench.adjudications import Adjudication, Read, label_hash
from leadline.bench.item import MAX_CHARACTERS, Item
from leadline.bench.views import for_labeller
from leadline.review.drafts import Fields
from leadline.review.readings import BlindReading
from leadline.study.judging import gold_fault, reading_of

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
        if len(corrected) > MAX_CHARACTERS["answer"]:
            faults["corrected"] = f"At most {MAX_CHARACTERS['answer']:,} characters."
        elif _says_the_label(item, corrected):
            faults["corrected"] = "This is the label as it stands; a wrong label has another answer, or none."
        elif fault := gold_fault(item.model_copy(update={"answer": corrected, "aliases": ()})):
            faults["corrected"] = f"This is not read as the item's type, {item.answer_type}: {fault}."
    return faults


def decision_of(
    item: Item,
    reader: str,
    reading: BlindReading,
    fields: Fields,
    read: Read | None = None,
    flag: Mapping[str, Any] | None = None,
) -> Adjudication:
    """The line that is kept, of fields without faults; today's date where the server is."""
    outcome = text_of(fields, "outcome")
    return Adjudication.model_validate(
        {
            "item": item.id,
            "outcome": outcome,
            "reader": " ".join(reader.split()),
            "date": datetime.now().astimezone().date().isoformat(),
            "reason": text_of(fields, "reason"),
            "label": label_hash(item),
            "reading": reading.in_words,
            "corrected": (text_of(fields, "corrected") or None) if outcome == "upheld" else None,
            "read": read,
            "flag": dict(flag or {}),
        }
    )


def _says_the_label(item: Item, corrected: str) -> bool:
    """A text that holds the label may still be another answer, so texts are the same letter by letter."""
    return corrected == item.answer or (
        item.answer_type != "text" and reading_of(item, corrected).correct_strict
    )
