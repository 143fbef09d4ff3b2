"""Does a quote stand in a text? Exact on normal forms; nothing here is fuzzy.

A quote is found when all its required spans are: the substantive ones and those with a number, or, when all
are short, every one of them within one passage. Their order does not matter: a quote may join places of a
table, or put a definition behind its use. Where the order differs, the match says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.audit.normal import Normal
from leadline.audit.spans import SUBSTANTIVE, Span, pieces, whole

# Short spans without a substantive one are evidence only of each other: a heading and its number.
PASSAGE = 500
# A span such as "$" stands everywhere; so many places of it are looked at.
_PLACES = 1000


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A span, and where it stands in the raw text (offsets in characters); None where it does not."""

    text: str
    required: bool
    place: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a quote was found, span by span. `notes` are what a person may want to know about a match."""

    found: bool
    spans: tuple[FoundSpan, ...]
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[FoundSpan, ...]:
        """Required spans that stand nowhere."""
        return tuple(span for span in self.spans if span.required and span.place is None)

    @property
    def cover(self) -> tuple[int, int] | None:
        """From the first to the last required span, in characters of the raw text; None if one is missing."""
        places = [span.place for span in self.spans if span.required]
        known = [place for place in places if place is not None]
        if not (self.found and known) or len(known) < len(places):
            return None
        return min(place[0] for place in known), max(place[1] for place in known)


class Matcher(Protocol):
    """Anything that says whether a quote stands in a text. The audit tests the one that it uses."""

    def __call__(self, quote: str, text: Normal | str, /) -> Match:
        """Look for `quote` in `text`."""
        ...


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int  # in the normal form
    end: int
    note: str = ""


def match_quote(quote: str, text: Normal | str, /) -> Match:
    """Look for a quote in a text.

    >>> match_quote("the assets … shall be paid", "The  assets of the company shall be paid.").found
    True
    >>> match_quote("at a price of $5", "at a price of $50").found
    False
    """
    normal = text if isinstance(text, Normal) else Normal(text)
    literal = whole(quote)
    if not literal.says_something:
        return Match(False, (FoundSpan(quote.strip(), True, None),))
    if (hit := find_span(literal, normal)) is not None:
        place = normal.place(hit.start, hit.end)
        return Match(True, (FoundSpan(literal.text, True, place),), (hit.note,) if hit.note else ())
    spans: list[Span] = []
    hits: list[_Hit | None] = []
    for ways in pieces(quote):
        chosen, found = _best_way(ways, normal, hits)
        spans += chosen
        hits += found
    return _judged(spans, hits, normal)


def _best_way(
    ways: Sequence[tuple[Span, ...]], normal: Normal, before: Sequence[_Hit | None]
) -> tuple[tuple[Span, ...], list[_Hit | None]]:
    """The first way of reading a piece in which all of it is found, else the last one."""
    last = next((hit.end for hit in reversed(before) if hit is not None), 0)
    found: list[_Hit | None] = []
    for spans in ways:
        found, at = [], last
        for span in spans:
            hit = find_span(span, normal, at) or (find_span(span, normal) if at else None)
            found.append(hit)
            at = hit.end if hit is not None else at
        if all(found):
            return spans, found
    return ways[-1], found


def _judged(spans: Sequence[Span], hits: Sequence[_Hit | None], normal: Normal) -> Match:
    substantive = any(span.substantive for span in spans)
    if not substantive and len(spans) > 1 and all(hits):
        hits = _within_a_passage(spans, normal)
    required = [span.substantive or span.numeric or not substantive for span in spans]
    found = bool(spans) and all(hit is not None for hit, must in zip(hits, required, strict=True) if must)
    places = [None if hit is None else normal.place(hit.start, hit.end) for hit in hits]
    notes = [hit.note for hit in hits if hit is not None and hit.note]
    starts = [hit.start for hit, must in zip(hits, required, strict=True) if hit is not None and must]
    if found and starts != sorted(starts):
        notes.append("the spans stand in another order than in the quote")
    return Match(
        found,
        tuple(
            FoundSpan(span.text, must, place)
            for span, must, place in zip(spans, required, places, strict=True)
        ),
        tuple(notes),
    )


def _within_a_passage(spans: Sequence[Span], normal: Normal) -> list[_Hit | None]:
    """One hit per span, all within a passage; where there is none, the spans that lie elsewhere are lost."""
    places = [_some(find_spans(span, normal)) for span in spans]
    best: list[_Hit | None] = [None] * len(spans)
    for anchor in places[0]:
        chosen: list[_Hit | None] = []
        for hits in places:
            # In the order of the quote where that can be, else the nearest.
            hit = min(hits, key=lambda hit: (abs(hit.start - anchor.start), hit.start < anchor.start))
            start, end = min(hit.start, anchor.start), max(hit.end, anchor.end)
            chosen.append(hit if _is_passage(normal, start, end) else None)
        known = [hit for hit in chosen if hit is not None]
        if not _is_passage(normal, min(hit.start for hit in known), max(hit.end for hit in known)):
            continue
        if sum(hit is not None for hit in chosen) > sum(hit is not None for hit in best):
            best = chosen
        if all(best):
            break
    return best


def _is_passage(normal: Normal, start: int, end: int) -> bool:
    if end - start > 2 * PASSAGE:  # a normal form is seldom longer than its text, and never so much
        return False
    raw_start, raw_end = normal.place(start, end)
    return raw_end - raw_start <= PASSAGE


def _some(hits: Iterator[_Hit]) -> list[_Hit]:
    return [hit for hit, _ in zip(hits, range(_PLACES), strict=False)]


def find_span(span: Span, normal: Normal, start: int = 0) -> _Hit | None:
    """The first place from `start` on at which a span may stand; one with clean edges if there is one."""
    cut = None
    for hit in find_spans(span, normal, start):
        if not hit.note:
            return hit
        cut = cut or hit
    return cut


def find_spans(span: Span, normal: Normal, start: int = 0) -> Iterator[_Hit]:
    """The places at which a span may stand: where neither a word nor a number goes on beyond its edges.

    At the quote's own beginning and end a substantive span may begin or end within a word, and, where one can
    see that something was cut off, within a number. That word or number is then no part of what was found.
    """
    wanted, text = span.normal, normal.text
    at = text.find(wanted, start)
    tried = 0
    while wanted and at >= 0 and tried < _PLACES:
        end = at + len(wanted)
        note = _edges(span, normal.before(at), normal.after(end - 1))
        if text.startswith("^", end) and _POWER_OF_TEN.search(wanted):
            note = None
        if note is not None:
            yield _Hit(at, end, note)
        tried += 1
        at = text.find(wanted, at + 1)


_NUMBER_GOES_ON_BEFORE = re.compile(r"\d[.,'’]?\Z")
_NUMBER_GOES_ON_AFTER = re.compile(r"[.,'’]?\d")
# Thousands parted by spaces: `2 602`. Columns of a table are parted by spaces too; a no-break or thin space
# is taken for a thousands separator, an ordinary one only beside a short span.
_THOUSANDS_BEFORE = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})*([ \u00a0\u2009\u202f])\Z")
_THOUSANDS_AFTER = re.compile(r"([ \u00a0\u2009\u202f])\d{3}(?![\d,])")
_GROUP_FIRST = re.compile(r"\d{3}(?![\d,])")
_GROUP_LAST = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\Z")
# "per 10" is not in "per 10⁵". Behind other numbers a raised digit is a footnote's.
_POWER_OF_TEN = re.compile(r"(?<![\d.,])10\Z")
_CUT_BEGINNING = re.compile(r"[.,]\d|0+[\d,]")  # no number begins so
_CUT_END = re.compile(r"\d,\d{1,2}\Z")  # no group of thousands ends so
_FIRST_NUMBER = re.compile(r"\A[\d.,]+")
_LAST_NUMBER = re.compile(r"[\d.,]+\Z")
# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese. A span may begin and
# end anywhere in them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)


def _edges(span: Span, before: str, after: str) -> str | None:
    """None where the span may not stand; else a note, "" for clean edges."""
    begin, end = _beginning(span, before), _end(span, after)
    if not (begin or end):
        return ""
    if not span.substantive or (begin and not span.begins) or (end and not span.ends):
        return None
    if "number" in (begin, end):
        rest = span.normal
        if begin == "number":
            if not (_CUT_BEGINNING.match(span.text) or end == "word"):
                return None
            rest = _FIRST_NUMBER.sub("", rest)
        if end == "number":
            if not (_CUT_END.search(span.text) or begin == "word"):
                return None
            rest = _LAST_NUMBER.sub("", rest)
        if len(rest) < SUBSTANTIVE:
            return None
    torn = {begin, end} - {""}
    return f"the quote is cut in the middle of a {' and of a '.join(sorted(torn))}"


def _beginning(span: Span, before: str) -> str:
    """What goes on before the span: a "word", a "number", or nothing."""
    first = span.normal[0]
    if first.isalpha() and before[-1:].isalpha() and not _unspaced(first, before[-1]):
        return "word"
    if first.isdigit() and _NUMBER_GOES_ON_BEFORE.search(before):
        return "number"
    if first.isdigit() and _GROUP_FIRST.match(span.normal) and _parts(span, _THOUSANDS_BEFORE.search(before)):
        return "number"
    if first in ".," and span.normal[1:2].isdigit() and before[-1:].isdigit():
        return "number"
    return ""


def _end(span: Span, after: str) -> str:
    last = span.normal[-1]
    if last.isalpha() and after[:1].isalpha() and not _unspaced(last, after[0]):
        return "word"
    if last.isdigit() and _NUMBER_GOES_ON_AFTER.match(after):
        return "number"
    if last.isdigit() and _GROUP_LAST.search(span.normal) and _parts(span, _THOUSANDS_AFTER.match(after)):
        return "number"
    return ""


def _unspaced(one: str, other: str) -> bool:
    return _UNSPACED.match(one) is not None or _UNSPACED.match(other) is not None


def _parts(span: Span, separator: re.Match[str] | None) -> bool:
    return separator is not None and not (separator.group(1) == " " and span.substantive)
