"""Which of many documents hold a text? One pass over the documents for all texts at once.

Looking for each of n texts in each of m documents is n × m searches. Instead a few stretches of each text
are hashed, and every document is hashed once at all its positions (a polynomial hash by doubling, all
positions in five steps); what coincides names the few documents that are worth a proper look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# Characters of normal form: about six words. A power of two, for the hash is made by doubling.
STRETCH = 32
# Stretches taken of a text, and the share of them that a document must hold to be worth a look: a window may
# be cut across a page's foot or a table's edge, a quote must be there as it is.
STRETCHES, WINDOW_WORTH, QUOTE_WORTH = 16, 0.7, 0.999
# Documents kept per text.
_KEPT = 4
_BASE, _MIX = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD
# Bits of a hash that place it in the filter: small enough for a cache, with room so that few pass wrongly.
_LEAST_BITS, _MOST_BITS, _ROOM = 16, 23, 64
_CHUNK = 1 << 20  # positions hashed at a time: a document of 100 MB is not hashed in one piece

Hashes = NDArray[np.uint64]


def hashes_of(text: str) -> Hashes:
    """The hash of every stretch of a normal form, by its start; empty for a text that is too short."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    if codes.size < STRETCH:
        return np.zeros(0, np.uint64)
    power, size = np.uint64(_BASE), 1
    found = codes
    while size < STRETCH:
        found = found[:-size] * power + found[size:]
        power, size = np.uint64(int(power) ** 2 & 0xFFFFFFFFFFFFFFFF), size * 2
    found = (found ^ (found >> np.uint64(31))) * np.uint64(_MIX)
    return found ^ (found >> np.uint64(29))


def stretches_of(text: str, count: int = STRETCHES) -> Hashes:
    """The hashes of `count` stretches, evenly spread over a normal form."""
    last = len(text) - STRETCH
    if last < 0:
        return np.zeros(0, np.uint64)
    starts = np.unique(np.linspace(0, last, count).astype(np.int64)).tolist()
    return np.concatenate([hashes_of(text[start : start + STRETCH]) for start in starts])


@dataclass(frozen=True, slots=True)
class Sought:
    """Stretches of the texts whose documents are sought; a text is a number from 0 on."""

    hashes: Hashes  # sorted
    owners: NDArray[np.int32]
    least: NDArray[np.float64]  # stretches of each text that make a document worth a look
    filter: NDArray[np.bool_]
    shift: np.uint64  # of a hash, to its place in the filter
    markup: bool  # whether tags are among what is sought

    @classmethod
    def of(cls, texts: Sequence[Hashes], worth: Sequence[float], *, markup: bool = False) -> Sought:
        """The stretches of these texts; a document is worth a look that holds the share `worth` of them."""
        counts = np.array([stretches.size for stretches in texts], np.int32)
        hashes = np.concatenate([np.zeros(0, np.uint64), *texts])
        owners = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
        order = np.argsort(hashes, kind="stable")
        bits = min(_MOST_BITS, max(_LEAST_BITS, (hashes.size * _ROOM).bit_length()))
        shift = np.uint64(64 - bits)
        present = np.zeros(1 << bits, np.bool_)
        present[hashes >> shift] = True
        return cls(hashes[order], owners[order], counts * np.array(worth), present, shift, markup)

    def found_in(self, forms: Iterable[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The texts that a document is worth a look for, and how many of their stretches it holds.

        `forms` are the document's normal forms: of its text, and perhaps of its markup.
        """
        matched: list[Hashes] = []
        for form in forms:
            for start in range(0, max(1, len(form)), _CHUNK):
                hashes = hashes_of(form[start : start + _CHUNK + STRETCH - 1])
                likely = hashes[self.filter[hashes >> self.shift]]
                at = np.minimum(np.searchsorted(self.hashes, likely), max(0, self.hashes.size - 1))
                matched.append(likely[self.hashes[at] == likely] if likely.size else likely)
        hashes = np.unique(np.concatenate([np.zeros(0, np.uint64), *matched]))
        first = np.searchsorted(self.hashes, hashes, "left")
        behind = np.searchsorted(self.hashes, hashes, "right")
        sizes = behind - first
        if not sizes.any():
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        owners, held = np.unique(self.owners[np.repeat(first, sizes) + offsets], return_counts=True)
        worth = held >= self.least[owners]
        return owners[worth].astype(np.int32), held[worth].astype(np.int32)


@dataclass(slots=True)
class Candidates:
    """The documents that hold most of each text: a few per text, found in any order of documents."""

    texts: int
    _names: list[str] = field(default_factory=list, init=False)
    _held: NDArray[np.int32] = field(init=False)
    _documents: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is found yet."""
        self._held = np.zeros((self.texts, _KEPT), np.int32)
        self._documents = np.full((self.texts, _KEPT), -1, np.int32)

    def add(self, name: str, texts: NDArray[np.int32], held: NDArray[np.int32]) -> None:
        """A document, with the texts that it is worth a look for. Of equals, the first one stays."""
        self._names.append(name)
        least = self._held[texts].argmin(axis=1)
        better = held > self._held[texts, least]
        rows, columns = texts[better], least[better]
        self._held[rows, columns] = held[better]
        self._documents[rows, columns] = len(self._names) - 1

    def of(self, text: int) -> list[str]:
        """The names for one text, the one that holds most of it first."""
        order = np.argsort(-self._held[text], kind="stable")
        return [self._names[number] for number in self._documents[text][order] if number >= 0]
