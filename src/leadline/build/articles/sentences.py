"""Sentences of a text: verbatim parts of it, none across paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from leadline.build.articles.damage import signs
from leadline.build.extra import needed
from leadline.build.records import Sentence

_PARAGRAPH = re.compile(r"[^\n]+")
_WORD = re.compile(r"\w")


def sentences(
    text: str, language: str = "en", damage: Iterable[tuple[int, str]] = ()
) -> tuple[Sentence, ...]:
    """Where the sentences stand, each with what damages it.

    `damage` are places and kinds known from the making of the text: a sentence is touched by what lies in it
    or at its edges. Parts without a letter or digit are no sentences. Splitting is sentencex's, which keeps
    every character; where its pieces are not the text's own, the paragraph stays whole.

    >>> [(one.start, one.end) for one in sentences("Pears grow. So do figs.\\n\\nDr. Quince left.")]
    [(0, 11), (12, 23), (25, 41)]
    """
    known = sorted(damage)
    at = 0
    found: list[Sentence] = []
    for start, end in _pieces(text, language):
        while at < len(known) and known[at][0] < start - 1:
            at += 1
        kinds = set(signs(text[start:end]))
        index = at
        while index < len(known) and known[index][0] <= end + 1:
            kinds.add(known[index][1])
            index += 1
        found.append(Sentence(start=start, end=end, damage=tuple(sorted(kinds))))
    return tuple(found)


def _pieces(text: str, language: str) -> Iterator[tuple[int, int]]:
    for line in _PARAGRAPH.finditer(text):
        start = line.start()
        for length in _lengths(line.group(), language):
            piece = text[start : start + length]
            first = start + length - len(piece.lstrip())
            last = start + len(piece.rstrip())
            if first < last and _WORD.search(piece):
                yield first, last
            start += length


def _lengths(paragraph: str, language: str) -> list[int]:
    pieces = needed("sentencex").segment(language, paragraph)
    return [len(piece) for piece in pieces] if "".join(pieces) == paragraph else [len(paragraph)]
