"""Cuts another window of the same length out of a document, centred on the evidence, or says why it cannot.

The repair of Probity, section 5: equal length, because a longer window would confound the repair with extra
context; centred on the evidence; and verified by the matcher that found the fault. Offsets and lengths are in
characters (code points), as windows and quotes are counted everywhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadline.audit.matching import Match, Matcher, find_spans, match_quote
from leadline.audit.normal import Normal
from leadline.audit.spans import Span

# A window is moved by this many characters at most, so that it begins and ends between two words.
MOST_MOVED = 40
# So many places of each span are tried for one at which all spans lie together; of spans in long windows
# fewer, so that no more than so many characters are looked through for each.
_PLACES, _CHARACTERS = 200, 5_000_000
# What stands behind a passage shows whether its last number goes on.
_BEHIND = 20


@dataclass(frozen=True, slots=True)
class Cut:
    """A window: `text` is `document[start:end]`, and the evidence lies from `evidence_start` to
    `evidence_end`. `whole_words` says that neither edge parts a word; `moved` how far the window was shifted
    from the centre for that, or because the document ends."""

    text: str
    start: int
    end: int
    evidence_start: int
    evidence_end: int
    whole_words: bool
    moved: int


@dataclass(frozen=True, slots=True)
class NoCut:
    """Why there is none: a sentence without its full stop."""

    reason: str


def cut_window(
    document: str | Normal, quotes: Sequence[str], length: int, *, matcher: Matcher = match_quote
) -> Cut | NoCut:
    """A window of exactly `length` characters of `document` that holds all `quotes`.

    Never longer and never shorter. It begins and ends between characters as people see them (no letter is
    parted from its accents), and between words where that takes a shift of at most 40 characters, or a
    twentieth of the length.

    >>> cut = cut_window("one two three four five six seven eight nine ten", ["four five"], 24)
    >>> cut.text, len(cut.text)
    ('o three four five six se', 24)
    """
    normal = document if isinstance(document, Normal) else Normal(document)
    raw = normal.raw
    if len(raw) < length:
        return NoCut(f"the document is shorter than the window ({len(raw):,} characters, {length:,})")
    found = _together(normal, quotes, length, matcher)
    if isinstance(found, NoCut):
        return found
    start, end = found
    if end - start > length:
        if len(quotes) == 1 and not _is_split(quotes[0], normal, matcher):
            return NoCut(f"the quote is longer than the window ({end - start:,} characters, {length:,})")
        return NoCut(
            f"the spans of the evidence are too far apart: they cover {end - start:,} characters, and the "
            f"window has {length:,}"
        )
    centre = min(max((start + end - length) // 2, 0), len(raw) - length)
    reach = min(MOST_MOVED, length // 20)
    tried = [at for at in _outwards(centre, max(reach, 8)) if 0 <= at <= len(raw) - length]
    tried = [at for at in tried if at <= start and end <= at + length]
    sound = [at for at in tried if between_characters(raw, at) and between_characters(raw, at + length)]
    words = [
        at
        for at in sound
        if abs(at - centre) <= reach and between_words(raw, at) and between_words(raw, at + length)
    ]
    for at in (*words[:1], *sound):
        text = raw[at : at + length]
        if all(matcher(quote, text).found for quote in quotes):
            return Cut(text, at, at + length, start, end, at in words, at - (start + end - length) // 2)
    if not sound:
        return NoCut("no window of this length begins and ends between two characters")
    return NoCut("the matcher does not find the evidence in the window cut around it")


def without_evidence(
    document: str | Normal, quotes: Sequence[str], *, matcher: Matcher = match_quote
) -> NoCut | None:
    """None where a document holds all `quotes`; else which span it lacks."""
    normal = document if isinstance(document, Normal) else Normal(document)
    for quote in quotes:
        match = matcher(quote, normal)
        if not match.found:
            missing = match.missing[0].text if match.missing else quote
            return NoCut(f"the document does not hold the evidence ({short(missing)} is missing)")
    return None


def _together(
    normal: Normal, quotes: Sequence[str], length: int, matcher: Matcher
) -> tuple[int, int] | NoCut:
    """From the first to the last required span of all quotes; where they lie too far apart, at the place
    where they lie nearest to each other."""
    if (lost := without_evidence(normal, quotes, matcher=matcher)) is not None:
        return lost
    matches = [matcher(quote, normal) for quote in quotes]
    cover = _cover(matches)
    if cover[1] - cover[0] <= length:
        return cover
    best = cover
    for at in _places(normal, matches, max(10, min(_PLACES, _CHARACTERS // max(length, 1)))):
        part = normal.raw[at : at + length + _BEHIND]
        again = [matcher(quote, part) for quote in quotes]
        if all(match.found for match in again):
            start, end = _cover(again)
            if end - start < best[1] - best[0]:
                best = (start + at, end + at)
    return best


def _places(normal: Normal, matches: Sequence[Match], most: int) -> Iterator[int]:
    """Where the required spans stand: the passage that holds them all begins with one of them."""
    for text in dict.fromkeys(span.text for match in matches for span in match.spans if span.required):
        for _, hit in zip(range(most), find_spans(Span(text), normal), strict=False):
            yield normal.place(hit.start, hit.end)[0]


def _cover(matches: Sequence[Match]) -> tuple[int, int]:
    covers = [cover for match in matches if (cover := match.cover) is not None]
    return min(start for start, _ in covers), max(end for _, end in covers)


def _is_split(quote: str, normal: Normal, matcher: Matcher) -> bool:
    return sum(span.required for span in matcher(quote, normal).spans) > 1


def _outwards(centre: int, reach: int) -> Iterator[int]:
    """The centre, then what is nearest to it on both sides."""
    yield centre
    for distance in range(1, reach + 1):
        yield centre - distance
        yield centre + distance


def between_characters(text: str, at: int) -> bool:
    """Whether a reader sees no character parted at `at`: letter and accent, the two halves of a line end or
    of a surrogate pair, the parts of an emoji."""
    if not 0 < at < len(text):
        return True
    before, behind = text[at - 1], text[at]
    if before == "\r" and behind == "\n":
        return False
    if "\udc00" <= behind <= "\udfff" or before == "\u200d" or behind == "\u200d":
        return False
    if "\U0001f3fb" <= behind <= "\U0001f3ff":  # a skin tone
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= behind <= "\U0001f1ff":  # a flag
        return False
    if "\u1160" <= behind <= "\u11ff":  # vowels and tails of Hangul
        return False
    return not unicodedata.category(behind).startswith("M")


def between_words(text: str, at: int) -> bool:
    """Whether neither a word nor a number (`1,250.5`, `&amp;`) goes on at `at`."""
    if not 0 < at < len(text):
        return True
    return text[at - 1].isspace() or text[at].isspace()


def short(text: str) -> str:
    """A quote as a sentence cites it, in quotation marks."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
