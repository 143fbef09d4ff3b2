"""A full JSON dump of Wikidata, one entity a line: only what is wanted is read further than its id.

Such a dump is 1.6 TB unpacked. Unpacking is what takes the time: bzip2 gives about 30 MB a second and core,
gzip 200 to 400; ids are found at 700 and more, and about 1,000 wanted entities a second read and kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from leadline.build.wikidata.entity import is_entity_id
from leadline.build.wikidata.json_form import Found, NotAnEntity, entity_from
from leadline.build.wikidata.unpacked import broken_packing, unpacked
from leadline.errors import LeadlineError

# What stands before an entity's id in a dump's line; a line that begins otherwise is read whole.
_BEGINNING = re.compile(
    rb'\s*\{(?:\s*"(?:type|datatype|pageid|ns|title|lastrevid|modified)"\s*:\s*(?:"[^"\\]*"|\d+)\s*,)*'
    rb'\s*"id"\s*:\s*"([QPL][0-9]+)"'
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_CLASS = b'"P279":'
# What a dump's first and last line are, without the comma.
BARE_BRACKETS = (b"[", b"]", b"")
_MOST_FAULTS = 20
_TOLD_EACH = 1000  # lines

Kind = Literal["wanted", "class"]


@dataclass
class Reading:
    """How a file was read: lines, bytes (unpacked), entities kept, and what was broken: line and why.

    `broken` counts all faults, `faults` tells the first of them. `cut`: the file ends in mid-stream.
    """

    lines: int = 0
    size: int = 0
    kept: int = 0
    broken: int = 0
    cut: bool = False
    faults: list[tuple[int, str]] = field(default_factory=list)

    def fault(self, line: int, why: str) -> None:
        """Note one."""
        self.broken += 1
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append((line, why[:200]))


def read_dump(
    path: Path,
    wanted: Collection[bytes],
    languages: Collection[str],
    reading: Reading,
    progress: Callable[[int], None] = lambda size: None,
) -> Iterator[tuple[Kind, Found]]:
    """The wanted entities of a full dump (one a line), and every class for what stands above it.

    `wanted` holds ids as bytes. `progress` is told of bytes as they lie on disk. Lines that are no entity are
    counted in `reading` and passed over (those that show an id that is not wanted are not read so far); so is
    the rest of a file whose packing is broken.
    """
    for number, line in _lines(path, reading, progress):
        reading.lines, reading.size = number, reading.size + len(line)
        match = _BEGINNING.match(line)
        if match is not None:
            kind: Kind | None = "wanted" if match[1] in wanted else "class" if _CLASS in line else None
            if kind is None:
                continue
        text = line.strip().removesuffix(b",")
        if text in BARE_BRACKETS:
            continue
        try:
            said = parsed(text)
            entity_id = said["id"]
            if not isinstance(entity_id, str) or not is_entity_id(entity_id):
                raise NotAnEntity("has no id")
            kind = "wanted" if entity_id.encode() in wanted else "class" if _CLASS in line else None
            if kind is None:
                continue
            if kind == "class":
                # Elsewhere in the line it may stand among qualifiers: that makes no class.
                claims = {"P279": said.get("claims", {}).get("P279", [])}
                said = {"id": entity_id, "claims": claims}
            found = Found(entity_id, entity_from(said, languages if kind == "wanted" else ()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reading.fault(number, str(error).splitlines()[0] if str(error) else "is no entity")
            continue
        if kind == "class" and found.entity is not None and not found.entity.claims:
            continue
        reading.kept += kind == "wanted"
        yield kind, found


def _lines(path: Path, reading: Reading, progress: Callable[[int], None]) -> Iterator[tuple[int, bytes]]:
    number = told = 0
    try:
        with unpacked(path) as (file, place):
            for line in file:
                number += 1
                if not number % _TOLD_EACH:
                    now = place()
                    progress(now - told)
                    told = now
                yield number, line
            progress(path.stat().st_size - told)
    except broken_packing() as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's fault, not the file's
            raise LeadlineError(f"cannot be read: {error.strerror}", where=str(path)) from None
        reading.cut = True
        reading.fault(number + 1, f"its packing breaks off here: {error}".splitlines()[0])


def parsed(text: bytes) -> Any:
    """A JSON value. Half a surrogate pair, which some labels have, becomes a question mark."""
    from pydantic_core import from_json

    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        if not _SURROGATE.search(text):
            raise
        whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
        return from_json(whole, allow_inf_nan=False)
