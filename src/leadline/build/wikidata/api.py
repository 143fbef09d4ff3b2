"""Entities from a Wikibase API: 50 ids a request, no faster than it likes, each asked for once.

    GET api.php?action=wbgetentities&ids=Q42|Q2112&props=info|labels|aliases|claims|sitelinks&maxlag=5

Sources: https://www.wikidata.org/w/api.php?action=help&modules=wbgetentities,
https://www.mediawiki.org/wiki/API:Etiquette (one request at a time, maxlag, a user agent with a contact),
https://www.mediawiki.org/wiki/Manual:Maxlag_parameter.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.build.extra import needed
from leadline.build.wikidata.entity import ANY_LANGUAGE, id_order, is_entity_id
from leadline.build.wikidata.json_form import Found, entities_in
from leadline.documents.courtesy import Pace
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.request import (
    PASSING_STATUS,
    Failed,
    Passing,
    asked,
    passing,
    patiently,
    status_line,
)
from leadline.errors import LeadlineError, UsageError

if TYPE_CHECKING:
    import httpx2

_AT_ONCE = 50  # what the API takes from everybody
_MAXLAG = 5  # seconds that the replicas may lag behind, as the etiquette asks for
_LARGEST = 1 << 28  # bytes; 50 large entities are some 50 MB
# Errors that are told with status 200 and pass.
_PASSING_CODES = frozenset(("maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"))


@dataclass(frozen=True)
class EntityApi:
    """Asks `url` for entities. Answers are kept in `cache`, an SQLite file: an interrupted run goes on.

    What is in the cache is not asked for again, however old: a build is of one state of Wikidata. Delete the
    file for another.
    """

    url: str
    settings: FetchSettings
    cache: Path
    languages: tuple[str, ...]

    def entities(
        self, ids: Iterable[str], progress: Callable[[int], None] = lambda done: None
    ) -> Iterator[Found]:
        """What the API says of each id, in the order of the ids' numbers.

        `progress` is told how many ids are settled. Raises UsageError for a URL that is none, LeadlineError
        where the API cannot be asked; what was answered until then is in the cache.
        """
        import httpx2

        wanted = sorted({one for one in ids if is_entity_id(one)}, key=id_order)
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        pace = Pace(1 / self.settings.rate)
        headers = {"user-agent": self.settings.user_agent, "accept": "application/json"}
        with (
            closing(sqlite3.connect(self.cache)) as database,
            httpx2.Client(timeout=self.settings.timeout, follow_redirects=False, headers=headers) as client,
        ):
            kept = _Cache(database, f"{self.url} {' '.join(self.languages)}")
            lacking = [one for one in wanted if not kept.has(one)]
            progress(len(wanted) - len(lacking))
            for batch in _batches(lacking):
                kept.put(self._asked(client, pace, batch))
                progress(len(batch))
            for one in wanted:
                said = kept.get(one)
                yield from entities_in({"entities": {one: said}}, self.languages)

    def _asked(self, client: httpx2.Client, pace: Pace, ids: Collection[str]) -> dict[str, Any]:
        """The API's JSON object of each id, also of those that it has not."""
        import httpx2

        wikis = "|".join(f"{language.replace('-', '_')}wiki" for language in self.languages)
        query = {
            "action": "wbgetentities",
            "format": "json",
            "ids": "|".join(ids),
            "props": "info|labels|aliases|claims|sitelinks|datatype",
            "languages": "|".join((*self.languages, ANY_LANGUAGE)),
            "sitefilter": wikis,
            "maxlag": str(_MAXLAG),
        }
        try:
            target = httpx2.URL(self.url, params=query)
        except (httpx2.InvalidURL, ValueError) as error:
            raise UsageError(f"wikidata.api is no address: {error}", where=self.url[:200]) from None
        if target.scheme not in ("http", "https") or not target.host:
            raise UsageError(
                "wikidata.api is no address", where=self.url[:200], fix="https://www.wikidata.org/w/api.php"
            )
        try:
            said = patiently(lambda: _once(client, pace, target), pace, self.settings)
        except Passing as failure:
            raise LeadlineError(
                failure.reason, where=self.url, fix="run it again later: what was answered is kept"
            ) from None
        except Failed as failure:
            raise LeadlineError(failure.reason, where=self.url) from None
        return _by_id(said, ids, self.url)


def _batches(ids: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield tuple(ids[start : start + _AT_ONCE])


def _once(client: httpx2.Client, pace: Pace, target: httpx2.URL) -> dict[str, Any]:
    with asked(client, pace, target, {}) as answer:
        if answer.status_code in PASSING_STATUS:
            raise passing(answer)
        body = bytearray()
        for piece in answer.iter_bytes():
            body += piece
            if len(body) > _LARGEST:
                raise Failed("answers more than 50 entities would be", answer.status_code)
        if answer.status_code != 200:
            raise Failed(f"the API answers {status_line(answer.status_code)}", answer.status_code)
    try:
        said = json.loads(bytes(body))
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise Failed("the API answers no JSON: is this the address of api.php?", answer.status_code)
    fault = said.get("error")
    if isinstance(fault, dict):
        code, info = (_line(fault.get(key)) for key in ("code", "info"))
        if code in _PASSING_CODES:
            # As Passing, with the wait that it asks for: replicas that lag are given time to catch up.
            wait = passing(answer).after
            raise Passing(f"the API says {code}: {info}"[:300], target.host, 200, wait)
        raise Failed(f"the API says {code}: {info}"[:300], 200)
    return said


def _line(said: object) -> str:
    """A text of the server's, on one line and without what a terminal would obey."""
    words = " ".join(str(said or "").split())
    return "".join(character for character in words if character.isprintable())


def _by_id(said: dict[str, Any], ids: Collection[str], url: str) -> dict[str, Any]:
    entities = said.get("entities")
    if not isinstance(entities, dict):
        raise LeadlineError("answers without entities", where=url, fix="is this the API of a Wikibase?")
    found: dict[str, Any] = {}
    for key, entity in entities.items():
        if not isinstance(entity, dict):
            continue
        found[key] = entity
        # A merged entity comes under its old id, under its new one, or both, as the API's version has it.
        moved = entity.get("redirects")
        if isinstance(moved, dict) and isinstance(moved.get("from"), str):
            found[moved["from"]] = entity
    lacking = [one for one in ids if one not in found]
    if lacking:
        raise LeadlineError(f"says nothing of {', '.join(lacking[:3])}", where=url, fix="try again later")
    return {one: found[one] for one in ids}


class _Cache:
    """Answers by id, packed. Several APIs and languages share a file."""

    def __init__(self, database: sqlite3.Connection, of: str) -> None:
        zstandard = needed("zstandard")
        self._database, self._of = database, of
        self._pack, self._unpack = zstandard.ZstdCompressor(), zstandard.ZstdDecompressor()
        database.execute(
            "CREATE TABLE IF NOT EXISTS answers (source TEXT, id TEXT, body BLOB, PRIMARY KEY (source, id))"
        )

    def has(self, entity_id: str) -> bool:
        """Whether it was answered."""
        query = "SELECT 1 FROM answers WHERE source = ? AND id = ?"
        return self._database.execute(query, (self._of, entity_id)).fetchone() is not None

    def get(self, entity_id: str) -> Any:
        """The API's JSON object."""
        query = "SELECT body FROM answers WHERE source = ? AND id = ?"
        row = self._database.execute(query, (self._of, entity_id)).fetchone()
        return json.loads(self._unpack.decompress(row[0]))

    def put(self, said: dict[str, Any]) -> None:
        """Keep a whole batch, at once."""
        rows = [
            (self._of, one, self._pack.compress(json.dumps(entity, separators=(",", ":")).encode()))
            for one, entity in said.items()
        ]
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)


def agent(*said: str | None, where: str = "wikidata.user_agent") -> str:
    """The first that is said, else LEADLINE_USER_AGENT. Raises UsageError: Wikimedia wants a contact."""
    for one in (*said, os.environ.get("LEADLINE_USER_AGENT")):
        if one:
            return one
    raise UsageError(
        "the API wants to know who asks",
        where=where,
        fix='user_agent: "Jane Doe jane@example.org", or LEADLINE_USER_AGENT',
    )
