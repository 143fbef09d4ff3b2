"""What became of a fact: its history through the stages, to the benchmark or to its drop."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from leadline.build.parts import reading
from leadline.build.plan import Plan
from leadline.build.records import Drop, DroppedPage, Fact, Verdict
from leadline.build.standing import Standing, standing
from leadline.build.workspace import Workspace
from leadline.errors import UsageError

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


@dataclass(frozen=True)
class Found:
    """Histories of the facts that were asked for, and how many more there are."""

    histories: tuple[History, ...]
    more: int = 0


def histories(
    plan: Plan, work: Workspace, wanted: str, limit: int = 20, now: Standing | None = None
) -> Found:
    """The histories of the facts that `wanted` names.

    That is a fact's id, the id of its subject, relation, object or page (Q90, P36), or a part of one of its
    names, its relation or its question, whatever the case. At most `limit` of them, those that were extracted
    first. Stages that are out of date are not asked. Raises UsageError where nothing is asked for.
    """
    if not wanted.strip():
        raise UsageError("no fact is named", fix="an id, or a part of a subject, object, page or question")
    here = [work.stage(name) for name in (now or standing(plan, work)).current]
    here = [stage for stage in here if stage.kept.exists()]
    ids: dict[str, None] = {}  # in the order in which they were first seen
    for stage in here:
        for record in chain[Fact | Drop](stage.facts(), stage.drops()):
            fact = _fact(record)
            if fact.id not in ids and _is_named(fact, wanted):
                ids[fact.id] = None
    chosen = set(list(ids)[:limit])
    seen: dict[str, Fact] = {}
    events: dict[str, list[Event]] = {}
    for stage in here:
        for record in chain[Fact | Drop](stage.facts(), stage.drops()):
            fact = _fact(record)
            if fact.id not in chosen:
                continue
            before = seen.get(fact.id)
            seen[fact.id] = fact
            if isinstance(record, Drop):
                event = Event(stage.name, "dropped", _reason(record))
            else:
                event = Event(stage.name, "kept", _news(before, fact))
            events.setdefault(fact.id, []).append(event)
    told = tuple(History(seen[name], tuple(events[name])) for name in ids if name in chosen)
    return Found(told, len(ids) - len(told))


def pages(work: Workspace, wanted: str, limit: int = 20) -> list[DroppedPage]:
    """Pages of that title which never became articles."""
    dropped: list[DroppedPage] = []
    for part in work.stage("articles").parts("dropped"):
        dropped += [page for page in reading(part, DroppedPage) if page.title.casefold() == wanted.casefold()]
    return dropped[:limit]


def _fact(record: Fact | Drop) -> Fact:
    return record.fact if isinstance(record, Drop) else record


def _is_named(fact: Fact, wanted: str) -> bool:
    if wanted in (fact.id, fact.subject_id, fact.relation_id, fact.object_id, fact.article_id):
        return True
    text = wanted.casefold()
    said = (fact.subject, fact.relation, fact.object, fact.title, fact.question or "", *fact.object_names)
    return any(text in one.casefold() for one in said)


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
        f"{name}: {_verdict(verdict)}"
        for name, verdict in now.verdicts.items()
        if before.verdicts.get(name) != verdict
    ]
    if now.statement != before.statement and now.statement is not None:
        rank = "any rank and time" if now.statement.ever else f"rank {now.statement.rank}"
        changed.append(f"{now.statement.values} value of {rank} in Wikidata")
    if now.support != before.support:
        changed += [_presence(now)] if any(one.tier for one in now.support) else ["supports merged"]
    return ", ".join(changed)


def _verdict(verdict: Verdict) -> str:
    """ "SINGLE by 4 of 5 answers", "no majority of 3 answers (IRRELEVANT 1, UNSURE 1)"."""
    if verdict.label is not None:
        return f"{verdict.label} by {verdict.votes[verdict.label]} of {verdict.asked} answers"
    votes = ", ".join(f"{label} {number}" for label, number in sorted(verdict.votes.items()))
    return f"no majority of {verdict.asked} answers ({votes or 'none readable'})"


def _presence(fact: Fact) -> str:
    best = [one for one in fact.support if one.tier]
    occurrences = sum(one.occurrences for one in best)
    tiers = "/".join(sorted({str(one.tier) for one in best}))
    return f"{len(best)} of {len(fact.support)} sentences in the corpus ({tiers}), {occurrences:,} times"
