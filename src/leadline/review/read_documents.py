"""The documents that a reader says to have read beyond the extract: which, and as what bytes.

An item may point to several. Each is a box to tick; what is kept of it is its name and the checksum of its
file as it was then. No document is parsed for that, so that a slow one keeps nobody waiting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from leadline.bench.adjudications import Read
from leadline.bench.item import Item
from leadline.review.drafts import Fields
from leadline.review.evidence import pointed_to
from leadline.review.passages import Documents
from leadline.review.text_read import checksum

_BOX = "beyond-"


def box_of(name: str) -> str:
    """The field of the page that says that the document `name` was read: whatever its number is, and
    whatever signs its name has.

    >>> box_of("deed.txt")
    'beyond-36a06b95'
    """
    return f"{_BOX}{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def read_by(item: Item, documents: Documents | None, fields: Fields) -> tuple[Read, ...]:
    """What was read, in the order in which the item points to it. Raises OSError."""
    ticked = _ticked(item, documents, fields)
    return tuple(Read(source=name, sha256=checksum(path)) for name, path in ticked)


def faults_of_read(item: Item, documents: Documents | None, fields: Fields) -> dict[str, str]:
    """By box: which documents cannot be read any more."""
    found = dict(_ticked(item, documents, fields))
    boxes = {box_of(name) for name in found}
    lost = [box for box, value in fields.items() if box.startswith(_BOX) and value is True]
    faults = {box: "It is not among the sources any more. Put it back." for box in lost if box not in boxes}
    for name, path in found.items():
        try:
            checksum(path)
        except OSError as error:
            why = error.strerror or "the system says no more"
            faults[box_of(name)] = f"It cannot be read now ({why}). Put it back, or take the tick away."
    return faults


def _ticked(item: Item, documents: Documents | None, fields: Fields) -> Iterator[tuple[str, Path]]:
    if documents is None:
        return
    for _, name in pointed_to(item, documents):
        if fields.get(box_of(name)) is True:
            yield name, documents.sources.folder / name
