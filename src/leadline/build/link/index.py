"""The index of a wiki's titles: which Wikidata item each page is about, redirects included.

The file is a SQLite database with wikimapper's table `mapping(wikipedia_id, wikipedia_title, wikidata_id)`:
what wikimapper wrote opens here, and what is built here opens there. Tables of our own stand beside it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from leadline.build.link.index_build import build_index
from leadline.build.link.spelling import canonical, shown, spellings
from leadline.errors import UsageError
from leadline.ordinary_file import text as ordinary_text

__all__ = ["TitleIndex", "build_index", "index_of_titles", "open_index"]

_ITEM = re.compile(r"Q[1-9][0-9]*\Z")
_REMEMBERED = 1 << 16  # names looked up; the same few thousand are most of what facts name


@dataclass(frozen=True)
class _Source:
    """One database, and which of our own tables it has."""

    database: sqlite3.Connection
    ours: bool


class TitleIndex:
    """One or more indexes; the first that knows a title answers.

    >>> index = index_of_titles({"Zürich": "Q72", "9/11 conspiracy theories": "Q209137"})
    >>> index.entity("zürich"), index.entity("9%2F11_conspiracy_theories#Motives"), index.entity("Bern")
    ('Q72', 'Q209137', None)
    >>> index.titles("Q72")
    ('Zürich',)
    """

    def __init__(self, sources: Sequence[_Source] = ()) -> None:
        self._sources = tuple(sources)
        self._remembered = lru_cache(_REMEMBERED)(self._look_up)

    def entity(self, title: str) -> str | None:
        """The Wikidata item of the page that `title` names, as links and extractors write it.

        None where there is no such page, where it has no item, and where it is a disambiguation page: that
        names no one thing.
        """
        return self._remembered(title)[0]

    def ambiguous(self, title: str) -> bool:
        """Whether it names a disambiguation page; always False in an index that wikimapper wrote."""
        return self._remembered(title)[1]

    @property
    def empty(self) -> bool:
        """Whether there is no index at all."""
        return not self._sources

    def titles(self, entity: str) -> tuple[str, ...]:
        """The titles of an item's page: first the page's own, then its redirects, with spaces.

        Redirects into a section are not among them: they name a part. In an index that wikimapper wrote,
        they are, and the page's own title is not told from the others.
        """
        found: dict[str, None] = {}
        for source in self._sources:
            found |= dict.fromkeys(map(shown, _titles(source, entity)))
        return tuple(found)

    def counts(self) -> dict[str, int]:
        """What `build_index` counted, summed over the indexes it built."""
        total: dict[str, int] = {}
        for source in self._sources:
            if source.ours:
                (text,) = source.database.execute("SELECT value FROM about WHERE key = 'counts'").fetchone()
                for name, count in json.loads(text).items():
                    total[name] = total.get(name, 0) + int(count)
        return total

    def joined(self, other: TitleIndex) -> TitleIndex:
        """Both as one, `other` asked after this one."""
        return TitleIndex((*self._sources, *other._sources))

    def close(self) -> None:
        """Let go of the files."""
        for source in self._sources:
            source.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _look_up(self, title: str) -> tuple[str | None, bool]:
        ambiguous = False
        try:
            for spelt in spellings(title):
                for source in self._sources:
                    found = source.database.execute(_FIND, (spelt,)).fetchone()
                    if not found or not found[0]:
                        continue
                    if source.ours and source.database.execute(_AMBIGUOUS, found).fetchone():
                        ambiguous = True
                        continue
                    return str(found[0]), False
        except UnicodeEncodeError:
            return None, False  # half a surrogate pair is in no title
        return None, ambiguous


_FIND = "SELECT wikidata_id FROM mapping WHERE wikipedia_title = ?"
_AMBIGUOUS = "SELECT 1 FROM disambiguation WHERE wikidata_id = ?"
_TITLES = "SELECT wikipedia_title FROM mapping WHERE wikidata_id = ? ORDER BY wikipedia_title"
_OUR_TITLES = """SELECT wikipedia_title FROM mapping LEFT JOIN redirect USING (wikipedia_id)
    WHERE wikidata_id = ? ORDER BY redirect.wikipedia_id IS NOT NULL, wikipedia_title"""


def _titles(source: _Source, entity: str) -> list[str]:
    rows = source.database.execute(_OUR_TITLES if source.ours else _TITLES, (entity,))
    return [str(title) for (title,) in rows if title]


def open_index(path: Path) -> TitleIndex:
    """Open an index that `build_index` or wikimapper wrote, for reading only.

    Raises UsageError where the file is not there or is no such index.
    """
    if not path.is_file():
        raise UsageError("no index of titles here", where=str(path))
    try:
        # Indexes may lie on a disk that cannot be written; a build may use one from several threads.
        database = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, check_same_thread=False
        )
        # A look-up goes to pages all over the file: from memory, where the system has it there already.
        database.execute("PRAGMA mmap_size = 8589934592")
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        columns = {row[1] for row in database.execute("PRAGMA table_info(mapping)")}
        is_empty = bool(columns) and database.execute("SELECT 1 FROM mapping LIMIT 1").fetchone() is None
    except sqlite3.DatabaseError as error:
        raise UsageError(f"is no index of titles: {error}", where=str(path)) from None
    if not {"wikipedia_id", "wikipedia_title", "wikidata_id"} <= columns:
        raise UsageError(
            "is no index of titles: it has no table mapping(wikipedia_id, wikipedia_title, wikidata_id)",
            where=str(path),
            fix="build one from SQL dumps, or with wikimapper",
        )
    if is_empty:
        raise UsageError(
            "is empty: it holds no title",
            where=str(path),
            fix="wikimapper reads dumps with one row a line as empty: build it from the SQL dumps here",
        )
    return TitleIndex([_Source(database, {"about", "redirect", "disambiguation"} <= names)])


def index_of_titles(titles: dict[str, str]) -> TitleIndex:
    """An index in memory: title to Wikidata item, for small builds."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(
        "CREATE TABLE mapping (wikipedia_id int, wikipedia_title text PRIMARY KEY, wikidata_id text)"
    )
    rows = [(canonical(title), entity) for title, entity in titles.items()]
    database.executemany("INSERT OR REPLACE INTO mapping VALUES (NULL, ?, ?)", rows)
    database.execute("CREATE INDEX idx_wikidata_id ON mapping(wikidata_id)")
    return TitleIndex([_Source(database, False)])


def read_titles(path: Path) -> dict[str, str]:
    """A file of titles and ids: `Zürich TAB Q72` a line; empty lines and lines that begin with # are skipped.

    Raises UsageError with file and line where a line is no such pair, or a title stands for two items.
    """
    found: dict[str, tuple[str, str]] = {}
    try:
        text = ordinary_text(path)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 at byte {error.start}", where=str(path)) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        title, tab, entity = line.rstrip("\r").rpartition("\t")
        entity = entity.strip()
        if not tab or not canonical(title) or not _ITEM.match(entity):
            raise UsageError(
                f"not a title, a tab and a Wikidata id: {line[:60]!r}",
                where=f"{path}:{number}",
                fix="Zürich TAB Q72",
            )
        before = found.setdefault(canonical(title), (title, entity))
        if before[1] != entity:
            raise UsageError(
                f"{title[:60]!r} stands for {before[1]} above and for {entity} here", where=f"{path}:{number}"
            )
    return dict(found.values())
