"""Files of a few entities: a document of the API or of Special:EntityData, one entity, or lines of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from leadline.build.wikidata.dump import BARE_BRACKETS, Reading, parsed
from leadline.build.wikidata.entity import is_entity_id
from leadline.build.wikidata.json_form import Found, NotAnEntity, entities_in
from leadline.build.wikidata.unpacked import broken_packing, unpacked
from leadline.errors import UsageError

# More than this, unpacked, is not a file of a few entities: parsed, it takes several times as much memory.
_MOST_WHOLE = 1 << 28
_PIECE = 1 << 22


def read_files(path: Path, languages: Collection[str], reading: Reading) -> Iterator[Found]:
    """All entities of a file of a few: one document (Special:EntityData, wbgetentities, an entity), or lines.

    A document of one entity that is named by another id (Q105.json holds Q42) tells that the one was merged
    into the other. Raises UsageError where the file is JSON of something else, or none.
    """
    try:
        with unpacked(path) as (file, _):
            # Piece by piece: asked for as much as is allowed, some readers take all that memory at once.
            pieces, size = list[bytes](), 0
            while size <= _MOST_WHOLE and (piece := file.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
            text = b"".join(pieces)
    except broken_packing() as error:
        raise UsageError(f"cannot be unpacked: {error}".splitlines()[0], where=str(path)) from None
    if len(text) > _MOST_WHOLE:
        raise UsageError(
            "is larger than 256 MB, unpacked",
            where=str(path),
            fix="name it under wikidata.dump, not entities",
        )
    reading.size += len(text)
    try:
        found = list(entities_in(parsed(text), languages))
    except NotAnEntity as error:
        raise UsageError(
            str(error), where=str(path), fix="entities come from Special:EntityData, wbgetentities or a dump"
        ) from None
    except ValueError:
        found = list(_by_line(text, languages, reading))
        if not found:
            fault = reading.faults[0] if reading.faults else (1, "is empty")
            raise UsageError(f"is no JSON: {fault[1]}", where=f"{path}:{fault[0]}") from None
    named = path.name.partition(".")[0]
    if len(found) == 1 and is_entity_id(named) and found[0].entity is not None and found[0].id != named:
        found.append(Found(named, found[0].entity))
    reading.kept += len(found)
    yield from found


def _by_line(text: bytes, languages: Collection[str], reading: Reading) -> Iterator[Found]:
    for number, line in enumerate(text.split(b"\n"), 1):
        reading.lines += 1
        bare = line.strip().removesuffix(b",")
        if bare in BARE_BRACKETS:
            continue
        try:
            yield from entities_in(parsed(bare), languages)
        except ValueError as error:
            reading.fault(number, str(error).splitlines()[0])
