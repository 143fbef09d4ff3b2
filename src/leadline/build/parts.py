"""Files of records, one JSON object a line, compressed with zstd: whole or not there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from leadline.bench.whole_file import whole_file
from leadline.build.disk import said_by_the_disk
from leadline.errors import LeadlineError

RecordT = TypeVar("RecordT", bound=BaseModel)
# JSON becomes about a quarter at some 300 MB/s: a build writes each article once and reads it twice.
_LEVEL = 3
_BLOCK = 1 << 20


@contextmanager
def writing(path: Path) -> Iterator[Callable[[BaseModel], None]]:
    """Write records to `path`, which takes its place when the block ends well and is not there otherwise.

    The bytes depend on the records alone: fields at their default are left out, and no time or size is kept.
    Raises LeadlineError where the disk is full or may not be written.
    """
    import zstandard

    with said_by_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            packing = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            packed = packing.stream_writer(file, closefd=False)

            def write(record: BaseModel) -> None:
                packed.write(record.model_dump_json(exclude_defaults=True).encode() + b"\n")

            yield write
            packed.close()  # type: ignore[no-untyped-call]


def reading(
    path: Path,
    kind: type[RecordT],
    first: int = 0,
    last: int | None = None,
    only: Callable[[bytes], bool] | None = None,
) -> Iterator[RecordT]:
    """The records of a file that `writing` made. Raises LeadlineError with file and line where it is not.

    A file that was cut off or altered is an error at its end at the latest, never a shorter list of records:
    what stands in it before the fault has been given by then. With `first` and `last`, only those records,
    counted from 0, `last` not included; the others are passed over without a look, and so are those whose
    line `only` says no to.
    """
    for number, line in enumerate(islice(_lines(path), last)):
        if number >= first and (only is None or only(line)):
            try:
                record = kind.model_validate_json(line)
            except ValidationError as error:
                raise _damaged(path, number + 1, error) from None
            yield record


def count(path: Path) -> int:
    """How many records a file holds. Raises LeadlineError where it is damaged."""
    return sum(1 for _ in _lines(path))


def _lines(path: Path) -> Iterator[bytes]:
    import zstandard

    read = 0
    try:
        with path.open("rb") as file, io.BufferedReader(Unpacked(file), _BLOCK) as lines:
            for line in lines:
                read += 1
                yield line
    except FileNotFoundError:
        raise LeadlineError(
            "the stage before has left nothing here",
            where=str(path),
            fix=f"delete {path.parent}; the stage is done again",
        ) from None
    except (zstandard.ZstdError, ValueError, EOFError) as error:
        raise _damaged(path, read, error) from None


def _damaged(path: Path, line: int, error: Exception) -> LeadlineError:
    return LeadlineError(
        f"is damaged: {_why(error)}", where=f"{path}:{line}", fix="delete it; the stage is done again"
    )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}"[:200] if place else first["msg"][:200]
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


class Unpacked(io.RawIOBase):
    """The content of a file of zstd frames, one or several after each other.

    The library's own stream reader ends without a word at the end of a file that was cut off, and after the
    first of several frames; this raises EOFError for the former and goes on after the latter.
    """

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        self._file = file
        self._library = zstandard.ZstdDecompressor()
        self._frame = self._library.decompressobj()
        self._whole = False  # whether what was read ends where a frame does
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """It is read, not written."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """As many bytes as there are at once; 0 at the end. Raises EOFError where the file was cut off."""
        while not self._ready:
            if not self._more():
                return 0
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bool:
        """Unpack the next block; False at the end."""
        packed = self._packed or self._file.read(_BLOCK // 8)
        self._packed = b""
        if not packed:
            if not self._whole:
                raise EOFError("it is cut off")
            return False
        self._whole = False
        self._ready = memoryview(self._frame.decompress(packed))
        if self._frame.eof:
            self._packed = self._frame.unused_data
            self._frame, self._whole = self._library.decompressobj(), True
        return True
