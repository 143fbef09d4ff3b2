"""The entities of a build in one SQLite file: what was wanted of Wikidata, and which class is under which."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from leadline.build.disk import said_by_the_disk
from leadline.build.extra import needed
from leadline.build.wikidata.entity import Entity, id_order
from leadline.build.wikidata.json_form import Found
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError

ENTITIES = "entities.sqlite"
_TABLES = """
CREATE TABLE entities (id TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE redirects (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE subclasses (class TEXT NOT NULL, above TEXT NOT NULL, PRIMARY KEY (class, above)) WITHOUT ROWID;
"""
_COLUMNS = {"entities": "id, body", "redirects": "old, new", "gone": "id", "subclasses": "class, above"}
# Level 6 makes a tenth less than 3, at 30 MB/s: an entity is written once.
_LEVEL = 6
_MOST_MOVES = 10


class StoreWriter:
    """Takes entities in any order, each id once: the first that is given stays. Made by `writing_store`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        zstandard = needed("zstandard")
        self._database = database
        self._pack = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=False)
        self._database.executescript(_TABLES)

    def add(self, found: Found) -> None:
        """What a source says of an id: its entity, another's into which it was merged, or that it is gone."""
        entity = found.entity
        if entity is None:
            self._database.execute("INSERT OR IGNORE INTO gone VALUES (?)", (found.id,))
            return
        if found.id != entity.id:
            self.redirect(found.id, entity.id)
        # What it was asked for by is a fact about the question: the store holds it as a redirect.
        plain = entity.model_copy(update={"asked_as": None})
        body = self._pack.compress(plain.model_dump_json(exclude_defaults=True).encode())
        self._database.execute("INSERT OR IGNORE INTO entities VALUES (?, ?)", (entity.id, body))
        self.subclass(entity)

    def subclass(self, entity: Entity) -> None:
        """Only which classes stand above it (P279, statements of the best rank)."""
        above = {claim.entity for claim in entity.best("P279")} - {None}
        rows = sorted((entity.id, one) for one in above)  # the order decides the file's bytes
        self._database.executemany("INSERT OR IGNORE INTO subclasses VALUES (?, ?)", rows)

    def redirect(self, old: str, new: str) -> None:
        """`old` was merged into `new`."""
        self._database.execute("INSERT OR IGNORE INTO redirects VALUES (?, ?)", (old, new))

    def merge(self, part: Path) -> None:
        """Everything of another store, in the order of its ids; what is there already stays."""
        self._database.commit()
        self._database.execute("ATTACH ? AS part", (str(part),))
        for table, columns in _COLUMNS.items():
            select = f"SELECT {columns} FROM part.{table} ORDER BY {columns.split(',')[0]}"
            self._database.execute(f"INSERT OR IGNORE INTO {table} {select}")
        self._database.commit()
        self._database.execute("DETACH part")

    def held(self, ids: Iterable[str]) -> set[str]:
        """Which of these ids are settled: there, merged into one that is there, or known to be gone."""
        return {one for one in ids if self._settled(one)}

    def classes_of(self, ids: Iterable[str]) -> set[str]:
        """What these entities are: their classes (P31), and their occupations (P106)."""
        found: set[str] = set()
        unpack = needed("zstandard").ZstdDecompressor()
        for one in ids:
            query = "SELECT body FROM entities WHERE id = ?"
            row = self._database.execute(query, (_resolved(self._database, one),)).fetchone()
            if row is not None:
                entity = Entity.model_validate_json(unpack.decompress(row[0]))
                for property_id in ("P31", "P106"):
                    found |= {claim.entity for claim in entity.best(property_id) if claim.entity is not None}
        return found

    def above(self, classes: Iterable[str]) -> set[str]:
        """The classes directly above any of these, as far as they were said."""
        query = "SELECT above FROM subclasses WHERE class = ?"
        return {row[0] for one in classes for row in self._database.execute(query, (one,))}

    def _settled(self, entity_id: str) -> bool:
        final = _resolved(self._database, entity_id)
        query = "SELECT 1 FROM entities WHERE id = ? UNION ALL SELECT 1 FROM gone WHERE id = ?"
        return self._database.execute(query, (final, final)).fetchone() is not None


@contextmanager
def writing_store(path: Path) -> Iterator[StoreWriter]:
    """Write a store, which takes its place at `path` when the block ends well and is not there otherwise.

    The same content written in the same order is the same bytes. Raises LeadlineError where the disk is full.
    """
    with said_by_the_disk(path), _folder_beside(path) as folder:
        partial = Path(folder) / path.name
        with closing(sqlite3.connect(partial)) as database:
            # Nobody reads it before it is whole: a journal would be of no use.
            database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192;"
            )
            yield StoreWriter(database)
            database.commit()
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)


def _folder_beside(path: Path) -> tempfile.TemporaryDirectory[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent)


class EntityStore:
    """Entities by id. `get` follows ids that were merged into others.

    Raises LeadlineError where `path` is no store. The same object may be used in one thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        zstandard = needed("zstandard")
        self._unpack = zstandard.ZstdDecompressor()
        if not path.is_file():
            raise LeadlineError("holds no entities yet", where=str(path), fix="run the stage entities")
        self._database = sqlite3.connect(_address(path), uri=True)
        with self._sound():
            self._database.execute("SELECT 1 FROM entities, redirects, gone, subclasses LIMIT 1")
        self._read = lru_cache(maxsize=2_000)(self._read_one)

    def get(self, entity_id: str) -> Entity | None:
        """The entity of an id, or of the one that it was merged into; None where there is none."""
        final = self.resolve(entity_id)
        entity = self._read(final)
        if entity is not None and final != entity_id:
            return entity.model_copy(update={"asked_as": entity_id})
        return entity

    def many(self, ids: Iterable[str]) -> Mapping[str, Entity]:
        """Those of the ids that there are, by the id asked for."""
        found = {one: self.get(one) for one in dict.fromkeys(ids)}
        return {one: entity for one, entity in found.items() if entity is not None}

    def resolve(self, entity_id: str) -> str:
        """The id itself, or the one that it was merged into."""
        with self._sound():
            return _resolved(self._database, entity_id)

    def gone(self, entity_id: str) -> bool:
        """Whether a source says that the entity does not exist (any more), rather than not having it."""
        query = "SELECT 1 FROM gone WHERE id = ?"
        return bool(self._rows(query, self.resolve(entity_id)))

    def above(self, class_id: str) -> tuple[str, ...]:
        """The classes directly above one, in the order of their ids; none where nobody knows."""
        rows = self._rows("SELECT above FROM subclasses WHERE class = ?", class_id)
        with self._sound():
            return tuple(sorted((row[0] for row in rows), key=id_order))

    def __len__(self) -> int:
        count: int = self._rows("SELECT COUNT(*) FROM entities")[0][0]
        return count

    def __contains__(self, entity_id: str) -> bool:
        """Whether it has the entity of that very id."""
        query = "SELECT 1 FROM entities WHERE id = ?"
        return bool(self._rows(query, entity_id))

    def ids(self) -> Iterator[str]:
        """All ids that it has entities of, in the order in which they were written."""
        for row in self._rows("SELECT id FROM entities ORDER BY rowid"):
            yield row[0]

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    def _read_one(self, entity_id: str) -> Entity | None:
        rows = self._rows("SELECT body FROM entities WHERE id = ?", entity_id)
        if not rows:
            return None
        with self._sound():
            return Entity.model_validate_json(self._unpack.decompress(rows[0][0]))

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with self._sound():
            return self._database.execute(query, values).fetchall()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """What a damaged file is found out by becomes one line."""
        zstandard = needed("zstandard")
        try:
            yield
        except (sqlite3.Error, zstandard.ZstdError, ValueError, TypeError) as error:
            what = f"is no store of entities: {str(error).splitlines()[0]}"
            raise LeadlineError(what, where=str(self._path), fix="delete it; it is made again") from None


def entities_of(work: Workspace) -> EntityStore:
    """The entities that the stage of that name left. Raises LeadlineError where it has not run."""
    return EntityStore(work.stage("entities").path / ENTITIES)


def _resolved(database: sqlite3.Connection, entity_id: str) -> str:
    """Follow redirects, however many; one that leads back to itself ends where it closes."""
    seen = {entity_id}
    for _ in range(_MOST_MOVES):
        row = database.execute("SELECT new FROM redirects WHERE old = ?", (entity_id,)).fetchone()
        if row is None or row[0] in seen:
            break
        entity_id = row[0]
        seen.add(entity_id)
    return entity_id


def _address(path: Path) -> str:
    return f"file:{quote(str(path.resolve()))}?mode=ro"
