"""Ids that were merged into others, from a table: a JSON dump does not say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from leadline.build.wikidata.unpacked import broken_packing, unpacked
from leadline.errors import UsageError

_ID = re.compile(r"[QPL][1-9][0-9]*")
_MOST_MOVES = 10
_LONGEST = 1 << 16  # bytes of a row


def read_redirects(path: Path) -> Iterator[tuple[str, str]]:
    """The rows of a table: the old id, the new one, between them a tab or comma; a first line may name them.

    An id may be written as an address, as the query service does. Raises UsageError with file and line.
    """
    for number, line in enumerate(_lines(path), 1):
        row = line.decode("utf-8", "replace").strip()
        if not row:
            continue
        found = [_id(cell) for cell in re.split(r"[\t,]", row)]
        if len(found) == 2 and found[0] and found[1]:
            yield found[0], found[1]
        elif number > 1:
            raise UsageError(
                f"no two ids: {row[:60]!r}",
                where=f"{path}:{number}",
                fix="the old id, a tab, the new one",
            )


def _lines(path: Path) -> Iterator[bytes]:
    """The lines; one that is longer than any row comes in several. Raises UsageError for broken packing."""
    try:
        with unpacked(path) as (file, _):
            while line := file.readline(_LONGEST):
                yield line
    except broken_packing() as error:
        what = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise UsageError(f"cannot be read to its end: {what}", where=str(path)) from None


def redirects_of(paths: Sequence[Path], wanted: Collection[str]) -> dict[str, str]:
    """Old id to new id, of the wanted ids and of those that these lead to; an id's first row counts."""
    found: dict[str, str] = {}
    asked = set(wanted)
    for _ in range(_MOST_MOVES):
        before = len(found)
        for path in paths:
            for old, new in read_redirects(path):
                if old in asked:
                    found.setdefault(old, new)
        asked = {new for new in found.values() if new not in found}
        if len(found) == before or not asked:
            break
    return found


def _id(cell: str) -> str | None:
    bare = cell.strip().strip('<>"').rsplit("/", 1)[-1]
    return bare if _ID.fullmatch(bare) else None
