"""Bytes of plain and compressed files, from any of their streams on; damage is found, never passed over."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from leadline.build.extra import needed

_READ: Final = 1 << 20


class DamagedError(Exception):
    """A file ends too early or holds what cannot be unpacked; what was read before is good."""


def unpacked(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, bool]]:
    """The bytes of a file from `start` on, in pieces, each with whether it is before `stop`.

    `start` and `stop` count bytes of the file as it lies on disk. Of a compressed file `start` is where a
    stream begins (a multistream dump has one for 100 pages), and what belongs to a stream that begins before
    `stop` is before it. Reading on gives what follows, so that a page can be read to its end. Raises
    DamagedError after the last good byte, OSError where the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(start)
        new = _unpackers().get(path.suffix)
        if new is None:
            yield from _plain(file, start, stop)
        else:
            yield from _streams(file, start, stop, new)


def is_compressed(path: Path) -> bool:
    """Whether a file's name says that it is compressed in a form that is read here."""
    return path.suffix in {".bz2", ".gz", ".zst"}


def _unpackers() -> dict[str, Callable[[], Any]]:
    import bz2

    return {
        ".bz2": bz2.BZ2Decompressor,
        ".gz": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
        ".zst": lambda: needed("zstandard").ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
    }


def _plain(file: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[bytes, bool]]:
    if stop is not None:
        left = stop - start
        while left > 0 and (data := file.read(min(_READ, left))):
            left -= len(data)
            yield data, True
    while data := file.read(_READ):
        yield data, stop is None


def _streams(
    file: BinaryIO, start: int, stop: int | None, new: Callable[[], Any]
) -> Iterator[tuple[bytes, bool]]:
    place = begin = start  # of the next byte to be unpacked, and of its stream
    packed = b""
    stream = new()
    fresh = True
    while packed or (packed := file.read(_READ)):
        owned = stop is None or begin < stop
        if fresh and not packed.strip(b"\0"):
            place += len(packed)  # zeros after the last stream, as tapes and gzip have them
            packed = b""
            continue
        try:
            data = stream.decompress(packed)
        except (OSError, ValueError, zlib.error, needed("zstandard").ZstdError) as error:
            raise DamagedError(f"cannot be unpacked after byte {place:,}: {error}") from None
        fresh = False
        rest = stream.unused_data if stream.eof else b""
        place += len(packed) - len(rest)
        packed = rest
        if data:
            yield data, owned
        if stream.eof:
            stream, begin, fresh = new(), place, True
    if not fresh:
        raise DamagedError(f"ends in the midst of compressed data, after byte {place:,}")
