"""Many long literals at once: text is looked at only every sixteenth byte.

Whatever place a literal begins at, one of the text's 16-byte grams at a multiple of 16 lies inside it if it
is at least 31 bytes long; which one depends on the place modulo 16. So each literal enters a table with 16 of
its grams, one for each remainder, and one look-up per 16 bytes of text finds every occurrence. (Filters over
q-grams of which only some are looked at: E. Sutinen and J. Tarhio, "On using q-gram locations in approximate
string matching", 1995; shifts over blocks: S. Wu and U. Manber, "A fast algorithm for multi-pattern
searching", 1994.) A literal may choose, for each remainder, among its grams: the one that is rarest in all
literals, so that common words are seldom looked at twice.

Shorter literals, from 23 bytes on, have a table of 8-byte grams, at the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.build.presence.machine_code import loops

STRIDE = 16
_WORD = 8
SHORTEST = _WORD + STRIDE - 1
"""Shorter literals would be missed at some places: they are none of this table's."""

# A gram is hashed by multiplication, its second word with another number.
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_COUNTING = 22  # bits of the table in which grams are counted to tell rare ones
# Bits of a filter for each slot, as a power of two: the filter is to stay in the caches, 1 MB if it can.
_SPARSEST, _DENSEST, _FILTER = 4, 2, 23
# A key's six bits from each of these on name the bits that it sets in its word of a filter.
_SHIFTS = tuple(map(np.uint64, (39, 33, 27)))
_HASHING = np.array([_MIX, _MIX_SECOND, *_SHIFTS], np.uint64)
_ONE, _SIX_BITS = np.uint64(1), np.uint64(63)
_NO_FILTER = (np.uint64(63), np.zeros(2, np.uint64))
_CHUNK = 20_000  # literals whose grams are computed at a time: some 30 MB

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GramTable:
    """What a text is looked up in: grams of `words` 8-byte words each.

    Entries are sorted by `key`, the 64-bit hash of a gram: which literal, at which byte of it. `known` is a
    Bloom filter of all keys in blocks of one word, that of a key's upper bits (F. Putze, P. Sanders and J.
    Singler, "Cache-, hash- and space-efficient Bloom filters", 2007); `first` says where the entries of a
    key's slot, its upper bits, begin. `joined` are all literals, one after the other, and `begins` says where
    each begins.
    """

    words: int
    literals: tuple[bytes, ...]
    joined: npt.NDArray[np.uint8]
    begins: npt.NDArray[np.int64]
    numbers: tuple[int, ...]
    known_shift: np.uint64
    known: Words
    first_shift: np.uint64
    first: Ints
    key: Words
    literal: Ints
    offset: Ints

    @property
    def megabytes(self) -> float:
        """Size of the arrays."""
        arrays = (self.joined, self.begins, self.known, self.first, self.key, self.literal, self.offset)
        return sum(array.nbytes for array in arrays) / 1e6


def gram_tables(literals: Sequence[bytes]) -> tuple[GramTable, ...]:
    """Tables of literals of at least SHORTEST bytes each. About 3 s for 100,000 sentences.

    >>> tables = gram_tables([b"wasborninUlminWuerttemberg"])
    >>> find(tables, np.frombuffer(b"Einstein" + b"wasborninUlminWuerttemberg" + b"andstudied", np.uint8))
    [(8, 0)]
    """
    tables = []
    for words, shortest, longest in ((2, SHORTEST + _WORD, None), (1, SHORTEST, SHORTEST + _WORD)):
        numbers = [n for n, text in enumerate(literals) if shortest <= len(text) < (longest or 1 << 62)]
        if numbers:
            tables.append(_table([literals[n] for n in numbers], numbers, words))
    return tuple(tables)


def find(tables: Sequence[GramTable], text: npt.NDArray[np.uint8]) -> list[tuple[int, int]]:
    """(place, number of the literal) of every occurrence in a text, overlapping ones too, in no order."""
    loop = loops("gram_loop")
    if loop is None:
        return _found(tables, text)
    wide = next((table for table in tables if table.words == 2), None)
    narrow = next((table for table in tables if table.words == 1), None)
    filters = [(one.known_shift, one.known) if one is not None else _NO_FILTER for one in (wide, narrow)]
    hits = loop.hits(text, _HASHING, *filters[0], *filters[1])
    found: list[tuple[int, int]] = []
    for table, pairs, keys in ((wide, *hits[:2]), (narrow, *hits[2:])):
        if table is not None and pairs.size:
            places, which = loop.compare(
                text, pairs, keys, table.first_shift, table.first, table.key, table.literal, table.offset,
                table.joined, table.begins,
            )  # fmt: skip
            numbers = [table.numbers[n] for n in which.tolist()]
            found += zip(places.tolist(), numbers, strict=True)
    return found


def lines_of(text: npt.NDArray[np.uint8], places: Sequence[int]) -> list[int]:
    """How many line ends of a text come before each of some places, which ascend."""
    if not places:
        return []
    loop = loops("gram_loop")
    if loop is not None:
        lines = loop.lines_of(text, np.array(places, np.int64))
    else:
        lines = np.searchsorted(np.flatnonzero(text == 0x0A), places)
    return [int(line) for line in lines]


def _found(tables: Sequence[GramTable], text: npt.NDArray[np.uint8]) -> list[tuple[int, int]]:
    """What `gram_loop.find` does, by operations on arrays."""
    found: list[tuple[int, int]] = []
    words = text[: text.size // _WORD * _WORD].view(np.uint64)
    firsts = words[::2] * _MIX
    plain = b""
    for table in tables:
        keys = firsts
        if table.words == 2:
            keys = words[1::2] * _MIX_SECOND
            keys ^= firsts[: keys.size]
        known = table.known.take((keys >> table.known_shift).view(np.int64))
        hits = np.flatnonzero(known >> (keys >> _SHIFTS[0] & _SIX_BITS) & _ONE)
        for shift in _SHIFTS[1:]:
            hits = hits[(known[hits] >> (keys[hits] >> shift & _SIX_BITS) & _ONE) != 0]
        key = keys[hits]
        slot = (key >> table.first_shift).view(np.int64)
        begin = table.first[slot]
        many = table.first[slot + 1] - begin
        # Slots with entries: their entries side by side, each with its place in `key`.
        which = np.repeat(np.arange(hits.size), many)
        entry = np.arange(which.size) + (begin - np.cumsum(many) + many)[which]
        same = np.flatnonzero(table.key[entry] == key[which])
        if not same.size:
            continue
        plain = plain or text.tobytes()
        entry = entry[same]
        starts = (hits[which[same]] * STRIDE - table.offset[entry]).tolist()
        for start, number in zip(starts, table.literal[entry].tolist(), strict=True):
            literal = table.literals[number]
            if start >= 0 and plain.startswith(literal, start):
                found.append((start, table.numbers[number]))
    return found


def _table(literals: list[bytes], numbers: list[int], words: int) -> GramTable:
    counts = np.zeros(1 << _COUNTING, np.int64)
    shift = np.uint64(64 - _COUNTING)
    chunks = range(0, len(literals), _CHUNK)
    for begin in chunks:
        _, _, keys = _keys(literals[begin : begin + _CHUNK], words)
        counts += np.bincount((keys >> shift).view(np.int64), minlength=1 << _COUNTING)
    parts = [_rarest(literals[begin : begin + _CHUNK], words, counts) for begin in chunks]
    literal = np.concatenate([part[0] + np.int32(begin) for begin, part in zip(chunks, parts, strict=True)])
    offset = np.concatenate([part[1] for part in parts])
    key = np.concatenate([part[2] for part in parts])
    order = np.argsort(key, kind="stable")
    literal, offset, key = literal[order], offset[order], key[order]
    bits = max(int(np.ceil(np.log2(key.size))), 12)
    filtered = bits + min(max(_FILTER - bits, _DENSEST), _SPARSEST) - 6  # words of 2**6 bits
    first_shift, known_shift = np.uint64(64 - bits), np.uint64(64 - filtered)
    first = np.zeros((1 << bits) + 1, np.int32)
    np.cumsum(np.bincount((key >> first_shift).view(np.int64), minlength=1 << bits), out=first[1:])
    known = np.zeros(1 << filtered, np.uint64)
    for shift in _SHIFTS:
        np.bitwise_or.at(known, (key >> known_shift).view(np.int64), _ONE << (key >> shift & _SIX_BITS))
    return GramTable(
        words, tuple(literals), np.frombuffer(b"".join(literals), np.uint8),
        np.cumsum([0, *map(len, literals)]), tuple(numbers), known_shift, known,
        first_shift, first, key, literal, offset,
    )  # fmt: skip


def _keys(literals: Sequence[bytes], words: int) -> tuple[Ints, Ints, Words]:
    """Every gram of every literal: number of the literal, offset in it, key."""
    size = _WORD * words
    joined = np.frombuffer(b"".join(literals) + bytes(size), np.uint8)
    grams = np.zeros(joined.size - _WORD, np.uint64)
    for byte in range(_WORD):
        grams |= joined[byte : byte + grams.size].astype(np.uint64) << np.uint64(8 * byte)
    keys = grams * _MIX
    if words == 2:
        keys = keys[:-_WORD] ^ (grams[_WORD:] * _MIX_SECOND)
    lengths = np.fromiter(map(len, literals), np.int64, len(literals))
    number = np.repeat(np.arange(len(literals), dtype=np.int32), lengths)
    offset = (np.arange(keys.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)).astype(np.int32)
    whole = offset <= np.repeat(lengths, lengths) - size
    return number[whole], offset[whole], keys[whole]


def _rarest(literals: Sequence[bytes], words: int, counts: npt.NDArray[np.int64]) -> tuple[Ints, Ints, Words]:
    """For each literal and remainder the gram that is rarest in all literals."""
    number, offset, keys = _keys(literals, words)
    seen = counts[(keys >> np.uint64(64 - _COUNTING)).view(np.int64)]
    group = number.astype(np.int64) * STRIDE + offset % STRIDE
    rank = np.lexsort((offset, seen, group))
    best = rank[np.flatnonzero(np.diff(group[rank], prepend=-1))]
    return number[best], offset[best], keys[best]
