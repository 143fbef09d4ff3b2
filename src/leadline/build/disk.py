"""What a disk says when it cannot be written, in one line."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import LeadlineError

_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
_IN_THE_WAY = frozenset((errno.ENOTDIR, errno.EISDIR, errno.EEXIST))
_IS_FULL, _FREE = "the disk is full", "free some space and run it again: what is done stays"
_CLOSED = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


@contextmanager
def said_by_the_disk(path: Path) -> Iterator[None]:
    """Within it, `path` or a hidden part of it is written: an error of its disk becomes a LeadlineError.

    Errors that name another file (one that was being read, say) are passed on.
    """
    try:
        with told_when_full(path):
            yield
    except OSError as error:
        named = Path(str(error.filename)) if error.filename is not None else path
        if named != path and named.parent != path.parent and named not in path.parents:
            raise
        if error.errno in _CLOSED:
            what, fix = (
                f"cannot be written: {error.strerror}",
                "make it writable, or name another folder: out",
            )
        elif error.errno in _IN_THE_WAY:
            path = next((one for one in path.parents if one.exists() and not one.is_dir()), path)
            what, fix = "a file stands where a folder should be, or the other way round", "remove it"
        else:
            raise
        raise LeadlineError(what, where=str(path), fix=fix) from error


@contextmanager
def told_when_full(path: Path) -> Iterator[None]:
    """Within it something is written to the disk of `path`: where that is full, a LeadlineError says so.

    All other errors are passed on.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_FULL:
            raise
        raise LeadlineError(_IS_FULL, where=str(path), fix=_FREE) from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise LeadlineError(_IS_FULL, where=str(error.filename or path), fix=_FREE) from error
