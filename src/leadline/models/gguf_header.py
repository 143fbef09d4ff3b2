"""Whether the header of a GGUF file can be true of a file of its size, before any library believes it.

Format: the bytes GGUF, a version, the numbers of tensors and of metadata entries (64 bits each); an entry is
a name, a type and a value, a text is its length and its bytes, a list is a type, a length and its values. All
of these figures are the file's own: a reader that reserves what they say, or counts to them, never ends.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from leadline.errors import UsageError

# Bytes of a value, by its type; texts and lists are none of these.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9
# An entry has a name's length, a type and a byte at least; a tensor moreover dimensions and a place.
_LEAST_ENTRY, _LEAST_TENSOR = 13, 24
_DEEPEST = 4
_MOST_DIMENSIONS = 8


class _UntrueError(Exception):
    """The file cannot hold what it says."""


def check_header(path: Path) -> None:
    """Raise UsageError where the header tells of more than the file holds. Reads the metadata, no weights."""
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            _walk(file, size)
        except _UntrueError as error:
            raise UsageError(
                f"not a whole GGUF file: {error}", where=str(path), fix="fetch it again"
            ) from None


def _walk(file: BinaryIO, size: int) -> None:
    magic, version = file.read(4), _number(file, "<I")
    if magic != b"GGUF" or not 2 <= version <= 3:
        raise _UntrueError("it is of no version that is known here")
    tensors, entries = _number(file, "<Q"), _number(file, "<Q")
    if tensors * _LEAST_TENSOR + entries * _LEAST_ENTRY > size:
        raise _UntrueError("its header counts more than the file has room for")
    for _ in range(entries):
        _skip_text(file, size)
        _skip_value(file, size, _number(file, "<I"), 0)
    for _ in range(tensors):
        _skip_text(file, size)
        dimensions = _number(file, "<I")
        if dimensions > _MOST_DIMENSIONS:
            raise _UntrueError(f"a tensor has {dimensions:,} dimensions")
        _skip(file, size, 8 * dimensions + 4)
        if _number(file, "<Q") > size:
            raise _UntrueError("a tensor lies beyond its end")


def _skip_value(file: BinaryIO, size: int, kind: int, depth: int) -> None:
    if kind in _SIZES:
        _skip(file, size, _SIZES[kind])
    elif kind == _TEXT:
        _skip_text(file, size)
    elif kind == _LIST and depth < _DEEPEST:
        of, length = _number(file, "<I"), _number(file, "<Q")
        if of in _SIZES:
            _skip(file, size, length * _SIZES[of])
            return
        if length * 8 > size - file.tell():
            raise _UntrueError("a list is longer than the file")
        for _ in range(length):
            _skip_value(file, size, of, depth + 1)
    else:
        raise _UntrueError("a value is of no kind that is known, or lists lie too deep in one another")


def _skip_text(file: BinaryIO, size: int) -> None:
    _skip(file, size, _number(file, "<Q"))


def _skip(file: BinaryIO, size: int, length: int) -> None:
    if length > size - file.tell():
        raise _UntrueError("it ends within its header")
    file.seek(length, 1)


def _number(file: BinaryIO, form: str) -> int:
    data = file.read(struct.calcsize(form))
    if len(data) < struct.calcsize(form):
        raise _UntrueError("it ends within its header")
    found: int = struct.unpack(form, data)[0]
    return found
