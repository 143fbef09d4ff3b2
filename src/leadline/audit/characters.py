"""What each character becomes in the normal form: of each code point one, several, or none."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

# What the tables map a code point to, beside other code points. The last two are no characters in any width.
DELETED, QUOTE, SPACE, HYPHEN, ZERO = 0, 1, 0x20, 0x2D, 0x30
MANY, _UNKNOWN = -2, -1  # of the table's own width: its two largest numbers
_QUOTES = frozenset("\"'`´‘’‚‛“”„‟«»‹›′″‴＂＇「」『』〝〞ʼʹʺ")
# Signs before the entries of a list. An extraction leaves them, makes hyphens of them or drops them.
_BULLETS = frozenset("•◦▪▫■□●○‣∙⁌⁍⁃")
# Vowels that Hebrew and Arabic may write or leave, the stroke that stretches an Arabic word, and a dot above
# that no letter is composed with: the small form of İ has one.
_OPTIONAL = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670\u0307]")
# Raised and lowered digits, and the signs among them.
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "₀₁₂₃₄₅₆₇₈₉₊₋"
INDEX = re.compile(f"[{_RAISED}{_LOWERED}]+")
# A raised number behind one of these is a footnote's: no power of a word, of a percentage, of $5 or of 5,400.
_NOTED = re.compile(r"(?:[^\W\d_]{4}|[%”\"’.;:]|[$€£¥]\s?[\d.,]*\d|\d,\d{3})\Z")


@cache
def table_of(bits: int) -> Codes:
    """What each code point of that width becomes; filled when a code point is first met."""
    if bits == 32:
        return np.full(0x110000, _UNKNOWN, np.int32).view(np.uint32)
    return np.full(1 << bits, _UNKNOWN, np.int16 if bits == 16 else np.int8).view(f"u{bits // 8}")


def becomes(character: str) -> str | int:
    """The normal form of one character: text, or `DELETED` or `QUOTE`."""
    if character in _QUOTES:
        return QUOTE
    category = unicodedata.category(character)
    if character.isspace() or character == "\u200b" or category in ("Zs", "Zl", "Zp"):
        return " "  # a zero-width space is a place where a line may break
    if character in _BULLETS:
        return " "
    if (
        category in ("Cc", "Cf")
        or _OPTIONAL.match(character)
        or "\ufe00" <= character <= "\ufe0f"
        or character == "\u034f"
    ):
        return DELETED
    if category == "Pd" or character in "−⁻₋":
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    folded = _OPTIONAL.sub("", folded)
    if folded != character and (folded[:1].isdigit() or folded[:1] == "⁄"):
        # NFKC would make 21/2 of 2½ and 51 of a 5 with a footnote: other numbers.
        kind = unicodedata.decomposition(character)[1:].split(">")[0]
        folded = f"{' ' if kind == 'fraction' else '^'}{folded}" if kind != "wide" else folded
    return folded.replace("⁄", "/")


def learn(table: Codes, codes: Codes) -> None:
    """Fill in what these code points become."""
    widest = np.iinfo(table.dtype).max
    for code in np.unique(codes).tolist():
        new = becomes(chr(code))
        one = new if isinstance(new, int) else ord(new) if len(new) == 1 else widest
        # A character of a few rare scripts becomes one that the table is too narrow for.
        table[code] = one if one < widest - 1 else widest + 1 + MANY


@cache
def is_letter(code: int) -> bool:
    """Whether a code point is a letter."""
    return chr(code).isalpha()


def spelt_index(text: str, index: re.Match[str]) -> str:
    """Raised and lowered digits: parted from a number beside them, and else like other digits.

    CO₂ is written CO2, and x² is x2; but 10⁵ is not 105, nor is a $5 with a footnote 51. A footnote's number
    is left out where it can be nothing else.
    """
    before, behind = text[max(0, index.start() - 16) : index.start()], text[index.end() : index.end() + 1]
    if index.group()[0] in _RAISED and len(index.group()) <= 2 and _NOTED.search(before):
        return " "
    plain = unicodedata.normalize("NFKC", index.group()).replace("−", "-")
    if re.match(f"[/⁄][{_LOWERED}]", text[index.end() : index.end() + 2]):
        return f" {plain}"  # 1¹/₂, a fraction
    # A sign before the digits is one character, and not met here: 10⁻⁵.
    beside = before[-2:-1] if before[-1:] in "⁺⁻₊₋" else before[-1:]
    return f"{'^' * beside.isdigit()}{plain}{'^' * behind.isdigit()}"
