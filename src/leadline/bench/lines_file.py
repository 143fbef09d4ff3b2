"""Files that only grow, a JSON object a line: how people's readings, labels and decisions are kept.

A line is written whole and is on the disk when its writer is told so, whoever else writes at the same time.
What a sudden end left half written at the end of a file was told to nobody.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel

from leadline.bench.whole_file import on_disk
from leadline.errors import LeadlineError

# The end of a file is looked for in pieces of this size: a line is seldom longer.
_PIECE = 1 << 16


@contextmanager
def growing(path: Path) -> Iterator[Callable[[BaseModel], None]]:
    """Be the only writer of the file `path`, which need not be there; the value adds a line to it.

    So what a line depends on is read inside, and still holds when it is written. Keys that have their default
    value are left out of a line. Half a line at the end is dropped. Raises LeadlineError where the file
    cannot be written, which is then as it was: not there, if it was not.

    >>> import tempfile
    >>> class Word(BaseModel):
    ...     says: str
    >>> file = Path(tempfile.mkdtemp()) / "words.jsonl"
    >>> with growing(file) as add:
    ...     add(Word(says="yes"))
    >>> file.read_text()
    '{"says": "yes"}\\n'
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f".{path.name}.lock"))
        lock.acquire()  # the system lets go of it when the process ends, however it ends
    except OSError as error:
        raise _unwritable(path, error) from error

    def add(line: BaseModel) -> None:
        text = json.dumps(line.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        try:
            # Halves of characters have no UTF-8; as an escape JSON gives them back as they are.
            _append(path, text.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise _unwritable(path, error) from error

    try:
        yield add
    finally:
        lock.release()


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of such a file with their numbers from 1; blank ones and half a line at the end are none.

    >>> list(lines_of(b'{"a": 1}\\n\\n{"a": 2}\\n{"a'))
    [(1, b'{"a": 1}'), (3, b'{"a": 2}')]
    """
    *lines, tail = data.split(b"\n")
    yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    if tail.strip() and _is_whole(tail):
        yield len(lines) + 1, tail


def is_half(tail: bytes) -> bool:
    """Whether what stands after the last line end of a file is an object that was cut off.

    >>> is_half(b'{"a": 1'), is_half(b'{"a": 1}'), is_half(b"remark")
    (True, False, False)
    """
    return tail.lstrip().startswith(b"{") and not _is_whole(tail)


def _append(path: Path, data: bytes) -> None:
    is_new = not path.exists()
    if not is_new and not path.is_file():  # to open a pipe is to wait for whoever reads it
        raise OSError(errno.EINVAL, "it is no file", str(path))
    with path.open("a+b", buffering=0) as file:
        before = file.seek(0, os.SEEK_END)
        tail = _after_last_end(path, before)
        if tail.strip() and not _is_whole(tail):
            file.truncate(before - len(tail))
        elif tail:
            data = b"\n" + data
        try:
            # One write at the end of the file: whole lines even for a reader who knows of no lock.
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(before)
            if is_new:
                path.unlink(missing_ok=True)
            raise
    if is_new:
        on_disk(path.parent)


def _after_last_end(path: Path, size: int) -> bytes:
    """What stands after the last line end of a file, read from behind: the file may be long."""
    tail = b""
    with path.open("rb") as file:
        while size and b"\n" not in tail:
            start = max(size - _PIECE, 0)
            file.seek(start)
            tail, size = file.read(size - start) + tail, start
    return tail.rpartition(b"\n")[2]


def _is_whole(line: bytes) -> bool:
    """Whether a line is JSON to its end: an object that was cut off never is."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _unwritable(path: Path, error: OSError) -> LeadlineError:
    what = f"cannot be written: {error.strerror or error}"
    return LeadlineError(
        what, where=str(path), fix="nothing was changed; make room, or let the folder be written"
    )
