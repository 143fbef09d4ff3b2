"""A window cut into pieces: what belongs to a span of the quote, and what stands between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from leadline.audit.document import SpanCheck

# Of a window that is too long to be shown whole, this much is kept around each span.
_AROUND = 1_500
# Words and spaces beyond which two texts are not compared word by word.
_COMPARED = 600


@dataclass(frozen=True)
class Piece:
    """A piece of a window.

    `spans` are the numbers (from 1) of the spans that were found here, `near` those of missing spans that
    have their nearest text here. `cut` is how many characters were left out here.
    """

    text: str
    spans: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    cut: int = 0


def marked(window: str, spans: Sequence[SpanCheck], limit: int) -> tuple[Piece, ...]:
    """The window in pieces, cut where spans of a quote were found or nearly found; these may overlap.

    Offsets outside the window are cut to it. A window longer than `limit` characters is shown around its
    spans, or from its beginning where it has none; every gap says how much was left out.
    """
    places = []
    for number, span in enumerate(spans, start=1):
        start, end = _place(window, span)
        if end > start:
            places.append((start, end, number))
    near = {number for number, span in enumerate(spans, start=1) if span.in_window is None}
    kept = _kept(len(window), [(start, end) for start, end, _ in places], limit)
    edges = sorted({edge for start, end, _ in places for edge in (start, end)})
    pieces: list[Piece] = []
    at = 0
    for begin, stop in kept:
        if begin > at:
            pieces.append(Piece("", cut=begin - at))
        cuts = [begin, *(edge for edge in edges if begin < edge < stop), stop]
        for left, right in pairwise(cuts):
            over = [number for start, end, number in places if start <= left and right <= end]
            found = tuple(number for number in over if number not in near)
            pieces.append(Piece(window[left:right], found, tuple(n for n in over if n in near)))
        at = stop
    if at < len(window):
        pieces.append(Piece("", cut=len(window) - at))
    return tuple(pieces)


def _bare(word: str) -> str:
    return " " if word.isspace() else re.sub(r"\W", "", word).casefold() or word


def _place(window: str, span: SpanCheck) -> tuple[int, int]:
    """Where a span was found, else where its nearest text stands; an empty place if neither is known."""
    if span.in_window is not None:
        start = min(max(span.in_window.start, 0), len(window))
        return start, min(max(span.in_window.end, start), len(window))
    start = window.find(span.nearest) if span.nearest else -1
    return (start, start + len(span.nearest)) if start >= 0 else (0, 0)


def _kept(length: int, places: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """The parts of a window that are shown: in order, apart from each other, at most about `limit` long."""
    if length <= limit:
        return [(0, length)] if length else []
    if not places:
        return [(0, limit)]
    kept: list[tuple[int, int]] = []
    left = limit
    for start, end in sorted(places):
        begin, stop = max(0, start - _AROUND), min(length, end + _AROUND)
        if kept and begin <= kept[-1][1]:
            begin = kept[-1][1]
        stop = min(stop, begin + left)
        if stop <= begin:
            continue
        left -= stop - begin
        if kept and begin == kept[-1][1]:
            kept[-1] = (kept[-1][0], stop)
        else:
            kept.append((begin, stop))
    return kept


def differences(text: str, nearest: str) -> tuple[Piece, ...]:
    """`nearest` in pieces: words that `text` does not have at their place belong to span 1, others to none.

    Words are compared without case and punctuation; a very long text is given back in one piece.
    """
    theirs, ours = re.findall(r"\s+|\S+", nearest), re.findall(r"\s+|\S+", text)
    if len(theirs) > _COMPARED or len(ours) > _COMPARED:
        return (Piece(nearest),)
    matcher = SequenceMatcher(
        None,
        [_bare(word) for word in ours],
        [_bare(word) for word in theirs],
        autojunk=False,
    )
    pieces = []
    for kind, _, _, start, end in matcher.get_opcodes():
        if end > start:
            pieces.append(Piece("".join(theirs[start:end]), () if kind == "equal" else (1,)))
    return tuple(pieces)
