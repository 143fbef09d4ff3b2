"""When two spellings count as the same letters: the normal form that texts are compared in.

The rule: compatibility forms are resolved (NFKD), case is folded, accents are dropped, and of what is left
only letters, digits and the vowel signs of scripts that write vowels as signs are kept. So
"Curaçao" = "curacao", "Tromsø" = "Tromso", "H₂O" = "h2o", "U.S." = "US", and "co-op" = "coop".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

# Letters whose stroke or ligature has no decomposition in Unicode, as they are written without it.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŋ": "n"}
)
# Marks that may be left out in ordinary writing: the general diacritics, Hebrew points, Arabic vowel marks.
# Other scripts' marks are vowels: dropping them would make different words the same.
_OPTIONAL_MARKS = (
    (0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F),
    (0x0591, 0x05C7), (0x064B, 0x065F), (0x0670, 0x0670),
)  # fmt: skip
# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, and their extensions.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3041, 0x30FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF),
)  # fmt: skip
_APOSTROPHES = "'’ʼ`´"


@dataclass(frozen=True)
class Token:
    """A word: `text` folded, `word` as it was written, `gap` what stood between it and the word before."""

    text: str
    word: str
    gap: str

    @property
    def is_name_like(self) -> bool:
        """Begins with a capital or a digit, or belongs to a script without capitals."""
        return not self.word[0].islower()


def normalise(text: str) -> str:
    """`text` without case, accents, blanks and special characters: letters and digits only.

    >>> normalise("  São Paulo! ")
    'saopaulo'
    """
    if text.isascii():
        return "".join(filter(str.isalnum, text.lower()))
    return unicodedata.normalize("NFC", "".join(filter(_is_kept, _folded(text))))


def tokens(text: str) -> tuple[Token, ...]:
    """The words of `text`, whose `text`s together are `normalise(text)`.

    Anything but letters, digits and marks ends a word, except an apostrophe between letters ("isn't" is one
    word, `isnt`). Where a script puts no spaces between words, each character is a word of its own.
    """
    found: list[Token] = []
    word: list[str] = []
    gap: list[str] = []

    def close() -> None:
        written = "".join(word)
        if folded := normalise(written):
            found.append(Token(folded, written, "".join(gap)))
            gap.clear()
        word.clear()

    for position, character in enumerate(text):
        if character.isalnum() or unicodedata.category(character)[0] == "M":
            if word and _is_unspaced(character) and character.isalnum():
                close()
            word.append(character)
            if _is_unspaced(character) and not _continues(text, position + 1):
                close()
        elif word and character in _APOSTROPHES and text[position + 1 : position + 2].isalpha():
            word.append(character)
        else:
            if word:
                close()
            gap.append(character)
    if word:
        close()
    return tuple(found)


def _continues(text: str, position: int) -> bool:
    """A mark at `position` belongs to the character before it."""
    return position < len(text) and unicodedata.category(text[position])[0] == "M"


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    return unicodedata.normalize("NFKD", decomposed)


def _is_kept(character: str) -> bool:
    kind = unicodedata.category(character)[0]
    return kind in "LN" or (kind == "M" and not _within(character, _OPTIONAL_MARKS))


def _is_unspaced(character: str) -> bool:
    return character > "\u0dff" and _within(character, _UNSPACED)


def _within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    point = ord(character)
    return any(low <= point <= high for low, high in ranges)
