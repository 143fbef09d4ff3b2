"""How a study's SQLite file is opened, and what is said of a bad one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import LeadlineError


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a bad file or disk into one line that says what to do."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # a response stored twice is a bug, not the user's fault
    except sqlite3.DatabaseError as error:
        said = " ".join(str(error).split())  # a failed check is told over several lines
        if "readonly" in said or "unable to open" in said:
            fix = "make the folder writable, or copy the study elsewhere"
        elif "full" in said:
            fix = "free some space and run again; what was stored is kept"
        elif "locked" in said:
            fix = "another program has it open; close it and run again"
        else:
            fix = f"nothing was changed; move it aside, or save what it holds: sqlite3 {path.name} .recover"
        raise LeadlineError(f"the database cannot be used: {said}", where=str(path), fix=fix) from error


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """A connection to the file; with `write` it is made if need be."""
    place = path.resolve().as_uri()
    if write:
        return sqlite3.connect(f"{place}?mode=rwc", uri=True, timeout=30)
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
