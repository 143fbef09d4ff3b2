"""One run of a study, or of a build, at a time: two would do the same work twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import LeadlineError

_LOCK = ".lock"
# A process that was killed may leave a child (git, asked for the commit) that holds the file for a moment.
_PATIENCE = 2.0


@contextmanager
def locked(folder: Path, what: str = "study") -> Iterator[None]:
    """Hold the study (or `what` the folder is of) for writing.

    The system lets go of the lock when the process ends, however it ends. Raises LeadlineError where another
    process holds it.
    """
    path = folder / _LOCK
    try:
        file = path.open("a")
    except IsADirectoryError as error:
        raise LeadlineError("is a folder, not a file", where=str(path), fix="remove it") from error
    except OSError as error:
        raise LeadlineError(
            f"the {what}'s folder cannot be written: {error.strerror}",
            where=str(folder),
            fix=f"make it writable, or copy the {what} elsewhere",
        ) from error
    with file:
        try:
            import fcntl
        except ImportError:  # no such locks on Windows: SQLite's own still keep the data sound
            yield
            return
        patience = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > patience:
                    raise LeadlineError(
                        f"this {what} is being run by another process",
                        where=str(folder),
                        fix="wait for it to end",
                    ) from None
                time.sleep(0.05)
        yield
