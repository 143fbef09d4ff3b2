"""A hash over what an audit checks and the content hash of a benchmark leaves out: quotes and pointers.

A corrected quote moves no answer, so the content hash stays as it is; an audit's verdict on the item is of
the old quote all the same. By this hash an audit knows the evidence that it was made of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from leadline.bench.item import Item


class EvidenceHash:
    """Takes items one by one, in any order: 32 bytes are kept of each."""

    def __init__(self) -> None:
        """Nothing was taken yet."""
        self._digests: list[bytes] = []

    def add(self, item: Item) -> None:
        """The next item."""
        told = [item.id, item.source, [[one.quote, one.source or item.source] for one in item.evidence]]
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        self._digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())

    def result(self) -> str:
        """The hash of all items taken, as "sha256:<hex>"."""
        return f"sha256:{hashlib.sha256(b''.join(sorted(self._digests))).hexdigest()}"


def evidence_hash(items: Iterable[Item]) -> str:
    """sha256 over the ids, quotes and pointers of all items; their order does not matter.

    >>> a, b = Item(id="a", question="?", answer="1"), Item(id="b", question="?", answer="2", source="b.txt")
    >>> evidence_hash([a, b]) == evidence_hash([b, a]) != evidence_hash([a])
    True
    """
    found = EvidenceHash()
    for item in items:
        found.add(item)
    return found.result()
