"""Scans a shard for sentences: what may hold one is found in bulk, and compared as it is."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from leadline.build.presence.grams import lines_of
from leadline.build.presence.literal_engine import Bytes, EngineName, LiteralEngine, literal_engine
from leadline.build.presence.normal_form import normalised, overlapping, stripped
from leadline.build.presence.patterns import patterns
from leadline.build.presence.shards import Faults, Lines, Texts, blocks, faulty_by_shape, parsed
from leadline.build.presence.squeeze import Squeezed, squeeze, squeezed_text, without_marks
from leadline.build.records import Tier

TIERS: tuple[Tier, ...] = ("exact", "normalised", "stripped")
"""From the strictest to the loosest."""

# From so many characters times sentences on, a document's sentences are searched together.
_TOGETHER = 20_000_000
# White space of ASCII: in plain text all of it is as good as a space.
_SPACES = bytes.maketrans(b"\t\n\v\f\r\x1c\x1d\x1e\x1f", b" " * 9)


@dataclass
class Hits:
    """How often a sentence stands in a shard on one tier, in how many documents, and the first of these."""

    occurrences: int = 0
    documents: int = 0
    sample: list[str] = field(default_factory=list)

    def add(self, occurrences: int, document: str, most: int) -> None:
        """A document with so many occurrences. Documents come in the order of their lines."""
        self.occurrences += occurrences
        self.documents += 1
        if len(self.sample) < most:
            self.sample.append(document)


@dataclass
class ShardHits:
    """What a scan of one shard found: bytes of content, documents, faults, and hits by sentence and tier.

    Occurrences on a looser tier include those on a stricter one, but for a few at the ends of which an accent
    follows.
    """

    content: int = 0
    documents: int = 0
    faults: Faults = field(default_factory=Faults)
    hits: dict[int, dict[Tier, Hits]] = field(default_factory=dict)


class Scanner:
    """Looks for sentences in shards. Made in about 4 s for 100,000 sentences; used by one thread.

    `locations` documents are named per sentence and tier. `engine.name` says how sentences are looked for.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        tiers: Iterable[Tier] = TIERS,
        locations: int = 5,
        engine: EngineName = "grams",
    ) -> None:
        self._patterns = patterns(sentences)
        self._tiers = tuple(tier for tier in TIERS if tier in set(tiers))
        self._locations = locations
        searched = [number for number, one in enumerate(self._patterns) if one.core]
        self._searched = searched
        self._always = tuple(number for number, one in enumerate(self._patterns) if not one.core)
        self._marks = "stripped" not in self._tiers  # footnote marks stay
        self.engine: LiteralEngine = literal_engine(
            [self._patterns[number].core for number in searched], engine
        )

    def scan(self, path: Path) -> ShardHits:
        """All hits of a shard. What is wrong with it is counted in `faults`; nothing is raised for it."""
        found = ShardHits()
        for block in blocks(path, found.faults):
            if isinstance(block, Lines):
                self._scan_lines(block, path, found)
            else:
                self._scan_texts(block, found)
        found.hits = dict(sorted(found.hits.items()))
        return found

    def _scan_lines(self, block: Lines, path: Path, found: ShardHits) -> None:
        data = block.data
        found.content += len(data)
        squeezed = squeeze(data, json=True, marks=self._marks)
        ends = squeezed.ends
        found.documents += ends.size
        faulty = dict(faulty_by_shape(data, ends))

        def line(number: int) -> bytes:
            return data[ends[number - 1] + 1 if number else 0 : ends[number]]

        candidates = self._candidates(squeezed, line)
        for number in sorted(candidates):
            if number in faulty:
                continue
            what = parsed(line(number))
            if isinstance(what, str):  # its shape was that of a document
                faulty[number] = what
                continue
            text, name = what
            self._compare(text, name or f"{path.name}:{block.first + number}", candidates[number], found)
        found.documents -= len(faulty)
        for number, fault in sorted(faulty.items()):
            found.faults.add(fault, block.first + number)

    def _scan_texts(self, block: Texts, found: ShardHits) -> None:
        raw = [text.encode("utf-8", "surrogatepass").translate(_SPACES) for text in block.texts]
        found.content += sum(map(len, raw))
        found.documents += len(raw)
        squeezed = squeeze(b"\n".join(raw) + b"\n", json=False, marks=self._marks)
        candidates = self._candidates(squeezed, block.texts.__getitem__)
        for number in sorted(candidates):
            self._compare(block.texts[number], block.ids[number], candidates[number], found)

    def _candidates(
        self, squeezed: Squeezed, document: Callable[[int], bytes | str]
    ) -> dict[int, Counter[int]]:
        """Number of the line (from 0) to the sentences that may stand in it, and how often at the most.

        `document` gives the line of a number. A number of times is -1 where it is not known.
        """
        candidates: dict[int, Counter[int]] = {}
        for number, sentence in self._matches(squeezed.text):
            candidates.setdefault(number, Counter())[sentence] += 1
        if squeezed.irregular.size:
            numbers = squeezed.irregular.tolist()
            changed = [(number, text) for number in numbers if (text := _changed(document(number)))]
            joined = b"".join(squeezed_text(text) + b"\n" for _, text in changed)
            again = np.frombuffer(joined, np.uint8).copy()
            for number, sentence in self._matches(again if self._marks else without_marks(again)):
                candidates.setdefault(changed[number][0], Counter())[sentence] = 1
            for number in candidates.keys() & set(numbers):
                candidates[number] = Counter(dict.fromkeys(candidates[number], -1))
        for number in range(squeezed.ends.size) if self._always else ():
            candidates.setdefault(number, Counter()).update(dict.fromkeys(self._always, -1))
        return candidates

    def _matches(self, text: Bytes) -> Iterator[tuple[int, int]]:
        """Number of a line of a squeezed text, and the sentence whose core stands in it, for each place."""
        matches = sorted(self.engine.find(text))
        for line, (_, core) in zip(lines_of(text, [place for place, _ in matches]), matches, strict=True):
            yield line, self._searched[core]

    def _compare(self, text: str, name: str, sentences: Counter[int], found: ShardHits) -> None:
        """Count the sentences in a document, tier by tier.

        On every tier a sentence stands at different places of its core; so where it stands at all of them as
        it is, no other form of the document need be made.
        """
        ordered = sorted(sentences)
        exact = dict(_occurrences(text, [(number, self._patterns[number].exact) for number in ordered]))
        settled = {n for n, times in exact.items() if times == sentences[n] and self._patterns[n].plain}
        left = [number for number in ordered if number not in settled]
        for tier in self._tiers:
            if tier == "normalised" and left:
                text = normalised(text)
            elif tier == "stripped" and left:
                text = stripped(text if "normalised" in self._tiers else normalised(text))
            times = exact
            if tier != "exact":
                wanted = [(number, one) for number in left if (one := self._patterns[number].on(tier))]
                times = {n: exact[n] for n in settled} | dict(_occurrences(text, wanted))
            for number in sorted(times):
                hits = found.hits.setdefault(number, {}).setdefault(tier, Hits())
                hits.add(times[number], name, self._locations)


def _occurrences(text: str, wanted: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """How often each of some texts stands in a document, of those that do."""
    if len(text) * len(wanted) < _TOGETHER:
        counted = [(number, overlapping(text, one)) for number, one in wanted]
        return [(number, times) for number, times in counted if times]
    engine = literal_engine([one.encode("utf-8", "surrogatepass") for _, one in wanted])
    raw = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    times = Counter(which for _, which in engine.find(raw))
    return [(wanted[which][0], count) for which, count in sorted(times.items())]


def _changed(document: bytes | str) -> str | None:
    """The text of a document that NFC changes; None of any other, and of what is none."""
    if isinstance(document, bytes):
        what = parsed(document)
        if isinstance(what, str):
            return None
        document = what[0]
    return None if unicodedata.is_normalized("NFC", document) else document
