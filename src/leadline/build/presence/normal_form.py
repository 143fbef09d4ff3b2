"""How a sentence and a corpus are compared: as they are, normalised, without footnote marks."""

from __future__ import annotations

import re
import unicodedata

from leadline.build.records import Tier

# What word processors and web pages make of the signs on a keyboard. Ellipses become three full stops.
FOLDED: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("…"): "...",
}

_SIGNS = tuple((chr(code), plain) for code, plain in FOLDED.items())

MARK_WORDS = (
    "citation needed",
    "clarification needed",
    "dubious – discuss",
    "failed verification",
    "better source needed",
    "full citation needed",
    "page needed",
    "not in citation given",
    "original research?",
    "according to whom?",
    "by whom?",
    "who?",
    "when?",
    "where?",
    "which?",
    "why?",
    "how?",
    "update",
    "sic",
)
"""What stands in brackets on a Wikipedia page and is no part of a sentence, besides numbers and letters."""

_WORDS = "|".join(re.escape(word.translate(FOLDED)) for word in MARK_WORDS)
MARK_TEXT = rf"[0-9]{{1,3}}|[a-z]{{1,2}}|(?:note|nb|n) ?[0-9]{{1,3}}|{_WORDS}"
_MARK = re.compile(rf" ?\[(?:{MARK_TEXT})\]", re.I | re.A)


def normalised(text: str) -> str:
    """NFC, each run of white space one space, curly quotes, dashes and ellipses as on a keyboard.

    White space is what `str.split` takes for it. Nothing is cut off at the ends.

    >>> normalised("Bielefeld’s\\u00a0 oldest —\\n“church”")
    'Bielefeld\\'s oldest - "church"'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for sign, plain in _SIGNS:  # `str.translate` is twenty times slower
            if sign in text:
                text = text.replace(sign, plain)
    spaced = " ".join(text.split())
    if not spaced:
        return spaced
    return f"{' ' if text[0].isspace() else ''}{spaced}{' ' if text[-1].isspace() else ''}"


def stripped(text: str) -> str:
    """A normalised text without footnote marks such as [1], [a], [note 2], [citation needed].

    A space before a mark goes with it; marks are taken away once, from left to right.

    >>> stripped("He was born[1] in Ulm [citation needed].")
    'He was born in Ulm.'
    """
    return _MARK.sub("", text) if "[" in text else text


def form(text: str, tier: Tier) -> str:
    """A text as it is compared on a tier."""
    if tier == "exact":
        return text
    return normalised(text) if tier == "normalised" else stripped(normalised(text))


def overlapping(text: str, pattern: str) -> int:
    """How often `pattern` stands in `text`; occurrences may overlap.

    >>> overlapping("anananas", "anana")
    2
    """
    found, at = 0, text.find(pattern)
    while at >= 0:
        found += 1
        at = text.find(pattern, at + 1)
    return found
