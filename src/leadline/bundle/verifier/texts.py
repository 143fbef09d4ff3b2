"""Texts in normal form, and in words: without case, accents, blanks and signs."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not take apart, and how they are written without their stroke.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŋ": "n"}
)
# Marks that ordinary writing may leave out; other scripts' marks are vowels and stay.
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0591-\u05c7\u064b-\u065f\u0670]"
)
# Scripts without blanks between words: there a word is no piece between blanks.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def normal_form(text: str) -> str:
    """Compatibility forms resolved, case folded, optional marks dropped; then letters, digits and marks
    alone."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold().translate(_STROKES))
    kept = (one for one in _OPTIONAL.sub("", folded) if unicodedata.category(one)[0] in "LNM")
    return unicodedata.normalize("NFC", "".join(kept))


def spaced_words(text: str) -> list[tuple[str, str, str]]:
    """The words of a text: (gap before it, as written, normal form); an apostrophe within letters ends no
    word."""
    found = []
    gap = 0
    for match in re.finditer(
        r"(?:[^\W_]|[\u0300-\u036f])+(?:['’ʼ`´](?=[^\W\d_])(?:[^\W_]|[\u0300-\u036f])+)*", text
    ):
        folded = normal_form(match.group())
        if folded:
            found.append((text[gap : match.start()], match.group(), folded))
            gap = match.end()
    return found


def is_plain_script(text: str) -> bool:
    """No script in which words are not told apart by blanks, and no mark outside of composed letters."""
    if text.isascii():
        return True
    composed = unicodedata.normalize("NFC", text)
    return not _UNSPACED.search(text) and not any(unicodedata.category(one)[0] == "M" for one in composed)
