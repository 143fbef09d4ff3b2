"""The bytes of a file, if it is one: no folder, no pipe, no device, and not larger than allowed."""

from __future__ import annotations

import os
from pathlib import Path

from leadline.documents.document import UnreadableDocument
from leadline.ordinary_file import NotAFileError, opened


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """All bytes of the regular file `path`.

    Raises UnreadableDocument when it is not there, may not be read, is no regular file, or is longer than
    `max_bytes`. A pipe that nobody writes to does not hang it.
    """
    where = str(path)
    try:
        file = opened(path)
    except FileNotFoundError:
        raise UnreadableDocument("is not there", where=where) from None
    except IsADirectoryError:
        raise UnreadableDocument("is a folder, not a file", where=where) from None
    except NotAFileError as error:
        raise UnreadableDocument(f"is {error.what}, not a file", where=where) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableDocument(f"cannot be opened: {reason}", where=where) from error
    with file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise UnreadableDocument(too_large(size, max_bytes), where=where)
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
