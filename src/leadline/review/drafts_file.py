"""The SQLite file that drafts are kept in: one table of versions, and what is read from and written to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from leadline.errors import LeadlineError, UsageError
from leadline.review.draft import ConflictError, Draft, Fields

Place = tuple[str, str, str]  # job, key, whose
# Of which versions the newest is asked for: all that did not come too late, or those that were committed.
Which = Literal["counted", "committed"]

_APPLICATION = 0x4C4C5256  # "LLRV"
_FORMAT = 1
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PATIENCE = 15.0  # seconds to wait for another process
_TABLE = """
CREATE TABLE IF NOT EXISTS versions (
    job TEXT NOT NULL, key TEXT NOT NULL, place TEXT NOT NULL, version INTEGER NOT NULL,
    kind TEXT NOT NULL, before INTEGER NOT NULL, fields TEXT NOT NULL,
    saved TEXT NOT NULL, reader TEXT NOT NULL, page TEXT NOT NULL, edit INTEGER NOT NULL,
    PRIMARY KEY (job, key, place, version)
) WITHOUT ROWID
"""
_WHICH: dict[Which, str] = {"counted": "kind != 'side'", "committed": "kind = 'committed'"}
# So that a list of entries reads the newest texts alone, however many were saved before them.
_INDEXES = tuple(
    f"CREATE INDEX IF NOT EXISTS {name} ON versions (job, place, key, version, kind) WHERE {which}"
    for name, which in _WHICH.items()
)
_COLUMNS = "version, kind, before, fields, saved, reader, page, edit"
_ONE = "job = ? AND key = ? AND place = ?"


class UnreadableTextError(Exception):
    """A version whose fields are no JSON any more."""


class DraftsFile:
    """The file at `path`. Several threads and processes may use it at once."""

    def __init__(self, path: Path) -> None:
        """Nothing is made before it is needed: see `make`."""
        self.path = path
        self._there = False

    def make(self) -> None:
        """Make the file, and its folder, where they are not there yet; whatever is asked first does so, too.

        Raises LeadlineError where they cannot be made, UsageError where the file is damaged or another.
        """
        if self._there:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LeadlineError(
                f"cannot be made: {error.strerror}", where=str(self.path.parent), fix="--into another folder"
            ) from None
        with self._connected() as database:
            if self._is_ours(database):
                # Once: what is damaged in the middle would else show in the midst of the work.
                if (said := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                    raise _damaged(self.path, said)
            else:
                database.execute("PRAGMA journal_mode = WAL")
                with _transaction(database):
                    if not self._is_ours(database):  # another process may have been quicker
                        database.execute(_TABLE)
                        database.execute(f"PRAGMA application_id = {_APPLICATION}")
                        database.execute(f"PRAGMA user_version = {_FORMAT}")
            for index in _INDEXES:
                database.execute(index)
        self._there = True

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: threads share none. Raises LeadlineError where the disk does not obey."""
        self.make()
        with self._connected() as database:
            yield database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The same, alone: between the reading of a version and the writing of the next nobody comes in."""
        with self.reading() as database, _transaction(database):
            yield database

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as database:
                # With a write-ahead log, less than FULL could lose the last commits when the power fails.
                database.execute("PRAGMA synchronous = FULL")
                yield database
        except sqlite3.Error as error:
            said = " ".join(str(error).split())
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                raise _damaged(self.path, said) from error
            fix = "is there room on the disk, and may the folder be written? --into chooses another"
            raise LeadlineError(f"drafts cannot be kept: {said}", where=str(self.path), fix=fix) from error
        except UnreadableTextError as error:
            raise _damaged(self.path, str(error)) from error

    def _is_ours(self, database: sqlite3.Connection) -> bool:
        """Whether it has our table; False for an empty one. Raises UsageError for any other."""
        asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        mark, form, tables = (database.execute(one).fetchone()[0] for one in asked)
        if tables and (mark, form) != (_APPLICATION, _FORMAT):
            ours = mark == _APPLICATION
            what = "was written by another version" if ours else "is a database of something else"
            raise UsageError(what, where=str(self.path), fix="--into another folder")
        return bool(tables)


def _damaged(path: Path, said: str) -> UsageError:
    """What was committed lies in other files: a review goes on without this one, all but its drafts."""
    what = f"the file of drafts is damaged: {' '.join(said.split())}"
    return UsageError(
        what, where=str(path), fix="restore it from a copy, or move it away to begin without drafts"
    )


def head_of(database: sqlite3.Connection, place: Place) -> Draft | None:
    """The newest version that counts; None where nothing was written."""
    asked = f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} AND kind != 'side' ORDER BY version DESC LIMIT 1"
    row = database.execute(asked, place).fetchone()
    return _draft(row) if row else None


def heads_of(database: sqlite3.Connection, job: str, whose: str, which: Which) -> dict[str, Draft]:
    """The newest version of every entry that has one, by key."""
    rows = database.execute(
        f"SELECT key, {_COLUMNS} FROM (SELECT key AS its, max(version) AS newest FROM versions "
        f"INDEXED BY {which} WHERE job = ? AND place = ? AND {_WHICH[which]} GROUP BY key) "
        "CROSS JOIN versions ON job = ? AND place = ? AND key = its AND version = newest",
        (job, whose, job, whose),
    )
    return {row[0]: _draft(row[1:]) for row in rows}


def versions_of(database: sqlite3.Connection, place: Place) -> list[Draft]:
    """All of them, the oldest first, those that came too late among them."""
    asked = f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} ORDER BY version"
    return [_draft(row) for row in database.execute(asked, place)]


def version_of(database: sqlite3.Connection, place: Place, version: int) -> Draft:
    """The version of that number, which is there."""
    asked = f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} AND version = ?"
    return _draft(database.execute(asked, (*place, version)).fetchone())


def add_version(database: sqlite3.Connection, place: Place, draft: Draft) -> Draft:
    """`draft` as the next version."""
    asked = f"SELECT coalesce(max(version), 0) + 1 FROM versions WHERE {_ONE}"
    made = replace(draft, version=database.execute(asked, place).fetchone()[0])
    values = made.version, made.kind, made.before, _text(made.fields), made.saved, made.reader
    database.execute(
        "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*place, *values, made.page, made.edit),
    )
    return made


def check_newest(database: sqlite3.Connection, place: Place, head: Draft, version: int, made: Draft) -> None:
    """Raises ConflictError, with `made` kept beside, where somebody else wrote after `version`."""
    if version == head.version:
        return
    others = database.execute(
        f"SELECT count(*) FROM versions WHERE {_ONE} AND kind != 'side' AND version > ? AND page != ?",
        (*place, version, made.page),
    ).fetchone()[0]
    if made.page and not others:
        return
    same = database.execute(  # a page that asks again
        f"SELECT version FROM versions WHERE {_ONE} AND kind = 'side' AND reader = ? AND fields = ?",
        (*place, made.reader, _text(made.fields)),
    ).fetchone()
    if same:
        raise ConflictError(head, same[0])
    side = add_version(database, place, replace(made, kind="side", before=version))
    raise ConflictError(head, side.version)


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """With the right to write from its beginning."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except ConflictError:  # the text that came too late stays
        database.execute("COMMIT")
        raise
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _draft(row: Sequence[Any]) -> Draft:
    version, kind, before, fields, saved, reader, page, edit = row
    try:
        values = json.loads(fields)
    except ValueError as error:
        raise UnreadableTextError(f"version {version} of an entry is no JSON") from error
    return Draft(version, values, saved, reader, kind, before, page, edit)


def _text(fields: Fields) -> str:
    return json.dumps(dict(fields), ensure_ascii=False, sort_keys=True)
