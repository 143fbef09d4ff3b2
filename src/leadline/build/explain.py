"""What became of a fact: its history through the stages, to the benchmark or to its drop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leadline.build.parts import reading
from leadline.build.plan import Plan
from leadline.build.records import Drop, DroppedPage, Fact
from leadline.build.stages import stages
from leadline.build.workspace import Workspace

# What is told of a fact where a stage changed it, by field: the rest is in the ledger.
_TOLD = {
    "subject_id": "subject is",
    "relation_id": "relation is",
    "object_id": "object is",
    "kind": "kind",
    "domain": "domain",
    "domain_rule": "by rule",
    "bin": "bin",
    "views": "views",
    "question": "question",
    "answer": "answer",
}


@dataclass(frozen=True)
class Event:
    """What one stage did with a fact: "kept", with what it found out, or "dropped" with a reason."""

    stage: str
    outcome: str
    words: str


@dataclass(frozen=True)
class History:
    """A fact, as it was last seen, and what became of it."""

    fact: Fact
    events: tuple[Event, ...]


def histories(plan: Plan, work: Workspace, wanted: str, limit: int = 20) -> list[History]:
    """The histories of the facts that `wanted` names: an id, or a part of subject, object, title or question.

    At most `limit` of them, those of the earliest articles. [] where no stage has seen such a fact.
    """
    ended = [stage for stage in stages() if stage.wanted(plan) and work.stage(stage.name).done()]
    found: dict[str, Fact] = {}
    events: dict[str, list[Event]] = {}
    for stage in ended:
        here = work.stage(stage.name)
        if not here.kept.exists():
            continue
        for record in (*_those(here.facts(), wanted, found), *_those(here.drops(), wanted, found)):
            fact = record.fact if isinstance(record, Drop) else record
            if fact.id not in found and len(found) >= limit:
                continue
            before = found.get(fact.id)
            found[fact.id] = fact
            if isinstance(record, Drop):
                event = Event(stage.name, "dropped", _reason(record))
            else:
                event = Event(stage.name, "kept", _news(before, fact))
            events.setdefault(fact.id, []).append(event)
    return [History(fact, tuple(events[name])) for name, fact in found.items()]


def pages(work: Workspace, wanted: str, limit: int = 20) -> list[DroppedPage]:
    """Pages of that title which never became articles."""
    dropped: list[DroppedPage] = []
    for part in work.stage("articles").parts("dropped"):
        dropped += [page for page in reading(part, DroppedPage) if page.title.casefold() == wanted.casefold()]
    return dropped[:limit]


def _those(records: Iterator[Any], wanted: str, found: dict[str, Fact]) -> Iterator[Any]:
    """The records of facts that are followed already or that `wanted` names."""
    text = wanted.casefold()
    for record in records:
        fact = record.fact if isinstance(record, Drop) else record
        said = (fact.subject, fact.object, fact.title, fact.question or "", *fact.object_names)
        if fact.id in found or fact.id == wanted or any(text in one.casefold() for one in said if one):
            yield record


def _reason(drop: Drop) -> str:
    return f"{drop.reason}: {drop.detail}" if drop.detail else drop.reason


def _news(before: Fact | None, now: Fact) -> str:
    """What a stage found out of a fact; of a fact that is new, what was extracted."""
    if before is None:
        where = f", {len(now.support):,} sentences" if len(now.support) > 1 else ""
        return f"{now.subject} | {now.relation} | {now.object}, by {now.extractor}{where}"
    changed = [
        f"{words} {getattr(now, name)}"
        for name, words in _TOLD.items()
        if getattr(now, name) != getattr(before, name) and getattr(now, name) is not None
    ]
    changed += [
        f"{name}: {verdict.label} by {verdict.votes.get(verdict.label or '', 0)} of {verdict.asked} answers"
        for name, verdict in now.verdicts.items()
        if before.verdicts.get(name) != verdict
    ]
    if now.statement != before.statement and now.statement is not None:
        changed.append(f"{now.statement.values} value of rank {now.statement.rank} in Wikidata")
    if now.support != before.support:
        changed += [_presence(now)] if any(one.tier for one in now.support) else ["supports merged"]
    return ", ".join(changed)


def _presence(fact: Fact) -> str:
    best = [one for one in fact.support if one.tier]
    occurrences = sum(one.occurrences for one in best)
    tiers = "/".join(sorted({str(one.tier) for one in best}))
    return f"{len(best)} of {len(fact.support)} sentences in the corpus ({tiers}), {occurrences:,} times"
