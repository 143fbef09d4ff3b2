"""Looking for words in a document of any size: a little at a time, and on from there."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

# What one request may find, and how long it may look: a page stays alive, and asks again from `next`.
MOST_HITS, MOST_SECONDS = 50, 0.15
LONGEST_QUERY = 1_000
# Shown before and behind a hit.
_CONTEXT = 60
_BLOCK = 1 << 18
# Signs that keyboards have one of, and printed texts several.
_ALIKE = {"'": "['‘’‚‛]", '"': '["“”„‟«»]', "-": "[-‐‑‒–—−]"}
# Beyond ASCII, four letters are letters of ASCII in another case.
_ODD = re.compile("[İıſ\u212a]")


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters `start` to `end` are what was looked for; `before` and `after` are what stands around it."""

    start: int
    end: int
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class Found:
    """The hits between where the search began and `searched`. `next` is where to go on, None at the end."""

    hits: tuple[Hit, ...]
    searched: int
    next: int | None


def search(text: str, query: str, start: int = 0, *, seconds: float = MOST_SECONDS) -> Found:
    """Look for `query` from character `start` on: letter case, kinds of quotation marks and dashes, and how
    words are parted (a blank, a line end) do not matter.

    A query of blanks alone is found nowhere.

    >>> search("The  licence\\nends.", "licence ends").hits[0].text
    'licence\\nends'
    """
    words = query[:LONGEST_QUERY].split()
    start = min(max(start, 0), len(text))
    if not words:
        return Found((), len(text), None)
    # Blanks are taken possessively: a text of nothing else costs one pass.
    pattern = re.compile(r"\s++".join("".join(map(_sign, word)) for word in words), re.IGNORECASE)
    anchor = max((word for word in words if word.isascii() and word.isalnum()), key=len, default="").lower()
    hits: list[Hit] = []
    end = time.monotonic() + seconds
    while start < len(text):
        stop = min(start + _BLOCK, len(text))
        # A hit may begin in this block and end in the next one.
        reach = min(stop + 2 * len(query) + 1_000, len(text))
        if not anchor or _may_hold(text[start:reach], anchor):
            at = start
            while (match := pattern.search(text, at, reach)) is not None and match.start() < stop:
                if len(hits) == MOST_HITS:
                    return Found(tuple(hits), match.start(), match.start())
                hits.append(_hit(text, *match.span()))
                at = match.end()
            stop = max(stop, at)
        start = stop
        if time.monotonic() >= end:
            break
    return Found(tuple(hits), start, start if start < len(text) else None)


def _may_hold(block: str, anchor: str) -> bool:
    """A quick no: much quicker than to look for all words in any case."""
    return anchor in block.lower() or (not block.isascii() and _ODD.search(block) is not None)


def _sign(sign: str) -> str:
    return _ALIKE.get(sign) or re.escape(sign)


def _hit(text: str, start: int, end: int) -> Hit:
    before, after = text[max(start - _CONTEXT, 0) : start], text[end : end + _CONTEXT]
    return Hit(start, end, before, text[start:end], after)
