"""Whether a sentence holds a name: whole words, the case of a title, accents and dates however written."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from leadline.build.extract.spellings import spellings

# A title begins with a capital whatever the word: "Jazz" stands as jazz. These stand everywhere as words.
_SMALL_WORDS = """
a all an and are as at be but by can for from has he her him his how i if in is it its me my no not of on one
or our she so some that the their them they this to two up us was we were what when who why with you your
"""
_WORDS_TOO = frozenset(_SMALL_WORDS.split())
_QUALIFIER = re.compile(r"\s+\([^()]*\)$")
_APOSTROPHES = "['\u2019\u02bc]"
_HYPHENS = "[-\u2010\u2011\u2013]"
# Writing without spaces between words: Thai to Khmer, kana, Han and its extensions.
_UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def holds(text: str, name: str) -> bool:
    """Whether `name` stands in `text` as whole words.

    Both are compared in NFC; runs of white space are one; kinds of apostrophes and hyphens are the same. Case
    counts, but for the first letter, which a title writes as a capital ("Jazz" stands in "a jazz band", "It"
    does not stand in "it rained"). A possessive is no part of the word before it. Dates and numbers are found
    in any of their spellings, and never inside a longer number.

    >>> holds("Einstein's paper of August 11, 1905", "11 August 1905"), holds("In 18,480 cases", "480")
    (True, False)
    """
    return bool(spans(text, name))


def holds_both(text: str, one: str, other: str) -> bool:
    """Whether both names stand in `text` at places that do not overlap.

    >>> holds_both("Paris Saint-Germain won.", "Paris", "Paris Saint-Germain")
    False
    """
    places = spans(text, one)
    return bool(places) and any(
        end <= start or stop <= begin for start, stop in places for begin, end in spans(text, other)
    )


def spans(text: str, name: str) -> list[tuple[int, int]]:
    """Where `name` stands in the NFC form of `text`: characters from, to (not included)."""
    pattern = _pattern(name)
    return [match.span() for match in pattern.finditer(composed(text))] if pattern else []


def composed(text: str) -> str:
    """`text` in NFC."""
    return (
        text
        if text.isascii() or unicodedata.is_normalized("NFC", text)
        else unicodedata.normalize("NFC", text)
    )


def title_name(title: str) -> str:
    """What a page's title calls its subject: without the qualifier that tells it from others.

    >>> title_name("Mercury_(planet)")
    'Mercury'
    """
    spaced = " ".join(composed(title).replace("_", " ").split())
    return _QUALIFIER.sub("", spaced) or spaced


def names_title(name: str, title: str) -> bool:
    """Whether `name` is what the page called `title` is about: the title, with its qualifier or without."""
    said = " ".join(composed(name).replace("_", " ").split())
    return any(
        said[:1].casefold() == form[:1].casefold() and said[1:] == form[1:]
        for form in (title_name(title), " ".join(composed(title).replace("_", " ").split()))
    )


@lru_cache(maxsize=1 << 14)
def _pattern(name: str) -> re.Pattern[str] | None:
    name = " ".join(composed(name).split())
    if not name:
        return None
    written = spellings(name)
    body = written or _literal(name)
    before, after = "", ""
    if written or (_joins(name[0])):
        before = r"(?<!\w)" + (r"(?<!\d[.,])" if written or name[0].isdigit() else "")
    if written or _joins(name[-1]):
        after = r"(?!\w)" + (r"(?![.,]\d)" if written or name[-1].isdigit() else "")
    return re.compile(before + body + after)


def _literal(name: str) -> str:
    pieces = []
    for at, character in enumerate(name):
        if character == " ":
            pieces.append(r"\s+")
        elif character in "'\u2019\u02bc":
            pieces.append(_APOSTROPHES)
        elif character in "-\u2010\u2011\u2013":
            pieces.append(_HYPHENS)
        elif at == 0 and character.lower() != character.upper() and name.casefold() not in _WORDS_TOO:
            pieces.append(f"(?i:{re.escape(character)})")
        else:
            pieces.append(re.escape(character))
    return "".join(pieces)


def _joins(character: str) -> bool:
    """Whether it would be part of a longer word beside a letter."""
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)
