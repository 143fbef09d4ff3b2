"""The content hash of a benchmark that streams by: hashed sorted by id, not in the order of the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from leadline.bench.benchmark import hash_of_entries, hashed_entry
from leadline.bench.item import Item

_IN_MEMORY = 32_000_000  # bytes; more than that waits in a file


class StreamedHash:
    """Takes items one by one, keeps what is hashed of them outside of memory, and hashes it at the end."""

    def __init__(self) -> None:
        """Nothing was taken yet."""
        self._spool = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # closed with self
        self._places: list[tuple[str, int, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spool.close()

    def add(self, item: Item) -> None:
        """The next item."""
        entry = hashed_entry(item)
        self._places.append((item.id, self._spool.tell(), len(entry)))
        self._spool.write(entry)

    def result(self) -> str:
        """The content hash of all items taken: that of `leadline.bench.content_hash`."""
        return hash_of_entries(self._entries())

    def _entries(self) -> Iterator[bytes]:
        for _, start, length in sorted(self._places):
            self._spool.seek(start)
            yield self._spool.read(length)
