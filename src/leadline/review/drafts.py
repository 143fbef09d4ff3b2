"""What readers have written so far: every saved version, in one SQLite file.

Nothing that was said to be saved is lost: each version is on the disk before the call returns, none is ever
overwritten, and of two people who change one draft both texts stay. Several threads and processes may use a
file at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from leadline.errors import LeadlineError

# What a draft holds: names of fields, and JSON values.
Fields = Mapping[str, Any]
# side: kept, but never the newest: the text of somebody who was not the first to save.
Kind = Literal["saved", "undone", "committed", "side"]
Place = tuple[str, str, str]  # job, key, whose

_APPLICATION = 0x4C4C5256  # "LLRV"
_FORMAT = 1
_PATIENCE = 15.0  # seconds to wait for another process
_SCHEMA = """
CREATE TABLE IF NOT EXISTS versions (
    job TEXT NOT NULL, key TEXT NOT NULL, place TEXT NOT NULL, version INTEGER NOT NULL,
    kind TEXT NOT NULL, before INTEGER NOT NULL, fields TEXT NOT NULL,
    saved TEXT NOT NULL, reader TEXT NOT NULL, page TEXT NOT NULL, edit INTEGER NOT NULL,
    PRIMARY KEY (job, key, place, version)
) WITHOUT ROWID
"""
_COLUMNS = "version, kind, before, fields, saved, reader, page, edit"
_ONE = "job = ? AND key = ? AND place = ?"
_HEAD = f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} AND kind != 'side' ORDER BY version DESC LIMIT 1"


@dataclass(frozen=True)
class Draft:
    """One version of what a reader wrote about an entry.

    `version` counts from 1 within the entry. `saved` is the time in UTC (ISO 8601), `reader` who saved it.
    `before` is the version that an undo leads to (0: the empty one; -1: none). `page` and `edit` say which
    open page wrote it, and its how-manieth text that was.
    """

    version: int
    fields: dict[str, Any]
    saved: str
    reader: str
    kind: Kind = "saved"
    before: int = 0
    page: str = ""
    edit: int = 0

    @property
    def committed(self) -> bool:
        """Whether the reader has said that this is the answer."""
        return self.kind == "committed"

    @property
    def empty(self) -> bool:
        """Whether nothing is in it."""
        return not any(self.fields.values())


class ConflictError(Exception):
    """Somebody else has saved since. `theirs` is the newest version; `kept` is the number under which the
    text that came too late stands in the history."""

    def __init__(self, theirs: Draft, kept: int) -> None:
        super().__init__(f"version {theirs.version} by {theirs.reader} is newer")
        self.theirs, self.kept = theirs, kept


class Drafts:
    """Drafts of a review folder. `reader` is whose draft it is: "" where all readers work on one."""

    def __init__(self, path: Path) -> None:
        """Nothing is made before it is needed: see `make`."""
        self.path = path
        self._there = False

    def make(self) -> None:
        """Make the file, and its folder, where they are not there yet; whatever is asked first does so, too.

        Raises LeadlineError where they cannot be made, or the file is something else.
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
            if not _is_ours(database, self.path):
                database.execute("PRAGMA journal_mode = WAL")
                with _transaction(database):
                    if not _is_ours(database, self.path):  # another process may have been quicker
                        database.execute(_SCHEMA)
                        database.execute(f"PRAGMA application_id = {_APPLICATION}")
                        database.execute(f"PRAGMA user_version = {_FORMAT}")
        self._there = True

    def get(self, job: str, key: str, reader: str) -> Draft | None:
        """The newest version; None where nothing was written."""
        with self._reading() as database:
            return _head(database, (job, key, reader))

    def all(self, job: str, reader: str) -> dict[str, Draft]:
        """The newest version of every entry of a job that has one, by key."""
        return self._newest(job, reader, "kind != 'side'")

    def committed(self, job: str, reader: str) -> dict[str, Draft]:
        """The last committed version of every entry that has one, by key, whatever was written since."""
        return self._newest(job, reader, "kind = 'committed'")

    def readers(self) -> tuple[str, ...]:
        """Who has saved anything, by name."""
        with self._reading() as database:
            rows = database.execute("SELECT DISTINCT reader FROM versions ORDER BY reader")
            return tuple(row[0] for row in rows)

    def states(self, job: str, reader: str) -> dict[str, Literal["draft", "done"]]:
        """How far each entry is that was begun."""
        return {key: "done" if draft.committed else "draft" for key, draft in self.all(job, reader).items()}

    def history(self, job: str, key: str, reader: str) -> list[Draft]:
        """All versions, the oldest first, those that came too late among them."""
        with self._reading() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} ORDER BY version", (job, key, reader)
            )
            return [_draft(row) for row in rows]

    def save(
        self,
        job: str,
        key: str,
        reader: str,
        version: int,
        fields: Fields,
        *,
        by: str | None = None,
        page: str = "",
        edit: int = 0,
    ) -> Draft:
        """Keep `fields` as the version after `version` (0: the first).

        by: who saves it, where that is not `reader`. page, edit: which open page asks, and its how-manieth
        text this is. A page is never in conflict with itself: what it sent before and was not told about is
        passed over, and a text that comes late, after a newer one of the same page, changes nothing.

        Raises ConflictError where `version` is not the newest; the fields are kept in the history.
        """
        place = job, key, reader
        made = Draft(0, dict(fields), _now(), by or reader, page=page, edit=edit)
        with self._writing() as database:
            head = _head(database, place)
            if head is not None:
                late = bool(page) and head.page == page and edit <= head.edit
                if late or head.fields == made.fields:
                    return head
                _check(database, place, head, version, made)
            return _add(database, place, replace(made, before=head.version if head else 0))

    def undo(self, job: str, key: str, reader: str, version: int, *, by: str | None = None) -> Draft:
        """The state before, as a new version; of a committed one, the same open again.

        A further undo goes further back. Where there is nothing before, the newest stays.
        Raises ConflictError where `version` is not the newest, LookupError where nothing was ever written.
        """
        place = job, key, reader
        with self._writing() as database:
            head = _head(database, place)
            if head is None:
                raise LookupError("nothing was written here")
            if head.version != version:
                raise ConflictError(head, 0)
            fields, before = head.fields, head.before
            if not head.committed:
                if before < 0:
                    return head
                earlier = _version(database, place, before) if before else None
                fields, before = (earlier.fields, earlier.before) if earlier else ({}, -1)
            return _add(database, place, Draft(0, fields, _now(), by or reader, kind="undone", before=before))

    def commit(
        self,
        job: str,
        key: str,
        reader: str,
        version: int,
        fields: Fields,
        *,
        by: str | None = None,
        page: str = "",
        edit: int = 0,
        then: Callable[[Draft], None] | None = None,
    ) -> Draft:
        """Keep `fields` as the version after `version`, committed. `then` is called with it before it counts:
        what it raises leaves nothing. The same commit once more gives the same version. Raises
        ConflictError as `save`."""
        place = job, key, reader
        made = Draft(0, dict(fields), _now(), by or reader, kind="committed", page=page, edit=edit)
        with self._writing() as database:
            head = _head(database, place)
            if head is not None:
                if head.committed and head.fields == made.fields:
                    return head
                if head.fields != made.fields:
                    _check(database, place, head, version, made)
                # An undo of what follows leads to the text before the commit.
                made = replace(made, before=head.before if head.fields == made.fields else head.version)
            made = _add(database, place, made)
            if then is not None:
                then(made)
            return made

    def _newest(self, job: str, reader: str, which: str) -> dict[str, Draft]:
        with self._reading() as database:
            rows = database.execute(
                f"SELECT key, {_COLUMNS} FROM versions AS own WHERE job = ? AND place = ? AND {which} AND "
                "version = (SELECT max(version) FROM versions WHERE job = own.job AND key = own.key AND "
                f"place = own.place AND {which})",
                (job, reader),
            )
            return {row[0]: _draft(row[1:]) for row in rows}

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self.make()
        with self._connected() as database:
            yield database

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as database, _transaction(database):
            yield database

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: threads share none."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as database:
                # With a write-ahead log, less than FULL could lose the last commits when the power fails.
                database.execute("PRAGMA synchronous = FULL")
                yield database
        except sqlite3.Error as error:
            said = " ".join(str(error).split())
            fix = "is there room on the disk, and may the folder be written? --into chooses another"
            raise LeadlineError(f"drafts cannot be kept: {said}", where=str(self.path), fix=fix) from error


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """With the right to write from its beginning: between the reading of a version and the writing of the
    next nobody else comes in."""
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


def _is_ours(database: sqlite3.Connection, path: Path) -> bool:
    """Whether the file has our table; False for an empty one. Raises LeadlineError for any other."""
    mark, form, tables = (
        database.execute(asked).fetchone()[0]
        for asked in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if tables and (mark, form) != (_APPLICATION, _FORMAT):
        what = "was written by another version" if mark == _APPLICATION else "is a database of something else"
        raise LeadlineError(what, where=str(path), fix="--into another folder")
    return bool(tables)


def _check(database: sqlite3.Connection, place: Place, head: Draft, version: int, made: Draft) -> None:
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
    kept = same[0] if same else _add(database, place, replace(made, kind="side", before=version)).version
    raise ConflictError(head, kept)


def _head(database: sqlite3.Connection, place: Place) -> Draft | None:
    row = database.execute(_HEAD, place).fetchone()
    return _draft(row) if row else None


def _version(database: sqlite3.Connection, place: Place, version: int) -> Draft:
    asked = f"SELECT {_COLUMNS} FROM versions WHERE {_ONE} AND version = ?"
    return _draft(database.execute(asked, (*place, version)).fetchone())


def _add(database: sqlite3.Connection, place: Place, draft: Draft) -> Draft:
    """`draft` as the next version."""
    asked = f"SELECT coalesce(max(version), 0) + 1 FROM versions WHERE {_ONE}"
    made = replace(draft, version=database.execute(asked, place).fetchone()[0])
    values = made.version, made.kind, made.before, _text(made.fields), made.saved, made.reader
    database.execute(
        "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*place, *values, made.page, made.edit),
    )
    return made


def _draft(row: Sequence[Any]) -> Draft:
    version, kind, before, fields, saved, reader, page, edit = row
    return Draft(version, json.loads(fields), saved, reader, kind, before, page, edit)


def _text(fields: Fields) -> str:
    return json.dumps(dict(fields), ensure_ascii=False, sort_keys=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
