"""Which page a fact's subject has: whose views count, and whose title tells it from its namesakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from leadline.build.records import Fact
from leadline.build.workspace import Workspace


class Entities(Protocol):
    """Where entities are looked up; `get` gives something with `sitelinks` and `claims`, or None."""

    def get(self, id: str, /) -> Any: ...


class NoEntities:
    """A build without Wikidata."""

    def get(self, _: str) -> None:
        """Nothing is known."""


def entities(work: Workspace) -> Entities:
    """The entities that the stage of that name collected; none where it left none."""
    path = work.stage("entities").path / "entities.sqlite"
    if not path.exists():
        return NoEntities()
    from leadline.build.wikidata.store import EntityStore

    store: Entities = EntityStore(path)
    return store


def subject_is_page(fact: Fact) -> bool:
    """Whether a fact is about the page that it stands on."""
    if fact.subject_id is not None and fact.article_id is not None:
        return fact.subject_id == fact.article_id
    return fact.subject == fact.title


def subject_title(fact: Fact, store: Entities, wiki: str) -> str | None:
    """The title of the subject's page in `wiki` ("enwiki"); None where it has none or it is not known."""
    if subject_is_page(fact):
        return fact.title
    entity = store.get(fact.subject_id) if fact.subject_id is not None else None
    sitelinks: Mapping[str, str] = entity.sitelinks if entity is not None else {}
    return sitelinks.get(wiki)


def wiki_of(project: str) -> str:
    """The name that sitelinks have for a project.

    >>> wiki_of("en.wikipedia"), wiki_of("zh-yue.wikipedia")
    ('enwiki', 'zh_yuewiki')
    """
    language, _, kind = project.partition(".")
    return f"{language.replace('-', '_')}{'wiki' if kind in ('', 'wikipedia') else kind}"
