"""Sentences of the data statement that count: verdicts of classifiers, days of page views, faulty shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leadline.build.classify.labels import UNSURE, Classifier
from leadline.build.plan import ClassifierSection
from leadline.build.records import Fact, Verdict

_NO_LABEL = "no label of most answers"


def judged(classifier: Classifier, section: ClassifierSection, facts: Iterable[Fact]) -> str:
    """What was kept of what the classifier said, and what it said of the facts that are released."""
    enough = f"{section.agreement:.0%}"
    kept = f"at least {enough} of its answers had to be {classifier.keeps}"
    also = []
    if section.unstable == "keep":
        also.append("those on which fewer answers agreed, unless a label against them led")
    if section.unsure == "keep":
        also.append(f"those of which most answers are {UNSURE}")
    if also:
        kept += f"; kept as well were {', and '.join(also)}"
    said = list(facts)
    verdicts = [fact.verdicts[classifier.name] for fact in said if classifier.name in fact.verdicts]
    counts = [_label(label, verdicts, section) for label in (*classifier.labels, None)]
    if unasked := len(said) - len(verdicts):
        counts.append(f"not asked {unasked:,}")
    times = "once" if section.samples == 1 else f"{section.samples} times"
    return (
        f"judged {classifier.name}, {times} each; {kept}. "
        f"Of the {len(said):,} facts here: {', '.join(filter(None, counts))}."
    )


def _label(label: str | None, verdicts: list[Verdict], section: ClassifierSection) -> str:
    """ "RELEVANT 40 (3 of them below 80%)"."""
    ours = [one for one in verdicts if one.label == label]
    if not ours or label is None:
        return f"{_NO_LABEL} {len(ours):,}" if ours else ""
    below = sum(one.agreement < section.agreement for one in ours)
    return f"{label} {len(ours):,}" + (f" ({below:,} of them below {section.agreement:.0%})" if below else "")


def days(counts: Mapping[str, Any]) -> str:
    """How much of the window page views were counted of, by the counts of the stage; "" for all of it.

    >>> days({"days": {"counted": 6, "of": 31}})
    '6 of 31 days'
    """
    said = counts.get("days")
    if not said or said["counted"] == said["of"]:
        return ""
    return f"{said['counted']:,} of {said['of']:,} days"


def shards(counts: Mapping[str, Any]) -> str:
    """How much of the corpus was read, by the counts of the stage `scan`; "" where no shard was.

    >>> shards({"shards": 10, "documents": 9000, "faulty": {}, "faults": {}})
    '9,000 documents of 10 shards were read, without a fault.'
    """
    number = counts.get("shards", 0)
    if not number:
        return ""
    read = f"{counts['documents']:,} documents of {number:,} {'shard' if number == 1 else 'shards'} were read"
    faulty = counts["faulty"]
    if not faulty:
        return f"{read}, without a fault."
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts["faults"].items()))
    return (
        f"{read}; {len(faulty):,} of {number:,} shards had faults ({kinds}), and what could not be read "
        "there was not searched."
    )
