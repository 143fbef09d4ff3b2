"""How a name is spelt as a page title: MediaWiki's own rules, applied to what links and extractors write."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

# Every space that MediaWiki takes for one, and the marks of writing direction that it lets go.
_SPACES = re.compile("[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\t\r\n]+")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")
_ADDRESS = re.compile(r"https?://[^/\s]+/wiki/", re.I)
# Only with its semicolon: "Rock&reggae" holds no ®.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
# A section's name follows: "C#" and "F# minor" are names of things, though no titles.
_SECTION = re.compile(r"(?<=.)#(?=[^\s_#]).*\Z", re.S)


def spellings(name: str) -> tuple[str, ...]:
    """The titles that `name` may stand for, as the wiki's tables write them, the most literal first.

    Spaces of all kinds become single underscores, the first letter a capital, a leading colon goes; then
    HTML entities and percent-encoding are undone, and a section after "#" is cut off. None of this can hit
    another page: MediaWiki forbids titles with entities, encoded bytes or "#".

    >>> spellings("zürich")
    ('Zürich',)
    >>> spellings("AC%2FDC#Early years")
    ('AC%2FDC#Early_years', 'AC/DC#Early_years', 'AC/DC')
    """
    found: dict[str, None] = {}
    written = _ADDRESS.sub("", name.strip(), count=1) if _ADDRESS.match(name.strip()) else name
    for undo in (str, _without_entities, _without_percent, _without_section):
        written = undo(written)
        if spelt := canonical(written):
            found[spelt] = None
    return tuple(found)


def canonical(title: str) -> str:
    """A title as MediaWiki stores it: NFC, single underscores, a capital first letter; "" where none is left.

    >>> canonical(" :new   york_City ")
    'New_york_City'
    """
    title = _SPACES.sub("_", _MARKS.sub("", unicodedata.normalize("NFC", title))).strip("_")
    title = title.removeprefix(":").lstrip("_")
    capital = title[:1].upper()
    # One letter becomes one letter: "ß" stays.
    return capital + title[1:] if len(capital) == 1 else title


def shown(title: str) -> str:
    """A stored title as readers see it: with spaces.

    >>> shown("New_York_City")
    'New York City'
    """
    return title.replace("_", " ")


def _without_entities(title: str) -> str:
    from html import unescape

    return _ENTITY.sub(lambda match: unescape(match[0]), title)


def _without_percent(title: str) -> str:
    try:
        return unquote(title, errors="strict")
    except UnicodeDecodeError:
        return title


def _without_section(title: str) -> str:
    return _SECTION.sub("", title)
