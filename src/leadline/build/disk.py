"""What a disk says when it cannot be written, in one line."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import LeadlineError

_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
_CLOSED = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


@contextmanager
def said_by_the_disk(path: Path) -> Iterator[None]:
    """Within it, `path` or a hidden part of it is written: an error of its disk becomes a LeadlineError.

    Errors that name another file (one that was being read, say) are passed on.
    """
    try:
        yield
    except OSError as error:
        named = Path(str(error.filename)) if error.filename is not None else path
        if named != path and named.parent != path.parent and named not in path.parents:
            raise
        if error.errno in _FULL:
            what, fix = "the disk is full", "free some space and run it again: what is done stays"
        elif error.errno in _CLOSED:
            what, fix = (
                f"cannot be written: {error.strerror}",
                "make it writable, or name another folder: out",
            )
        else:
            raise
        raise LeadlineError(what, where=str(path), fix=fix) from error
