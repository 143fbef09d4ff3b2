"""Whether an answer that a person gives is read as its type says, told from what that person sees alone.

What is refused tells something: could the check look at the key, then whoever tries answers would be told of
it. So it takes the view of a labeller, in which there is no key, and compares an answer with nothing but
itself.
"""

from __future__ import annotations

from pydantic import ValidationError

from leadline.bench.item import Item
from leadline.bench.views import LabellerView
from leadline.study.judging import gold_fault

_DECLARED = ("answer_type", "fields", "vocabulary", "unit", "precision", "locale", "date_order")


def unreadable(view: LabellerView, answer: str) -> str:
    """Why an answer is none, "" for one that is read as its type. A text may say anything: that nobody knows,
    too.

    >>> unreadable(LabellerView("Is it free?", answer_type="boolean"), "no")
    ''
    """
    if not answer:
        return "there is no answer yet"
    declared = {name: value for name in _DECLARED if (value := getattr(view, name)) is not None}
    try:
        item = Item(id="row", question=view.question, answer=answer, **declared)
    except ValidationError as error:
        return str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
    fault = gold_fault(item)
    return f"this is not read as {view.how}: {fault}" if fault else ""
