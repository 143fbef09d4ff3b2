"""What a build came to: domains, bins, relations, presence, and the funnel that led there."""

from __future__ import annotations

import statistics as numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.build.funnel import Step, as_json, funnel
from leadline.build.plan import Plan
from leadline.build.records import Fact
from leadline.build.standing import Standing, standing
from leadline.build.workspace import Workspace
from leadline.errors import UsageError

BINS = ("head", "torso", "tail", "buffer")


@dataclass(frozen=True)
class Statistics:
    """Counts over the facts that are left; each share is of `facts` unless it says otherwise.

    `sentences`: per tier, how many supporting sentences stand in the corpus; `occurrences`: smallest, median
    and largest number of times that a fact's sentences occur (None without a corpus). `classifiers`: what
    each classifier said, over all facts that it judged, with its mean agreement. `last_stage` is the one
    whose facts are counted ("" where none is current), `out_of_date` the first that the plan wants otherwise
    than it stands there (None where there is none).
    """

    name: str
    version: str
    facts: int
    subjects: int
    pages: int
    domains: Mapping[str, int]
    bins: Mapping[str, int]
    relations: Mapping[str, int]
    answer_types: Mapping[str, int]
    domains_by_bin: Mapping[str, Mapping[str, int]]
    sentences: Mapping[str, int]
    occurrences: tuple[int, float, int] | None
    classifiers: Mapping[str, Mapping[str, Any]]
    last_stage: str
    out_of_date: str | None
    funnel: tuple[Step, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as data."""
        return {**vars(self), "funnel": as_json(self.funnel)}

    def lines(self) -> list[str]:
        """The same for a terminal."""
        said = [
            f"{self.name} {self.version}: {self.facts:,} facts, "
            f"{self.subjects:,} subjects, {self.pages:,} pages"
        ]
        for title, counts in (
            ("domains", self.domains),
            ("bins", self.bins),
            ("relations", self.relations),
            ("answers", self.answer_types),
            ("sentences in the corpus", self.sentences),
        ):
            if counts:
                said.append(f"{title}: " + ", ".join(f"{name} {number:,}" for name, number in counts.items()))
        if self.occurrences:
            low, middle, high = self.occurrences
            said.append(f"a fact's sentences occur {low:,} to {high:,} times, {middle:,.0f} in the median")
        for name, judged in self.classifiers.items():
            labels = ", ".join(f"{label} {number:,}" for label, number in judged["labels"].items())
            said.append(
                f"{name}: {judged['facts']:,} facts judged, {labels}, "
                f"mean agreement {judged['agreement']:.3f} of {judged['asked']:,} answers each"
            )
        return said


def statistics(plan: Plan, work: Workspace, now: Standing | None = None) -> Statistics:
    """Count what is left after the last stage that is current.

    Raises UsageError where nothing is there; what is out of date leaves nothing to count.
    """
    now = now or standing(plan, work)
    ended = [name for name in now.current if work.stage(name).kept.exists()]
    if not ended and not now.stale:
        raise UsageError("nothing is built yet", where=str(plan.file), fix=f"leadline build run {plan.file}")
    facts = list(work.stage(ended[-1]).facts()) if ended else []
    occurrences = [sum(one.occurrences for one in fact.support) for fact in facts]
    looked_for = any(one.tier for fact in facts for one in fact.support)
    return Statistics(
        name=plan.name,
        version=plan.version,
        facts=len(facts),
        subjects=len({fact.subject_id or fact.subject for fact in facts}),
        pages=len({fact.article for fact in facts}),
        domains=_counted(fact.domain for fact in facts),
        bins=_in_order(_counted(fact.bin for fact in facts), BINS),
        relations=_counted(fact.relation for fact in facts),
        answer_types=_counted(fact.answer_type for fact in facts),
        domains_by_bin=_by_bin(facts),
        sentences=_counted(one.tier for fact in facts for one in fact.support),
        occurrences=(min(occurrences), numbers.median(occurrences), max(occurrences)) if looked_for else None,
        classifiers=_classifiers(work, ended),
        last_stage=ended[-1] if ended else "",
        out_of_date=now.first if now.stale else None,
        funnel=funnel(plan, work, now),
    )


def _counted(values: Iterable[str | None]) -> dict[str, int]:
    """How often each occurs, most first; those that are not known do not count."""
    counts = Counter(value for value in values if value is not None)
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _in_order(counts: Mapping[str, int], order: Iterable[str]) -> dict[str, int]:
    return {name: counts[name] for name in order if name in counts}


def _by_bin(facts: list[Fact]) -> dict[str, dict[str, int]]:
    domains: dict[str, Counter[str]] = {}
    for fact in facts:
        if fact.domain is not None and fact.bin is not None:
            domains.setdefault(fact.domain, Counter())[fact.bin] += 1
    return {name: _in_order(domains[name], BINS) for name in sorted(domains)}


def _classifiers(work: Workspace, ended: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the classifiers said of all that they judged, dropped facts included."""
    told: dict[str, dict[str, Any]] = {}
    for name in ("relevance", "cardinality"):
        here = work.stage(name)
        if name not in ended:
            continue
        judged = [fact.verdicts[name] for fact in here.facts() if name in fact.verdicts]
        judged += [drop.fact.verdicts[name] for drop in here.drops() if name in drop.fact.verdicts]
        if judged:
            told[name] = {
                "facts": len(judged),
                "asked": judged[0].asked,
                "labels": _counted(verdict.label or "no majority" for verdict in judged),
                "agreement": sum(verdict.agreement for verdict in judged) / len(judged),
            }
    return told
