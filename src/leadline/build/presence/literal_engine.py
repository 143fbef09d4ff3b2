"""Ways to find many literals in a text; whichever is taken, the same is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from leadline.build.presence import grams
from leadline.errors import UsageError

EngineName = Literal["grams", "hyperscan", "ahocorasick"]
Bytes = npt.NDArray[np.uint8]

# Hyperscan's compiler takes memory and time beyond proportion: 100,000 literals in one go take minutes.
_HYPERSCAN_CHUNK = 20_000
_FRAGMENT = 24  # bytes of a literal that Hyperscan is given; what it finds is compared whole


class LiteralEngine(Protocol):
    """Finds literals."""

    name: str

    def find(self, text: Bytes) -> list[tuple[int, int]]:
        """(place, number of the literal) of every occurrence, overlapping ones too, in no order."""


class Grams:
    """Table look-ups every sixteenth byte (`grams.py`), and another engine for literals too short for it."""

    def __init__(self, literals: Sequence[bytes]) -> None:
        self._tables = grams.gram_tables(literals)
        short = [number for number, text in enumerate(literals) if len(text) < grams.SHORTEST]
        self._numbers = short
        self._short = _classic([literals[number] for number in short]) if short else None
        self.name = f"grams, {self._short.name} for {len(short):,} short ones" if self._short else "grams"

    def find(self, text: Bytes) -> list[tuple[int, int]]:
        """See LiteralEngine."""
        found = grams.find(self._tables, text)
        if self._short is not None:
            found += [(place, self._numbers[number]) for place, number in self._short.find(text)]
        return found


class Hyperscan:
    """Intel's matcher, given the end of each literal: shorter patterns make smaller tables."""

    name = "hyperscan"

    def __init__(self, literals: Sequence[bytes]) -> None:
        import hyperscan

        self._literals = list(literals)
        by_fragment: dict[bytes, list[int]] = {}
        for number, literal in enumerate(self._literals):
            by_fragment.setdefault(literal[-_FRAGMENT:], []).append(number)
        self._members = list(by_fragment.values())
        fragments = list(by_fragment)
        self._databases: list[Any] = []
        for begin in range(0, len(fragments), _HYPERSCAN_CHUNK):
            chunk = fragments[begin : begin + _HYPERSCAN_CHUNK]
            database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
            ids = list(range(begin, begin + len(chunk)))
            database.compile(expressions=chunk, ids=ids, elements=len(chunk), flags=0, literal=True)
            self._databases.append(database)

    def find(self, text: Bytes) -> list[tuple[int, int]]:
        """See LiteralEngine."""
        plain = text.tobytes()
        ends: list[tuple[int, int]] = []

        def met(number: int, begin: int, end: int, flags: int, context: object) -> None:
            ends.append((end, number))

        for database in self._databases:
            database.scan(plain, match_event_handler=met)
        found = []
        for end, fragment in ends:
            for number in self._members[fragment]:
                literal = self._literals[number]
                if plain.endswith(literal, 0, end):
                    found.append((end - len(literal), number))
        return found


class AhoCorasick:
    """An automaton over the whole literals."""

    name = "ahocorasick"

    def __init__(self, literals: Sequence[bytes]) -> None:
        import ahocorasick_rs

        # Two sentences may have one squeezed form; the automaton names only one of them.
        by_literal: dict[bytes, list[int]] = {}
        for number, literal in enumerate(literals):
            by_literal.setdefault(literal, []).append(number)
        self._members = list(by_literal.values())
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(by_literal))

    def find(self, text: Bytes) -> list[tuple[int, int]]:
        """See LiteralEngine."""
        matches = self._automaton.find_matches_as_indexes(text.tobytes(), overlapping=True)
        return [(start, number) for index, start, _ in matches for number in self._members[index]]


def literal_engine(literals: Sequence[bytes], name: EngineName = "grams") -> LiteralEngine:
    """An engine for literals, none of them empty. Raises UsageError where its package is missing."""
    if name == "grams":
        return Grams(literals)
    try:
        return Hyperscan(literals) if name == "hyperscan" else AhoCorasick(literals)
    except ImportError as error:
        raise UsageError(
            f"{error.name} is not installed", fix="pip install 'leadline[build]', or engine: grams"
        ) from None


def _classic(literals: Sequence[bytes]) -> LiteralEngine:
    """Hyperscan where it is installed, else ahocorasick_rs."""
    try:
        return Hyperscan(literals)
    except ImportError:
        return literal_engine(literals, "ahocorasick")
