"""The bytes of a file, if it is one: no folder, no pipe, no device, and not larger than allowed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from leadline.documents.document import UnreadableDocument


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """All bytes of the regular file `path`.

    Raises UnreadableDocument when it is not there, may not be read, is no regular file, or is longer than
    `max_bytes`. A pipe that nobody writes to does not hang it.
    """
    where = str(path)
    # O_NONBLOCK: opening a pipe would wait for a writer. What was opened is looked at, not what was there
    # a moment before.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise UnreadableDocument("is not there", where=where) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UnreadableDocument(_why_not(error), where=where) from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise UnreadableDocument(f"is {_what(about.st_mode)}, not a file", where=where)
    with os.fdopen(handle, "rb") as file:
        if about.st_size > max_bytes:
            raise UnreadableDocument(too_large(about.st_size, max_bytes), where=where)
        try:
            # It may grow while it is read; one byte more than allowed is enough to know.
            data = file.read(max_bytes + 1)
        except OSError as error:
            raise UnreadableDocument(f"cannot be read: {error.strerror or error}", where=where) from error
    if len(data) > max_bytes:
        raise UnreadableDocument(too_large(len(data), max_bytes), where=where)
    return data


def too_large(size: int, allowed: int) -> str:
    """The sentence for a document of `size` bytes where `allowed` are."""
    return f"is too large: {size:,} bytes, and {allowed:,} are allowed"


def _why_not(error: OSError | ValueError) -> str:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot be opened: {reason}"


def _what(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for is_kind, name in kinds if is_kind(mode)), "something else")
