"""Files of records, one JSON object a line, compressed with zstd: whole or not there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from leadline.bench.whole_file import whole_file
from leadline.errors import LeadlineError

RecordT = TypeVar("RecordT", bound=BaseModel)
# JSON becomes about a quarter at some 300 MB/s: a build writes each article once and reads it twice.
_LEVEL = 3


@contextmanager
def writing(path: Path) -> Iterator[Callable[[BaseModel], None]]:
    """Write records to `path`, which takes its place when the block ends well and is not there otherwise.

    The bytes depend on the records alone: fields at their default are left out, and no time or size is kept.
    """
    import zstandard

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        packed = zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False)

        def write(record: BaseModel) -> None:
            packed.write(record.model_dump_json(exclude_defaults=True).encode() + b"\n")

        yield write
        packed.close()  # type: ignore[no-untyped-call]


def reading(path: Path, kind: type[RecordT]) -> Iterator[RecordT]:
    """The records of a file that `writing` made. Raises LeadlineError with file and line where it is not."""
    import zstandard

    read = 0
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as unpacked:
            for line in io.BufferedReader(unpacked, 1 << 20):
                read += 1
                yield kind.model_validate_json(line)
    except FileNotFoundError:
        raise LeadlineError("the stage before has left nothing here", where=str(path)) from None
    except (zstandard.ZstdError, ValidationError, ValueError) as error:
        first = str(error).splitlines()[0][:200]
        raise LeadlineError(
            f"is damaged: {first}",
            where=f"{path}:{read}",
            fix="delete it; the stage is done again",
        ) from None
