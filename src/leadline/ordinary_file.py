"""Files that people name, opened only if they are files: no pipe is waited for, no device read without end.

Whoever opens a path that a user gave goes through here, and tells an OSError as it tells any other.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# Far above any list of labels, flags or decisions, far below what fills a machine when it is taken apart.
MOST_BYTES = 64 * 1024 * 1024
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotAFileError(OSError):
    """`what` lies at a path where a file was expected: "a pipe", "a device"."""

    def __init__(self, what: str, path: Path) -> None:
        """Its `strerror` says it, as that of any OSError."""
        self.what = what
        super().__init__(errno.EINVAL, f"it is {what}, not a file", str(path))


def opened(path: Path) -> BufferedReader:
    """The regular file at `path`, to read its bytes; links are followed.

    Raises FileNotFoundError, IsADirectoryError, NotAFileError for a pipe, a socket or a device, and any other
    OSError; also for a name that no file can have.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pipe"
    >>> os.mkfifo(place)
    >>> try:
    ...     opened(place)
    ... except OSError as error:
    ...     error.strerror
    'it is a pipe, not a file'
    """
    # O_NONBLOCK: opening a pipe would wait for a writer. What was opened is looked at, not what was there
    # a moment before.
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # what opening a socket ends in
            raise NotAFileError("a socket", path) from None
        raise
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            what = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
            raise NotAFileError(what, path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def content(path: Path, most: int = MOST_BYTES) -> bytes:
    """All bytes of the file at `path`. Raises OSError as `opened`, and where it has more than `most`."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        # It may grow while it is read; one byte more than allowed is enough to know.
        data = b"" if size > most else file.read(most + 1)
    if max(size, len(data)) > most:
        what = f"it has {max(size, len(data)):,} bytes, and {most:,} are allowed"
        raise OSError(errno.EFBIG, what, str(path))
    return data


def text(path: Path, most: int = MOST_BYTES) -> str:
    """The same as text, of UTF-8, with or without a byte order mark; a line ends as `\\n`, however it did.

    Raises UnicodeDecodeError too.
    """
    return content(path, most).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
