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
    # A name is one line: what else stands in it would read as a part of the prompt.
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in parts.items())
