"""A file's content in pieces of bounded size, whatever it is packed with; a cut or damaged file says so.

Python's readers differ in what they do at the end of a cut file: zstandard's ends as if all were well, gzip's
raises. And a packing may blow up a thousandfold, so that no piece of input may be unpacked in one go.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal

from leadline.build.extra import needed

Packing = Literal["zstd", "gzip", "bzip2", "xz", "none"]
PIECE = 1 << 17
"""Bytes of a piece, about at most; so much before a fault may be lost with it."""

_INPUT = 1 << 18
# A frame of its own behind the file: it can be read only where what stands before it is whole. Zeros are
# packed as a run length, so that the frame itself, taken for data, does not end in them.
_END = bytes(64)


class CutShort(Exception):  # noqa: N818
    """The file ends in the middle."""


class Damaged(Exception):  # noqa: N818
    """The file is not what it begins as."""


def packing(start: bytes) -> Packing:
    """What a file is packed with, by its first four bytes or more.

    >>> packing(b"\\x1f\\x8b\\x08\\x00")
    'gzip'
    """
    if start[:4] == b"\x28\xb5\x2f\xfd" or (start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5):
        return "zstd"
    if start[:2] == b"\x1f\x8b":
        return "gzip"
    if start[:3] == b"BZh":
        return "bzip2"
    return "xz" if start[:4] == b"\xfd7zX" else "none"


def unpacked(path: Path) -> Iterator[bytes]:
    """The content in pieces of about PIECE bytes. Raises CutShort or Damaged after the last good one."""
    with path.open("rb", buffering=0) as file:
        how = packing(file.read(4))
        file.seek(0)
        if how == "none":
            while piece := file.read(PIECE):
                yield piece
        elif how == "zstd":
            yield from _zstd(file)
        else:
            yield from _members(file, how)


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    zstandard = needed("zstandard")
    source = _Followed(file, zstandard.ZstdCompressor().compress(_END))
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(
        source, read_size=_INPUT, read_across_frames=True
    )
    held = b""
    try:
        while piece := reader.read(PIECE):
            # The end may come in two pieces: as many bytes as it has are always held back.
            if len(piece) >= len(_END):
                if held:
                    yield held
                held = piece
            else:
                held += piece
            if len(held) > PIECE:
                yield held[: -len(_END)]
                held = held[-len(_END) :]
    except zstandard.ZstdError as error:
        yield held
        raise (CutShort if source.ended else Damaged)(str(error)) from None
    whole = held.endswith(_END)
    if content := held[: -len(_END)] if whole else held:
        yield content
    if not whole:
        raise CutShort("ends in the middle of a frame")


class _Followed:
    """A file with something behind it."""

    def __init__(self, file: IO[bytes], behind: bytes) -> None:
        self._file, self._behind = file, io.BytesIO(behind)
        self.ended = False

    def read(self, size: int) -> bytes:
        if not self.ended and (piece := self._file.read(size)):
            return piece
        self.ended = True
        return self._behind.read(size)


def _members(file: IO[bytes], how: Packing) -> Iterator[bytes]:
    """Packings that are streams of members, one after the other."""
    start: Callable[[], Any] = {
        "gzip": _gzip,
        "bzip2": bz2.BZ2Decompressor,
        "xz": lzma.LZMADecompressor,
    }[how]
    member, first = start(), True
    waiting = b""
    try:
        while True:
            fresh = b"" if waiting else file.read(_INPUT)
            if not fresh and not waiting and getattr(member, "needs_input", True):
                if not first:
                    return  # between two members
                raise CutShort("ends in the middle")
            piece = member.decompress(waiting + fresh, PIECE)
            first = True
            waiting = getattr(member, "unconsumed_tail", b"")
            if piece:
                yield piece
            if member.eof:
                waiting = member.unused_data.lstrip(b"\0")  # tapes and some servers pad with zeros
                member, first = start(), False
    except _faults() as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Damaged(str(error)) from None


def _faults() -> tuple[type[Exception], ...]:
    known: list[type[Exception]] = [zlib.error, lzma.LZMAError, EOFError, OSError]
    if find_spec("isal") is not None:
        known.append(import_module("isal.isal_zlib").error)
    return tuple(known)


def _gzip() -> Any:
    """zlib's interface with gzip's header; isal's where it is there, two to three times as fast."""
    if find_spec("isal") is None:
        return zlib.decompressobj(wbits=31)
    return import_module("isal.isal_zlib").decompressobj(wbits=31)
