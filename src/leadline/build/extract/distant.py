"""Distant supervision: a sentence that names two items states what Wikidata holds between them.

As T-REx does (Elsahar et al., "T-REx: A Large Scale Alignment of Natural Language with Knowledge Base
Triples", LREC 2018): mentions come from links, the page's title and pronouns for it, and each pair of
mentions between which there is a statement gives a triplet. No weights are needed. That the sentence says
what the statement says is assumed, and is wrong now and then: "She died in Paris" also names where she lived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from leadline.build.extract.extractor import Extracted, Extractor, Passage
from leadline.build.extract.mentions import Mention, Titles, mentions, named_in
from leadline.build.extract.names import composed, spans
from leadline.build.plan import Plan
from leadline.build.records import Triplet
from leadline.build.workspace import Workspace

if TYPE_CHECKING:
    from leadline.build.wikidata.entity import Entity, Time

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class Entities(Protocol):
    """Where entities are looked up: an `EntityStore`."""

    def get(self, entity_id: str) -> Entity | None:
        """The entity, redirects followed."""


class Labels(Protocol):
    """What properties are called."""

    def label(self, property_id: str, /) -> str | None:
        """The label of a property."""


@dataclass(frozen=True)
class _Known:
    """What is needed of an entity: its names, and its statements the other way round."""

    id: str
    names: tuple[str, ...]
    items: dict[str, tuple[str, ...]]  # value to properties
    times: tuple[tuple[str, str], ...]  # property, date as it is written


_NOTHING = _Known("", (), {}, ())


class DistantExtractor(Extractor):
    """Aligns sentences with statements.

    Deprecated statements count for nothing; all others do, for which of several values is right today is
    asked later. Dates are found in any spelling of the statement's own precision: a day where the statement
    has a day. In a sentence without links (out of a corpus) items are found by what they are called:
    capitalised words that are a title, and values of the statements of what was found, by all their names.
    """

    name = "distant"
    unit = "sentence"

    def __init__(self, titles: Titles, entities: Entities, labels: Labels, language: str = "en") -> None:
        """`titles` and `entities` are those of the build, `labels` what relations are called."""
        self._titles, self._entities, self._labels, self._language = titles, entities, labels, language
        self._known = lru_cache(maxsize=50_000)(self._look_up)

    def read(self, passages: Sequence[Passage]) -> list[Extracted]:
        """As `Extractor.read`."""
        return [Extracted(tuple(self._triplets(passage))) for passage in passages]

    def _triplets(self, passage: Passage) -> list[Triplet]:
        page = passage.entity or self._titles.entity(passage.title)
        known = self._known(page) if page is not None else _NOTHING
        found = mentions(passage, page, known.names, self._titles, lambda one: self._known(one).names)
        if passage.links is None:
            found += self._values(passage.text, found)
        triplets: dict[Triplet, None] = {}
        for subject in found:
            of = self._known(subject.entity)
            for object_ in found:
                ids = (object_.entity, self._known(object_.entity).id)
                properties = dict.fromkeys(one for id_ in ids for one in of.items.get(id_, ()))
                if subject is object_ or subject.entity in ids or object_.pronoun:
                    continue
                for property_id in properties:
                    triplets[self._triplet(subject, property_id, object_.surface, object_.entity)] = None
            for property_id, written in of.times:
                if surface := _spelt(passage.text, written):
                    triplets[self._triplet(subject, property_id, surface, None)] = None
        return list(triplets)

    def _triplet(self, subject: Mention, property_id: str, surface: str, entity: str | None) -> Triplet:
        return Triplet(
            subject=subject.surface,
            relation=self._labels.label(property_id) or property_id,
            object=surface,
            subject_id=subject.entity,
            relation_id=property_id,
            object_id=entity,
        )

    def _values(self, text: str, found: Sequence[Mention]) -> list[Mention]:
        """Values of what was found whose names stand in a sentence without links, capital or not."""
        more: dict[str, Mention] = {}
        there = {one.entity for one in found}
        for subject in found:
            for value in self._known(subject.entity).items:
                if value not in there and value not in more:
                    surface = named_in(text, (*self._known(value).names, *self._titles.titles(value)))
                    if surface is not None:
                        more[value] = Mention(surface, value)
        return list(more.values())

    def _look_up(self, entity_id: str) -> _Known:
        entity = self._entities.get(entity_id)
        return _Known(entity_id, (), {}, ()) if entity is None else _known(entity, self._language)


def _known(entity: Entity, language: str) -> _Known:
    from leadline.build.wikidata.entity import Time

    items: dict[str, dict[str, None]] = {}
    times: dict[tuple[str, str], None] = {}
    for property_id, claims in entity.claims.items():
        for claim in claims:
            if claim.rank == "deprecated" or claim.snaktype != "value":
                continue
            if claim.entity is not None and claim.entity.startswith("Q"):
                items.setdefault(claim.entity, {})[property_id] = None
            elif isinstance(claim.value, Time) and (written := _date(claim.value)):
                times[property_id, written] = None
    return _Known(
        entity.id,
        entity.names(language),
        {value: tuple(properties) for value, properties in items.items()},
        tuple(times),
    )


def _date(time: Time) -> str | None:
    """A date as English writes it, to its own precision; None for what is coarser than a year or BC."""
    year, month, day = time.time[1:].split("T")[0].split("-")
    if not time.time.startswith("+") or not 100 <= int(year) <= 9999 or time.precision < 9:
        return None
    year = str(int(year))
    if time.precision == 9 or not 1 <= int(month) <= 12:
        return year if time.precision == 9 else None
    name = _MONTHS[int(month) - 1]
    return f"{name} {year}" if time.precision == 10 else f"{int(day)} {name} {year}"


def _spelt(text: str, written: str) -> str | None:
    """A date as it stands in `text`, in any spelling; the year decides soon where it does not."""
    if written[-4:].lstrip() not in text:
        return None
    for start, end in spans(text, written):
        return " ".join(composed(text)[start:end].split())
    return None


def distant_extractor(plan: Plan, work: Workspace) -> DistantExtractor:
    """With the build's own index of titles and the entities that `prepare_distant` left."""
    from leadline.build.extract.wanted import entities_ready
    from leadline.build.link.open import open_titles
    from leadline.build.link.properties import properties
    from leadline.build.plan_file import file_of

    return DistantExtractor(
        open_titles(plan, work),
        entities_ready(plan, work),
        properties(file_of(plan, "link", "relations")),
        plan.articles.language,
    )
