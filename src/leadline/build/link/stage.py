"""Linking: the names in facts become Wikidata ids, and facts that say the same become one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.link.index import TitleIndex, open_index, read_titles
from leadline.build.link.literals import read_date, read_quantity
from leadline.build.link.merge import Merging
from leadline.build.link.open import open_titles, title_files
from leadline.build.link.properties import Properties, properties
from leadline.build.link.spelling import canonical
from leadline.build.plan import Plan
from leadline.build.plan_file import file_of, files_of, where_in
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.workspace import StageFolder
from leadline.errors import UsageError

_ENTITY = re.compile(r"[QPL][1-9][0-9]*\Z")
_ITEMS = frozenset(("wikibase-item", "wikibase-property"))
_TEXTS = frozenset(("string", "monolingualtext", "external-id", "url"))


class LinkStage(FactStage):
    """Subject, relation, object and page get their ids; ids that the extractor gave stay.

    Dropped are facts whose subject, relation or object is not known (`subject-unknown`, `relation-unknown`,
    `object-unknown`) and those that an earlier fact says (`duplicate`): its sentences go to that one. Objects
    of relations whose values are no items are literals: they have a kind instead of an id.
    """

    name: ClassVar[str] = "link"
    after: ClassVar[tuple[str, ...]] = ("extract",)

    def settings(self, plan: Plan) -> object:
        """Which files are titles, dumps and relations; their content counts as input."""
        return plan.link.model_dump(mode="json")

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """Dumps, indexes and tables that the plan names."""
        relations = file_of(plan, "link", "relations")
        return (*title_files(plan), *([relations] if relations else []))

    def check(self, plan: Plan) -> None:
        """There are titles, unless ids come with recorded extractions; the user's small tables are read."""
        said = plan.link
        if plan.extract.method != "recorded" and not title_files(plan):
            raise UsageError(
                "link names no titles: page and page_props, wikimapper or titles",
                where=where_in(plan, "link"),
                fix="docs/building.md says where the dumps are",
            )
        for key in ("page", "page_props"):
            if (said.page or said.page_props or said.redirect) and not getattr(said, key):
                raise UsageError(
                    f"link.{key} is missing: an index of titles needs page and page_props",
                    where=where_in(plan, "link"),
                    fix="and redirect, if other names should be known: the three dumps of one date",
                )
        super().check(plan)
        properties(file_of(plan, "link", "relations"))
        for path in files_of(plan, "link", "titles"):
            read_titles(path)
        if made := file_of(plan, "link", "wikimapper"):
            open_index(made).close()

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """As all stages over facts; `titles` counts what an index built from dumps holds."""
        counts = dict(super().run(job, here, before))
        with open_titles(job.plan, job.work) as titles:
            held = titles.counts()
        return {**counts, "titles": held} if held else counts

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Link all facts, then give them back with duplicates merged."""
        known = properties(file_of(job.plan, "link", "relations"))
        titles = open_titles(job.plan, job.work, job.progress.note)
        with titles, Merging(job.work.stage(self.name).path / "merging") as merging:
            for fact in facts:
                result = self.link(fact, titles, known)
                if isinstance(result, Fact) and (first := merging.first(result)):
                    result = self.drop(result, "duplicate", first)
                merging.take(result)
            yield from merging.results()

    def link(self, fact: Fact, titles: TitleIndex, known: Properties) -> Fact | Drop:
        """One fact with its ids, or the reason why it has none."""
        page = fact.article_id or titles.entity(fact.title)
        subject = fact.subject_id
        if not subject and page and canonical(fact.subject) == canonical(fact.title):
            subject = page
        subject = subject or titles.entity(fact.subject)
        relation = fact.relation_id or known.id(fact.relation)
        found: dict[str, Any] = {"article_id": page, "subject_id": subject, "relation_id": relation}
        linked = fact.model_copy(update=found)
        if not relation:
            return self.drop(linked, "relation-unknown", fact.relation)
        if not subject:
            return self.drop(linked, "subject-unknown", _unknown(fact.subject, titles))
        value = _value(fact, known.datatype(relation), titles)
        if value is None:
            return self.drop(linked, "object-unknown", _unknown(fact.object, titles))
        return linked.model_copy(update=value)


def _value(fact: Fact, datatype: str | None, titles: TitleIndex) -> dict[str, Any] | None:
    """What the object is: an entity with its id, or a literal with its kind. None where it is neither.

    The relation decides: 1913 is a page, but of a relation whose values are times it is a year.
    """
    given = _given(fact)
    if datatype is None and given:
        return {"kind": "entity", "object_id": given}
    if datatype in ("time", None) and (date := read_date(fact.object)):
        return {"kind": "date", "object_id": None, "precision": date.precision}
    if datatype in ("quantity", None) and read_quantity(fact.object):
        return {"kind": "quantity", "object_id": None}
    if datatype in _TEXTS:
        return {"kind": "string", "object_id": None}
    if datatype in _ITEMS or datatype is None:
        given = given or titles.entity(fact.object)
    # Of other kinds, such as places on the map or words where a number should be, only given ids stay.
    return {"kind": "entity", "object_id": given} if given else None


def _given(fact: Fact) -> str | None:
    """The object's id as the extractor gave it; some give a date's value in its place."""
    return fact.object_id if fact.object_id and _ENTITY.match(fact.object_id) else None


def _unknown(name: str, titles: TitleIndex) -> str:
    if titles.empty:
        return f"{name}: the plan names no titles (link: page, wikimapper or titles)"
    return f"{name}: a disambiguation page" if titles.ambiguous(name) else name
