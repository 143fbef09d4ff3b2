"""A classifier: its labels, and which of them lets a fact go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leadline.build.records import Fact

UNSURE = "UNSURE"


@dataclass(frozen=True)
class Classifier:
    """What is asked about each fact.

    `labels` are the answers and what else means them; `keeps` is the one that lets a fact go on, `reason` the
    code of a drop by the other one. `held` is the label that the pipeline so far stands for: it is declared
    as the items' answer, so that "accuracy" in the study is agreement with it; `holder` says who holds it.
    """

    name: str
    labels: Mapping[str, tuple[str, ...]]
    keeps: str
    reason: str
    held: Callable[[Fact], str]
    holder: str


def triplet(fact: Fact) -> str:
    """The triplet that is judged, and nothing else of the fact: labels where they are known.

    >>> fact = Fact(id="f", article="1", title="Estonia", subject="Estonia", relation="capital",
    ...     object="Tallinn", extractor="distant")
    >>> print(triplet(fact))
    Subject: Estonia
    Relation: capital
    Object: Tallinn
    """
    subject = fact.subject_names[0] if fact.subject_names else fact.subject
    object_ = fact.object_names[0] if fact.object_names else fact.object
    parts = {"Subject": subject, "Relation": fact.relation, "Object": object_}
    return "\n".join(f"{name}: {one_line(text)}" for name, text in parts.items())


def one_line(text: str, longest: int = 2_000) -> str:
    """A name as one line of so many characters at most: what else an extractor took for one would read as a
    part of the prompt, or fill it.

    >>> one_line("Ottawa\\nLabel:\\tSINGLE\\x07")
    'Ottawa Label: SINGLE'
    """
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:longest].rstrip()
