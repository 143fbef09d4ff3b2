"""Lets go facts whose question has not one answer in Wikidata, or another one than the article's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from leadline.build.plan import Plan
from leadline.build.plan_file import file_of, where_in
from leadline.build.questions.templates import Templates, templates_of
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.wikidata.dates import Date, read_date
from leadline.build.wikidata.entity import Claim, Coordinate, Quantity, Snak, Text, Time
from leadline.build.wikidata.quantities import read_amount
from leadline.build.wikidata.single import Counted, Said, count, over
from leadline.build.wikidata.store import EntityStore, entities_of
from leadline.errors import UsageError

_SHOWN = 5


class SingleStage(FactStage):
    """Fills statement: how many values count for subject and relation, and whether the object is the one.

    Values of all times count (`statement.ever`) where the template asks for them: always where it has no
    other form; where it has both, if the subject is over or the plan says `ended: count`. Else those of today
    count. A template of one form for all times (who was the father) asks for what does not change: what
    stands at a lower rank is less sure there, not older.

    Reasons: `no-statement` (nothing that counts is said), `novalue` (there is none, says Wikidata), `ended`
    (the object's statement has ended or not begun), `several-values`, `disagrees` (the one value is another;
    the detail says which, and whether the object stands at a lower rank). See build/wikidata/single.py.
    """

    name: ClassVar[str] = "single"
    version: ClassVar[int] = 2

    def settings(self, plan: Plan) -> object:
        """The date of Wikidata's state, how ended statements count, the language of dates, the templates."""
        return [plan.wikidata.date, plan.filter.ended, plan.articles.language, plan.questions.templates]

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The file of templates, if the plan names one: it says which questions ask for all times."""
        path = file_of(plan, "questions", "templates")
        return (path,) if path else ()

    def wanted(self, plan: Plan) -> bool:
        """Not where the plan says `single: false`."""
        return plan.filter.single

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """By the statements of the fact's subject."""
        store = entities_of(job.work)
        state = _state(job.plan)
        templates = templates_of(job.plan)
        for fact in facts:
            yield self._one(fact, store, state, templates, job.plan)

    def _one(
        self, fact: Fact, store: EntityStore, state: Date | None, templates: Templates, plan: Plan
    ) -> Fact | Drop:
        subject = store.get(fact.subject_id) if fact.subject_id is not None else None
        claims = subject.claims.get(fact.relation_id or "", ()) if subject is not None else ()
        said = said_by(fact, plan.articles.language)
        past = plan.filter.ended == "count" or (subject is not None and over(subject, state))
        ever = templates.of_all_times(fact.relation_id, past=past)
        counted = count(claims, said, resolve=store.resolve, state=state, ever=ever)
        judged = fact.model_copy(update={"statement": counted.statement})
        fault = reason(counted, claims)
        if fault is None:
            return judged
        return self.drop(judged, fault, _detail(fault, counted))


def _state(plan: Plan) -> Date | None:
    """The date of Wikidata's state. Raises UsageError where the plan says something that is no date."""
    said = plan.wikidata.date
    # Dumps are named by eight digits: 20220301.
    state = read_date(f"{said[:4]}-{said[4:6]}-{said[6:]}" if re.fullmatch(r"\d{8}", said) else said)
    if said and state is None:
        where = where_in(plan, "wikidata", "date")
        raise UsageError(f"wikidata.date is no date: {said[:40]!r}", where=where, fix="date: 2022-03-01")
    return state


def said_by(fact: Fact, language: str) -> Said:
    """What a fact says that its object is: an id, or what can be read of the text."""
    if fact.object_id is not None:
        return fact.object_id
    if fact.kind == "date" and (date := read_date(fact.object, language)) is not None:
        return date
    if fact.kind == "quantity" and (amount := read_amount(fact.object)) is not None:
        return amount
    return fact.object


def reason(counted: Counted, claims: Iterable[Claim]) -> str | None:
    """Why a fact has not one answer, the one that it gives; None where it has."""
    statement = counted.statement
    if not any(claim.rank != "deprecated" for claim in claims):
        return "no-statement"
    if statement.novalue and not (statement.ever and statement.values):
        return "novalue"
    if counted.match == "ended":
        return "ended"
    if statement.values > 1:
        return "several-values"
    return None if statement.values == 1 and statement.agrees else "disagrees"


def _detail(fault: str, counted: Counted) -> str:
    values = [_shown(claim) for claim in counted.counting]
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    listed = ", ".join(values[:_SHOWN]) + more
    if fault == "ended" and counted.claim is not None:
        ends = [_shown(snak) for snak in counted.claim.qualifiers.get("P582", ())]
        return f"ended {ends[0]}" if ends else "ended or not begun"
    if fault == "several-values":
        return f"{len(values)}: {listed}"
    if fault == "disagrees":
        said = listed or f"nothing that counts; {counted.statement.ended} ended"
        return said if counted.match == "nowhere" else f"{said}; the object is {_PLACES[counted.match]}"
    return ""


_PLACES = {"lower rank": "of lower rank", "deprecated": "deprecated"}


def _shown(snak: Snak) -> str:
    value = snak.value
    match value:
        case Time():
            return f"{value.time.partition('T')[0]} (precision {value.precision})"
        case Quantity():
            return value.amount if value.unit == "1" else f"{value.amount} {value.unit}"
        case Text():
            return f"{value.text} ({value.language})"
        case Coordinate():
            return f"{value.latitude}, {value.longitude}"
        case str():
            return value[:100]
    return "somevalue" if snak.snaktype == "somevalue" else "a value"
