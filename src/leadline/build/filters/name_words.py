"""The words of a name, as far as they could give an answer away: folded, without function words, stemmed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# Snowball's names of the languages that Wikipedia calls by code.
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "simple": "english", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Articles, prepositions and conjunctions. Names keep those of their own language, whatever the language of
# the text ("Rio de Janeiro", "Vincent van Gogh"), so one list serves all.
_SAID = (
    "a an the of and or in on at to for from by with as is s "  # English
    "der die das des dem den ein eine und oder im am zu zum zur von vom mit bei auf aus fur "  # German
    "le la les l d de du des un une et ou en au aux sur sous dans par pour "  # French
    "el los las lo y e o del al con por para "  # Spanish
    "il i gli lo uno una ed da dal dalla della delle dei degli di nel nella su per "  # Italian
    "os as um uma do dos das no na nos nas com em "  # Portuguese
    "het een van ten ter te op voor "  # Dutch
    "och i av den det ett en og af til av "  # Swedish, Danish, Norwegian
    "bin ibn al"
)
_FUNCTION_WORDS = frozenset(_SAID.split())
_WORD = re.compile(r"\w+(?:['’ʼ]\w+)*(?:[-‐‑]\w+(?:['’ʼ]\w+)*)*")
_APOSTROPHES = re.compile(r"['’ʼ]")
_HYPHENS = re.compile(r"[-‐‑]")
# One letter says nothing ("J. F. Kennedy", "J. K. Rowling"), unless it numbers a namesake: "George V".
_NUMERAL = re.compile(r"(?<=\w )[IVX](?![\w.])")
# Scripts that write no spaces between words.
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff]")

Stem = Callable[[str], str]


def has_stemmer(language: str) -> bool:
    """Whether words of this language can be stemmed; else tokens are all there is."""
    return language.partition("-")[0].casefold() in _STEMMERS


def stemmer(language: str) -> Stem:
    """What makes a stem of a folded word; the word itself for a language without a stemmer (Snowball's).

    >>> stemmer("en")("connecting")
    'connect'
    """
    name = _STEMMERS.get(language.partition("-")[0].casefold())
    if name is None:
        return str
    import snowballstemmer

    stem: Stem = lru_cache(maxsize=1 << 16)(snowballstemmer.stemmer(name).stemWord)
    return stem


def folded(name: str) -> str:
    """A name without case and without accents.

    >>> folded("Côte-d’Or")
    'cote-d’or'
    """
    apart = unicodedata.normalize("NFKD", name)
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare.casefold())


def words(name: str) -> frozenset[str]:
    """The words of a name that count, folded.

    Function words and single letters do not; digits and Roman numerals do. Of a word with a hyphen its parts
    and the whole without the hyphen; a possessive s goes, other apostrophes join ("o’brien", "obrien") and
    part ("d’ivoire", "ivoire").

    >>> sorted(words("Guinea-Bissau's coast"))
    ['bissau', 'coast', 'guinea', 'guineabissau']
    >>> sorted(words("George V of the United Kingdom"))
    ['george', 'kingdom', 'united', 'v']
    """
    found: set[str] = {match[0].casefold() for match in _NUMERAL.finditer(name)}
    for match in _WORD.finditer(folded(name)):
        parts = [_without_possessive(part) for part in _HYPHENS.split(match[0])]
        for part in parts:
            pieces = _APOSTROPHES.split(part)
            found.update(piece for piece in (*pieces, "".join(pieces)) if _counts(piece))
        whole = _APOSTROPHES.sub("", "".join(parts))
        if len(parts) > 1 and _counts(whole):
            found.add(whole)
    return frozenset(found)


def _without_possessive(word: str) -> str:
    return re.sub(r"['’ʼ]s?$", "", word)


def _counts(word: str) -> bool:
    return (
        bool(word) and word not in _FUNCTION_WORDS and (len(word) > 1 or word.isdigit() or _is_unspaced(word))
    )


def _is_unspaced(text: str) -> bool:
    return _UNSPACED.search(text) is not None


def unspaced(name: str) -> bool:
    """Whether a name is written in a script without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer).

    >>> unspaced("東京"), unspaced("Tokyo")
    (True, False)
    """
    return _is_unspaced(name)
