"""Cuts the window of a new item around the places that its label rests on, at natural boundaries.

Other than a repaired window, which keeps its length, a new one may be shorter than what is asked for: it
begins where a paragraph, a line or a sentence begins, and ends where one ends. Offsets are code points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.audit.repair_cut import between_characters, between_words

# Between two passages of one window.
GAP = "\n\n[…]\n\n"
# A fifth of a window may go for an edge that a reader would have chosen.
_SHARE = 5
_PARAGRAPH = re.compile(r"(?:\r?\n[ \t]*){2,}(?=\S)")
_LINE = re.compile(r"\r?\n")
_SENTENCE = re.compile(r"(?<=[.!?;:。！？])\s+")
_WORD = re.compile(r"\s+")


def passage_around(text: str, start: int, end: int, length: int) -> tuple[int, int]:
    """Where a passage of at most `length` characters around characters `start` to `end` begins and ends.

    Those are in it whatever `length` is.

    >>> text = "One is first. Two is second. Three is third. Four is fourth."
    >>> text[slice(*passage_around(text, 14, 28, 44))]
    'One is first. Two is second. Three is third.'
    """
    length = max(length, end - start)
    first = min(max((start + end - length) // 2, 0), max(len(text) - length, 0))
    last = min(first + length, len(text))
    slack = length // _SHARE
    begin = first if first == 0 else _first_edge(text, first, min(first + slack, start))
    finish = last if last == len(text) else _last_edge(text, max(last - slack, end), last)
    return begin, finish


def window_of(text: str, places: Sequence[tuple[int, int]], length: int) -> str:
    """The window that holds all `places` of one document: one passage, or, where they lie too far apart,
    several that share `length`, in the document's order, parted by "[…]"."""
    start, end = min(place[0] for place in places), max(place[1] for place in places)
    if end - start <= length:
        return text[slice(*passage_around(text, start, end, length))]
    ordered = sorted(set(places))
    share = max((length - len(GAP) * (len(ordered) - 1)) // len(ordered), 1)
    passages: list[tuple[int, int]] = []
    for place in ordered:
        begin, finish = passage_around(text, *place, share)
        if passages and begin <= passages[-1][1]:
            passages[-1] = passages[-1][0], max(finish, passages[-1][1])
        else:
            passages.append((begin, finish))
    return GAP.join(text[begin:finish] for begin, finish in passages)


def _first_edge(text: str, least: int, most: int) -> int:
    for edge in (_PARAGRAPH, _LINE, _SENTENCE, _WORD):
        for found in edge.finditer(text, max(least - 1, 0), most):
            if least <= found.end() <= most and between_characters(text, found.end()):
                return found.end()
    return next((at for at in range(least, most) if _parts_nothing(text, at)), most)


def _last_edge(text: str, least: int, most: int) -> int:
    for edge in (_PARAGRAPH, _LINE, _SENTENCE, _WORD):
        ends = [found.start() for found in edge.finditer(text, least, min(most + 1, len(text)))]
        if ends := [at for at in ends if least <= at <= most and between_characters(text, at)]:
            return ends[-1]
    return next((at for at in range(most, least, -1) if _parts_nothing(text, at)), least)


def _parts_nothing(text: str, at: int) -> bool:
    """Without any blank, as in Chinese, a text is cut between characters."""
    return between_characters(text, at) and (between_words(text, at) or not text[at - 1].isascii())
