"""Inputs cut into blocks that can be read apart from each other: the units of work of the stage.

A plain file is cut anywhere: a block's pages are those that begin in it. So is a compressed dump of many
streams, such as the multistream dumps of Wikipedia. Files that can only be read from their beginning (one
bz2 stream, gz, zst) are one block if they are small, and are taken apart into pieces first if they are not.
Where the cuts lie depends on the input alone, never on the number of workers.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from leadline.build.articles.unpacked import is_compressed

Form = Literal["xml", "jsonl", "parquet"]

PLAIN_BYTES: Final = 64 << 20
"""Of a plain file in one block: a few thousand articles, about a minute's work."""
PACKED_BYTES: Final = 16 << 20
"""Of a compressed file in one block; about as much text."""
ROWS: Final = 10_000
"""Of a Parquet file in one block."""
_BZ2_STREAM = re.compile(rb"BZh[1-9]1AY&SY")


@dataclass(frozen=True)
class Block:
    """A part of an input file: bytes `start` to `stop` of the file on disk, or rows of a Parquet file.

    `stop` None is the end. A piece of a file that was taken apart says in `origin` which, and in `line` how
    many lines of it come before. `most` pages are read, all without it.
    """

    form: Form
    path: Path
    start: int = 0
    stop: int | None = None
    origin: str = ""
    line: int = 0
    most: int | None = None

    @property
    def name(self) -> str:
        """The input file as messages call it."""
        return self.origin or str(self.path)

    @property
    def size(self) -> int:
        """Bytes on disk; rows of a Parquet file."""
        if self.stop is not None:
            return self.stop - self.start
        return max(0, self.path.stat().st_size - self.start)


def blocks_of(path: Path, form: Form) -> list[Block] | None:
    """The blocks of a file; None for a large one that must be taken apart first. Raises OSError."""
    if form == "parquet":
        return _rows(path)
    size = path.stat().st_size
    if not is_compressed(path):
        starts = list(range(0, size, PLAIN_BYTES)) or [0]
    elif size <= PACKED_BYTES:
        starts = [0]
    elif form == "xml" and path.suffix == ".bz2":
        starts = list(_streams(path, PACKED_BYTES))
        if len(starts) * PACKED_BYTES * 4 < size:
            return None  # one stream, or a few very long ones
    else:
        return None
    stops = [*starts[1:], None]
    return [Block(form, path, start, stop) for start, stop in zip(starts, stops, strict=True)]


def _streams(path: Path, apart: int) -> Iterator[int]:
    """Where streams of a bz2 file begin, at least `apart` bytes from each other.

    Ten bytes mark a stream's beginning: by chance they stand once in 2^80 bytes.
    """
    yield 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = apart
        while found := _BZ2_STREAM.search(data, at):
            yield found.start()
            at = found.start() + apart


def _rows(path: Path) -> list[Block]:
    import polars

    try:
        rows = int(polars.scan_parquet(path).select(polars.len()).collect().item())
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError):
        return [Block("parquet", path)]  # its reader says what is wrong
    return [Block("parquet", path, start, min(start + ROWS, rows)) for start in range(0, max(rows, 1), ROWS)]
