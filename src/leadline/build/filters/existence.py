"""Lets go facts about entities that Wikidata has not, and learns what those that it has are called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from leadline.build.plan import Plan
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.wikidata.entity import Entity
from leadline.build.wikidata.store import EntityStore, entities_of


class ExistenceStage(FactStage):
    """Fills subject_names and object_names: label and aliases in the articles' language.

    Ids that were merged into others are replaced. Reasons: `subject-missing`, `object-missing` (the detail
    says whether the entity is gone or in no source), `self` (both were merged into one), `duplicate` (with
    the new ids it says what an earlier fact says; the detail is that fact's id).
    """

    name: ClassVar[str] = "existence"

    def settings(self, plan: Plan) -> object:
        """The language of the names."""
        return plan.articles.language

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """With the entities that the stage of that name left."""
        store = entities_of(job.work)
        language = job.plan.articles.language
        known: dict[int, str] = {}
        for fact in facts:
            yield self._one(fact, store, language, known)

    def _one(self, fact: Fact, store: EntityStore, language: str, known: dict[int, str]) -> Fact | Drop:
        changes: dict[str, Any] = {}
        subject = store.get(fact.subject_id) if fact.subject_id is not None else None
        if subject is None:
            return self.drop(fact, "subject-missing", _why(store, fact.subject_id, fact.subject))
        changes["subject_id"] = subject.id
        changes["subject_names"] = _names(subject, language, fact.subject)
        if fact.object_id is not None:
            held = store.get(fact.object_id)
            if held is None:
                return self.drop(fact, "object-missing", _why(store, fact.object_id, fact.object))
            changes["object_id"] = held.id
            changes["object_names"] = _names(held, language, fact.object)
        else:
            changes["object_names"] = (fact.object,)
        if fact.article_id is not None:
            changes["article_id"] = store.resolve(fact.article_id)
        kept = fact.model_copy(update=changes)
        if kept.subject_id == kept.object_id:
            return self.drop(kept, "self", f"both are {kept.subject_id}")
        # By hash: of ten million facts two are alike by chance in one of 300,000 builds.
        first = known.setdefault(hash_of(kept), fact.id)
        if first != fact.id:
            return self.drop(kept, "duplicate", first)
        return kept


def hash_of(fact: Fact) -> int:
    """A number for what a fact says: subject, relation and object, whoever says it."""
    relation = fact.relation_id or fact.relation
    said = "\x1f".join((fact.subject_id or fact.subject, relation, fact.object_id or fact.object))
    return int.from_bytes(hashlib.blake2b(said.encode(), digest_size=8).digest(), "big")


def _names(entity: Entity, language: str, surface: str) -> tuple[str, ...]:
    """What it is called; where it has no name in the language, what the article calls it."""
    return entity.names(language) or (surface,)


def _why(store: EntityStore, entity_id: str | None, surface: str) -> str:
    if entity_id is None:
        return f"{surface} has no id"
    return f"{entity_id} {'does not exist any more' if store.gone(entity_id) else 'is in no source'}"
