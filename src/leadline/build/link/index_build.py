"""Builds the index of titles from a wiki's SQL dumps: page, page_props and redirect, of any size."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from leadline.build.disk import told_when_full
from leadline.build.link.spelling import canonical
from leadline.build.link.sql_rows import read_literals
from leadline.build.link.sql_value import value
from leadline.errors import LeadlineError

Say = Callable[[str], None]

# One megabyte is negative thousands: the cache of pages that SQLite holds in memory.
_CACHE = -256_000
_INTERVAL = 30.0  # seconds between two lines of progress
_ARTICLES = b"0"  # the namespace


@dataclass(frozen=True)
class IndexCounts:
    """What an index holds. Pages are those of the article namespace.

    pages = articles + redirects. Of the redirects, `resolved` lead to an item: `own` of them have one
    themselves (Wikidata links to the redirect), the rest have their target's. The others: `elsewhere` leads
    to another namespace or wiki, `section` into a part of a page, which is another thing than the page, and
    `broken` nowhere: to a page that is not there or has no item, in a circle, or without a target.
    `without_item` counts articles; `disambiguation` counts the items of disambiguation pages.
    """

    pages: int
    articles: int
    without_item: int
    disambiguation: int
    redirects: int
    resolved: int
    own: int
    elsewhere: int
    section: int
    broken: int

    @property
    def unresolved(self) -> int:
        """Redirects without an item."""
        return self.redirects - self.resolved


def build_index(
    page: Path | Sequence[Path],
    page_props: Path | Sequence[Path],
    redirect: Path | Sequence[Path],
    out: Path,
    *,
    sections: bool = False,
    say: Say | None = None,
) -> IndexCounts:
    """Build the index at `out` from dumps of the same wiki and date; `redirect` may be empty.

    Every page of the article namespace is there under its stored title. A redirect without an item of its own
    gets that of the next page down its chain that has one, whatever the order of the rows; chains that go in
    a circle get none. Redirects to other namespaces and wikis are not followed, nor (without `sections`)
    those into a section. `out` is there when all is done and not before. `say` is told how far it is. Memory
    stays below about 400 MB; `out` and its scratch files take about 4 GB for the English Wikipedia.

    Raises LeadlineError where a dump is cut off, garbled or another table's.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name[:40]}.", dir=out.parent) as scratch:
        built = Path(scratch) / "index.sqlite"
        database = sqlite3.connect(built, isolation_level=None)
        try:
            with told_when_full(out):
                _prepare(database, Path(scratch) / "scratch.sqlite")
                _read_items(database, _paths(page_props), say)
                _read_targets(database, _paths(redirect), say)
                _read_pages(database, _paths(page), say)
                counts = _resolve(database, sections, say)
                database.execute("INSERT INTO about VALUES ('counts', ?)", (json.dumps(asdict(counts)),))
                database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise LeadlineError(f"the index of titles cannot be written: {error}", where=str(out)) from error
        finally:
            database.close()
        built.replace(out)
    return counts


def _prepare(database: sqlite3.Connection, scratch: Path) -> None:
    database.execute("ATTACH ? AS scratch", (str(scratch),))
    # Nothing needs to be undone: a build that fails leaves no file.
    for schema in ("main", "scratch"):
        database.execute(f"PRAGMA {schema}.journal_mode = OFF")
        database.execute(f"PRAGMA {schema}.synchronous = OFF")
        database.execute(f"PRAGMA {schema}.cache_size = {_CACHE // 2}")
    database.execute("PRAGMA main.locking_mode = EXCLUSIVE")
    database.executescript("""
        CREATE TABLE mapping (wikipedia_id integer PRIMARY KEY, wikipedia_title text, wikidata_id text);
        CREATE TABLE redirect (wikipedia_id integer PRIMARY KEY);
        CREATE TABLE disambiguation (wikidata_id text PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE about (key text PRIMARY KEY, value text);
        CREATE TABLE scratch.item (page integer PRIMARY KEY, item text);
        CREATE TABLE scratch.ambiguous (page integer PRIMARY KEY);
        CREATE TABLE scratch.found (page integer PRIMARY KEY, item text);
        CREATE TABLE scratch.target (page integer PRIMARY KEY, title text, elsewhere int, section int);
        INSERT INTO about VALUES ('format', '1');
    """)
    database.execute("BEGIN")


def _read_items(database: sqlite3.Connection, paths: Sequence[Path], say: Say | None) -> None:
    wanted = {b"'wikibase_item'", b"'disambiguation'"}

    def items(path: Path) -> Iterator[tuple[int, str]]:
        for page, name, item in _literals(path, "page_props", ["pp_page", "pp_propname", "pp_value"], say):
            if name.endswith(b"'") and name[name.index(b"'") :] in wanted:
                if b"wikibase_item" in name:
                    yield int(page), _text(item)
                else:
                    database.execute("INSERT OR IGNORE INTO scratch.ambiguous VALUES (?)", (int(page),))

    _insert(database, "INSERT OR REPLACE INTO scratch.item VALUES (?, ?)", paths, items)


def _read_targets(database: sqlite3.Connection, paths: Sequence[Path], say: Say | None) -> None:
    columns = ["rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"]
    # Old wikis have neither of the last two.
    optional = columns[3:]

    def targets(path: Path) -> Iterator[tuple[int, str, bool, bool]]:
        for page, space, title, wiki, section in _literals(path, "redirect", columns, say, optional):
            elsewhere = space != _ARTICLES or bool(value(wiki))
            yield int(page), canonical(_text(title)), elsewhere, bool(value(section))

    _insert(database, "INSERT OR REPLACE INTO scratch.target VALUES (?, ?, ?, ?)", paths, targets)


def _read_pages(database: sqlite3.Connection, paths: Sequence[Path], say: Say | None) -> None:
    columns = ["page_id", "page_namespace", "page_title", "page_is_redirect"]

    def pages(path: Path) -> Iterator[tuple[int, str, int]]:
        for page, space, title, redirect in _literals(path, "page", columns, say):
            if space == _ARTICLES:
                number = int(page)
                if redirect != b"0":
                    database.execute("INSERT OR IGNORE INTO redirect VALUES (?)", (number,))
                yield number, _text(title), number

    insert = "INSERT OR REPLACE INTO mapping VALUES (?, ?, (SELECT item FROM scratch.item WHERE page = ?))"
    _insert(database, insert, paths, pages)
    _tell(say, "titles: putting the titles in order")
    database.execute("CREATE INDEX idx_wikipedia_title ON mapping(wikipedia_title)")
    # A page moved while the dump was made may leave its title on two: the newer one has it.
    twice = database.execute("""SELECT wikipedia_title, max(wikipedia_id) FROM mapping
        GROUP BY wikipedia_title HAVING count(*) > 1""").fetchall()
    database.executemany("DELETE FROM mapping WHERE wikipedia_title = ? AND wikipedia_id < ?", twice)


def _insert(
    database: sqlite3.Connection,
    query: str,
    paths: Sequence[Path],
    rows: Callable[[Path], Iterator[tuple[object, ...]]],
) -> None:
    for path in paths:
        try:
            database.executemany(query, rows(path))
        except (ValueError, OverflowError) as error:
            raise LeadlineError(f"has a row whose id is no number: {error}", where=str(path)) from None


def _resolve(database: sqlite3.Connection, sections: bool, say: Say | None) -> IndexCounts:
    def count(query: str) -> int:
        return int(database.execute(f"SELECT count(*) FROM {query}").fetchone()[0])

    _tell(say, "titles: following the redirects")
    # The redirect table knows of some that the page table does not call redirects, and the other way round.
    database.execute(
        "INSERT OR IGNORE INTO redirect SELECT page FROM scratch.target WHERE page IN "
        "(SELECT wikipedia_id FROM mapping)"
    )
    database.execute("DELETE FROM redirect WHERE wikipedia_id NOT IN (SELECT wikipedia_id FROM mapping)")
    database.execute("""INSERT OR IGNORE INTO disambiguation SELECT wikidata_id FROM mapping
        WHERE wikidata_id IS NOT NULL AND wikipedia_id IN (SELECT page FROM scratch.ambiguous)""")
    own = count("redirect JOIN mapping USING (wikipedia_id) WHERE wikidata_id IS NOT NULL")
    database.execute("""CREATE TABLE scratch.open AS SELECT page, title, elsewhere, section
        FROM scratch.target JOIN mapping ON page = wikipedia_id WHERE wikidata_id IS NULL""")
    elsewhere = count("scratch.open WHERE elsewhere")
    section = 0 if sections else count("scratch.open WHERE section AND NOT elsewhere")
    database.execute("DELETE FROM scratch.open WHERE elsewhere OR (section AND NOT ?)", (sections,))
    # Each round goes one step back along all chains; what is in a circle is never found.
    while True:
        database.execute("DELETE FROM scratch.found")
        database.execute("""INSERT INTO scratch.found SELECT page, wikidata_id FROM scratch.open
            JOIN mapping ON wikipedia_title = title WHERE wikidata_id IS NOT NULL""")
        if not count("scratch.found"):
            break
        database.execute("""UPDATE mapping SET wikidata_id =
            (SELECT item FROM scratch.found WHERE page = wikipedia_id)
            WHERE wikipedia_id IN (SELECT page FROM scratch.found)""")
        database.execute("DELETE FROM scratch.open WHERE page IN (SELECT page FROM scratch.found)")
    _tell(say, "titles: putting the items in order")
    database.execute("CREATE INDEX idx_wikidata_id ON mapping(wikidata_id)")
    pages, redirects = count("mapping"), count("redirect")
    resolved = count("redirect JOIN mapping USING (wikipedia_id) WHERE wikidata_id IS NOT NULL")
    return IndexCounts(
        pages=pages,
        articles=pages - redirects,
        without_item=count("mapping WHERE wikidata_id IS NULL") - (redirects - resolved),
        disambiguation=count("disambiguation"),
        redirects=redirects,
        resolved=resolved,
        own=own,
        elsewhere=elsewhere,
        section=section,
        broken=redirects - resolved - elsewhere - section,
    )


def _literals(
    path: Path, table: str, columns: Sequence[str], say: Say | None, optional: Sequence[str] = ()
) -> Iterator[tuple[bytes, ...]]:
    """The rows of one file; says now and then how far it is."""
    started = said = time.monotonic()
    done = 0

    def read(size: int) -> None:
        nonlocal done, said
        done += size
        now = time.monotonic()
        if now - said >= _INTERVAL:
            said = now
            rate = done / 1e6 / (now - started)
            _tell(say, f"titles: {path.name}: {done / 1e6:,.0f} MB of text read, {rate:,.0f} MB/s")

    return read_literals(path, table, columns, optional, read)


def _tell(say: Say | None, line: str) -> None:
    if say is not None:
        say(line)


def _text(literal: bytes) -> str:
    said = value(literal)
    # MediaWiki stores UTF-8; a byte that is none must not end the build, and no title will match it.
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said or "")


def _paths(given: Path | Sequence[Path]) -> Sequence[Path]:
    return [given] if isinstance(given, Path) else given
