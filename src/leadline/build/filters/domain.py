"""Finds a fact's domain: what Wikidata says its page is, by a table that users can edit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.wikidata.domains import CLASS, HUMAN, OCCUPATION, Decision, Domains, read_domains
from leadline.build.wikidata.store import entities_of
from leadline.errors import UsageError


class DomainStage(FactStage):
    """Fills domain and domain_rule (which line of the table decided).

    The page's entity decides; the subject's where the page has none. Reasons: `no-class` (it is an instance
    of nothing), `unmapped` (no class of it, nor one above it, is in the table). `unmapped: keep` in the plan
    keeps both, without a domain.
    """

    name: ClassVar[str] = "domain"

    def settings(self, plan: Plan) -> object:
        """The table, if it is the packaged one; a file of the user's is an input."""
        section = plan.filter.domain
        if section is None:
            return None
        if section.table is not None:
            return ["own", section.unmapped]
        table = read_domains()
        rules = [
            [one.domain, one.property, one.id] for rules in table.rules.values() for one in rules.values()
        ]
        return [table.names, rules, section.unmapped]

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The user's table."""
        table = _table(plan)
        return () if table is None else (table,)

    def check(self, plan: Plan) -> None:
        """The user's table is read."""
        if table := _table(plan):
            read_domains(table)

    def wanted(self, plan: Plan) -> bool:
        """Not where the plan says `domain: null`."""
        return plan.filter.domain is not None

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """By the page's classes, and those above them."""
        table = read_domains(_table(job.plan))
        store = entities_of(job.work)
        section = job.plan.filter.domain
        keep = section is not None and section.unmapped == "keep"

        @lru_cache(maxsize=100_000)
        def above(class_id: str) -> tuple[str, ...]:
            return store.above(class_id)

        @lru_cache(maxsize=10_000)
        def decided(entity_id: str) -> tuple[Decision | None, tuple[str, ...]]:
            entity = store.get(entity_id)
            if entity is None:
                return None, ()
            return table.decide(entity, above), _looked_at(table, entity)

        for fact in facts:
            decision, classes = decided(fact.article_id or fact.subject_id or "")
            if decision is not None:
                yield fact.model_copy(update={"domain": decision.rule.domain, "domain_rule": str(decision)})
            elif keep:
                yield fact
            elif classes:
                yield self.drop(fact, "unmapped", ", ".join(classes[:10]))
            else:
                yield self.drop(fact, "no-class", fact.article_id or fact.subject_id or fact.title)


def _looked_at(table: Domains, entity: object) -> tuple[str, ...]:
    from leadline.build.wikidata.entity import Entity

    if not isinstance(entity, Entity):
        return ()
    classes = table.values(entity, CLASS)
    return (*classes, *table.values(entity, OCCUPATION)) if HUMAN in classes else classes


def _table(plan: Plan) -> Path | None:
    name = plan.filter.domain.table if plan.filter.domain is not None else None
    if name is None:
        return None
    path = plan.folder / Path(name).expanduser()
    if not path.is_file():
        raise UsageError(
            f"filter.domain.table: no file is called {name}",
            where=where_in(plan, "filter", "domain", "table"),
            fix=f"relative to {plan.folder}",
        )
    return path
