"""The pages of a SQLite file and the records on them, read without SQLite: for a file that it refuses.

Format: https://www.sqlite.org/fileformat2.html. Every page is taken for itself, so that one that is damaged
hides no other; what its parents say is not needed. Nothing here raises for what a file holds.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_MAGIC = b"SQLite format 3\0"
_DEFAULT_SIZE = 4096
_SIZES = frozenset(2**power for power in range(9, 17))
_LOG_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # → the order of bytes of its checksums
_LOG_HEAD, _FRAME_HEAD = 32, 24
_INDEX_INTERIOR, _TABLE_LEAF, _INDEX_LEAF = 2, 13, 10
_INTEGER_SIZES = (0, 1, 2, 3, 4, 6, 8)
# A text or a record beyond it is no answer.
_LONGEST = 2**30

Kind = Literal["table", "index"]


@dataclass(frozen=True)
class Record:
    """A row as it lies on a page: of a table with row ids (`rowid`), or of an index or a table without."""

    kind: Kind
    rowid: int | None
    values: tuple[Any, ...]


class Pages:
    """The pages of the file at `path`, as its write-ahead log, where one lies beside it, changed them."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file cannot be read."""
        self._data = _contents(path)
        log = path.with_name(path.name + "-wal")
        self._log = _contents(log) if log.exists() else b""
        self.size = self._size()
        self._changed = dict(_committed(self._log, self.size))
        self.count = max(-(-len(self._data) // self.size), max(self._changed, default=0))

    def _size(self) -> int:
        found = int.from_bytes(self._data[16:18], "big") if self._data[:16] == _MAGIC else 0
        if found == 1:
            found = 65536
        if found not in _SIZES and len(self._log) > _LOG_HEAD:
            found = int.from_bytes(self._log[8:12], "big")
        return found if found in _SIZES else _DEFAULT_SIZE

    def page(self, number: int) -> bytes:
        """One page, counted from 1; nothing where there is none."""
        if (at := self._changed.get(number)) is not None:
            return bytes(self._log[at : at + self.size])
        return bytes(self._data[(number - 1) * self.size : number * self.size])

    def records(self) -> Iterator[Record]:
        """Every record that can be read, page by page. Of pages that are free there are none."""
        free = self._free()
        for number in range(1, self.count + 1):
            if number not in free:
                yield from self._on(self.page(number), 100 if number == 1 else 0)

    def _free(self) -> set[int]:
        """Pages that are in use no more: they may hold what was deleted."""
        found: set[int] = set()
        head = self.page(1)
        trunk = int.from_bytes(head[32:36], "big") if head[:16] == _MAGIC else 0
        while 1 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            trunk, leaves = struct.unpack(">II", page[:8]) if len(page) >= 8 else (0, 0)
            for at in range(min(leaves, self.size // 4 - 2)):
                found.add(int.from_bytes(page[8 + 4 * at : 12 + 4 * at], "big"))
        # Where the list is damaged, rather what was deleted than nothing of what is there.
        return found if len(found) == int.from_bytes(head[36:40], "big") else set()

    def _on(self, page: bytes, begin: int) -> Iterator[Record]:
        if len(page) < begin + 12 or page[begin] not in (_INDEX_INTERIOR, _TABLE_LEAF, _INDEX_LEAF):
            return
        form = page[begin]
        is_table = form == _TABLE_LEAF
        first = begin + (12 if form == _INDEX_INTERIOR else 8)
        cells = int.from_bytes(page[begin + 3 : begin + 5], "big")
        for cell in range(cells):
            at = int.from_bytes(page[first + 2 * cell : first + 2 * cell + 2], "big")
            at += 4 if form == _INDEX_INTERIOR else 0
            try:
                length, at = _varint(page, at)
                rowid = None
                if is_table:
                    rowid, at = _varint(page, at)
                    rowid -= 2**64 if rowid >= 2**63 else 0
                values = _values(self._payload(page, at, length, is_table))
            except (IndexError, ValueError, struct.error):
                continue
            yield Record("table" if is_table else "index", rowid, values)

    def _payload(self, page: bytes, at: int, length: int, is_table: bool) -> bytes:
        """The bytes of a record, gathered from its page and those it goes on in."""
        if not 0 < length <= _LONGEST:
            raise ValueError
        usable = self.size
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            found = page[at : at + length]
            if len(found) < length:
                raise ValueError
            return found
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        parts, left = [page[at : at + here]], length - here
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        seen: set[int] = set()
        while left > 0:
            if not 1 < following <= self.count or following in seen:
                raise ValueError
            seen.add(following)
            more = self.page(following)
            parts.append(more[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = int.from_bytes(more[:4], "big")
        found = b"".join(parts)
        if len(found) != length:
            raise ValueError
        return found


def _contents(path: Path) -> Any:
    if path.stat().st_size == 0:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _committed(log: Any, size: int) -> Iterator[tuple[int, int]]:
    """Page and place in the log, in order, of what it holds up to its last whole transaction."""
    order = _LOG_MAGIC.get(int.from_bytes(log[:4], "big"))
    if order is None or len(log) < _LOG_HEAD or int.from_bytes(log[8:12], "big") != size:
        return
    salts = bytes(log[16:24])
    sums = _checksum(log[:24], (0, 0), order)
    if struct.pack(">II", *sums) != bytes(log[24:32]):
        return
    waiting: list[tuple[int, int]] = []
    for at in range(_LOG_HEAD, len(log) - _FRAME_HEAD - size + 1, _FRAME_HEAD + size):
        head = bytes(log[at : at + _FRAME_HEAD])
        if head[8:16] != salts:
            return
        sums = _checksum(head[:8], sums, order)
        sums = _checksum(log[at + _FRAME_HEAD : at + _FRAME_HEAD + size], sums, order)
        if struct.pack(">II", *sums) != head[16:24]:
            return
        number, after = struct.unpack(">II", head[:8])
        waiting.append((number, at + _FRAME_HEAD))
        if after:
            yield from waiting
            waiting.clear()


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for at in range(0, len(words), 2):
        one = (one + words[at] + two) & 0xFFFFFFFF
        two = (two + words[at + 1] + one) & 0xFFFFFFFF
    return one, two


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number of one to nine bytes at a place, and the place after it."""
    value = 0
    for taken in range(8):
        byte = data[at + taken]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + taken + 1
    return value << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> tuple[Any, ...]:
    """The columns of a record. Raises ValueError or IndexError for what is none."""
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    found: list[Any] = []
    at = end
    for kind in kinds:
        if kind >= 12:
            size = (kind - 12) // 2
            raw = payload[at : at + size]
            if len(raw) < size:
                raise ValueError
            found.append(raw.decode("utf-8") if kind % 2 else raw)
        elif kind <= 6:
            size = _INTEGER_SIZES[kind]
            found.append(int.from_bytes(payload[at : at + size], "big", signed=True) if kind else None)
        elif kind == 7:
            size = 8
            found.append(struct.unpack(">d", payload[at : at + 8])[0])
        elif kind in (8, 9):
            size = 0
            found.append(kind - 8)
        else:
            raise ValueError
        at += size
    if at != len(payload):
        raise ValueError
    return tuple(found)
