"""How a study's SQLite file is opened, and what is said of a bad one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.study.seals import check_rows, register, reseal
from leadline.study.tables import COLUMNS, SCHEMA

DATABASE = "responses.sqlite"
MANIFEST = "manifest.json"
# A recovered database that has not taken its place yet (`recovery.py`).
RECOVERED = "responses.sqlite.recovered"
# 1: rows without seals.
FORMAT = 2
_READ = (0, 1, FORMAT)
# Checking every page takes about three seconds per GB. Larger files are checked only as they are read; those
# beyond the second size once in a process, as long as nobody writes to them.
_CHECK_BELOW = 4 * 2**30
_CHECK_ONCE = 64 * 2**20
# Rows that are taken from SQLite at once.
_AT_ONCE = 500
_checked: set[tuple[object, ...]] = set()


class NoAnswersError(LeadlineError):
    """A study without a database, or with one that has no tables: a run was killed at its very start, or
    the file was emptied."""

    def __init__(self, folder: Path) -> None:
        super().__init__("this study has no answers yet", where=str(folder), fix=f"leadline run {folder}")


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a bad file or disk into one line that says what to do."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # a response stored twice is a bug, not the user's fault
    except sqlite3.DatabaseError as error:
        said = " ".join(str(error).split())  # a failed check is told over several lines
        fix = _way_on(getattr(error, "sqlite_errorcode", 0) & 0xFF, said, path)
        raise LeadlineError(f"the database cannot be used: {said}", where=str(path), fix=fix) from error


def _way_on(code: int, said: str, path: Path) -> str:
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or "readonly" in said:
        return "make the folder writable, or copy the study elsewhere"
    if code == sqlite3.SQLITE_FULL:
        return "free some space and run again; what was stored is kept"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another program has it open; close it and run again"
    return f"nothing was changed; leadline recover {path.parent} saves what can be read"


def check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Raise DatabaseError where the file's structure is damaged, or a row of a table other than that of
    answers: those are looked at as they are read. LeadlineError for a database of a later version, and for
    one whose recovery was cut short."""
    if path.with_name(RECOVERED).exists():
        raise LeadlineError(
            "its recovery was cut short", where=str(path), fix=f"leadline recover {path.parent} ends it"
        )
    stamp = _stamp(path)
    if stamp not in _checked:
        _check_pages(connection, path)
        if stamp is not None:
            _checked.add(stamp)
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found not in _READ:
        raise LeadlineError(
            f"the database has format {found}, this version reads {FORMAT}",
            where=str(path),
            fix="use the version of leadline that made it",
        )
    if found == FORMAT:
        check_rows(connection)


def _stamp(path: Path) -> tuple[object, ...] | None:
    """What a large file is known by as long as nobody writes to it."""
    log = path.with_name(f"{path.name}-wal")
    states = [one.stat() for one in (path, log) if one.exists()]
    if states[0].st_size < _CHECK_ONCE:
        return None
    return (path, *((one.st_ino, one.st_size, one.st_mtime_ns) for one in states))


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise DatabaseError where the structure of the file is damaged."""
    if path.stat().st_size >= _CHECK_BELOW:
        return
    try:
        # quick_check is no quicker, for there are hardly any indexes, and does not look at the order of keys.
        verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except UnicodeDecodeError:  # it quotes a name that is damaged
        verdict = "a name in it is damaged"
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


def is_begun(connection: sqlite3.Connection) -> bool:
    """Whether it has tables: a run that is killed at its very start leaves a sound file with none."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def is_sealed(connection: sqlite3.Connection) -> bool:
    """Whether every row has a seal: not in a database of an earlier version that was not run since."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0] == FORMAT)


def make_ready(connection: sqlite3.Connection) -> None:
    """Make what tables and seals are lacking, and have answers written as they are to be."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")  # all tables or none
    if is_sealed(connection):
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in COLUMNS:
            if "seal" not in {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN seal INTEGER")
                connection.execute(reseal(table))
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """A connection to the file; with `write` it is made if need be."""
    place = path.resolve().as_uri()
    if write:
        connection = sqlite3.connect(f"{place}?mode=rwc", uri=True, timeout=30)
        register(connection)
        return connection
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=30)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError:
        # In a folder that cannot be written, a database with a write-ahead log opens only as one that nobody
        # else will change; without a log beside it, nobody has.
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        connection = sqlite3.connect(f"{place}?immutable=1", uri=True)
    return connection


def columns_of(rows: sqlite3.Cursor, size: int) -> list[list[Any]]:
    """The next `size` rows, column by column; [] where there are none.

    A few at a time: a hundred thousand tuples that live at once take the garbage collector as long to look
    through as SQLite to read.
    """
    columns: list[list[Any]] = []
    while (wanted := size - (len(columns[0]) if columns else 0)) and (
        some := rows.fetchmany(min(_AT_ONCE, wanted))
    ):
        columns = columns or [[] for _ in some[0]]
        for column, values in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(values)
    return columns
