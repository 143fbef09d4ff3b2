"""Signs in a sentence itself that something was lost on the way from the page to the text.

They hold for any text, however it was made plain: corpora of Wikipedia text carry the same damage.
"""

from __future__ import annotations

import re
from typing import Final

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)"
)
_ABOUT = "about|approximately|nearly|around|roughly"
_EXTENT = "high|long|wide|deep|tall|thick|across"
_SIZE = "height|elevation|altitude|length|width|depth|diameter|distance|area"
_NEXT = "of|and|or|in|from|to|by|on|for|with|at"
_SIGNS: Final = {
    # Brackets, tags, entities, arguments of images, quotes of italics, switches: no prose has them.
    "markup": re.compile(
        r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|\||''|</?[A-Za-z][^<>]*>|<!--|-->|&(?:[a-z]{2,8}|#x?[0-9a-f]+);"
        r"|\b(?:File|Image):[^\s]+\.\w{3,4}|__[A-Z]{3,}__|\bthumb\b\s*\||\bcolspan=|\bstyle=|\[https?:",
        re.IGNORECASE,
    ),
    # "11 August 184827 June 1934", "1 May 20102 May 2011", "died in 1934He", "end.Next sentence".
    "glued": re.compile(
        rf"\d{{4}}\d{{1,2}}\s+{_MONTH}\b|{_MONTH}\s+\d{{1,2}},\s*\d{{4}}(?=[A-Za-z]|\d)|\d{{4}}{_MONTH}\s+\d"
        rf"|\b{_MONTH}\s+\d{{5,}}|\b(?:1[0-9]|20)\d\d[A-Z][a-z]{{2,}}"
        r"|[a-z]{3,}[.!?][A-Z][a-z]{2,}\s|[a-z]\)[A-Z][a-z]"
    ),
    # What templates leave where their words stood, so that a reader stumbles: "At , Alabama", "( ; )",
    # "delivering a  of milk", "a peak, high, standing", "about long and wide", "to a height of and". Two
    # blanks alone are none: an aside stood there, the sentence reads whole, and corpora have it just so.
    "template": re.compile(
        r"\s,(?=\s)|\(\s*[;,:]|[;,:]\s*\)|(?<![\w_.])\(\s*\)"
        rf"|\b(?:an?|the|of|at|by|from|to|than|over|{_ABOUT})  (?=(?:{_NEXT}|{_EXTENT})\b)"
        rf"|,\s(?:{_EXTENT})(?=,\s(?:{_NEXT}|which|that|\w+ing|located|situated)\b|\sand\s(?:{_EXTENT})\b)"
        rf"|\b(?:mountain|peak|hill|rock|bluff|nunatak|ridge|cliff|summit|tower)s?\shigh(?=[,.])"
        rf"|\b(?:{_ABOUT})\s(?:{_EXTENT})(?=[,.]|\s(?:and|in|on|by|at)\b)"
        rf"|\b(?:{_SIZE})\sof\s(?:(?:{_ABOUT}|over)\s)?(?:above|and|from|in)\b"
    ),
}
# Cheap tests that each sign passes: most sentences have none of these characters or words.
_HINTS: Final = {
    "markup": re.compile(r"[][{}|<>&_=]|''|:"),
    "glued": re.compile(r"[0-9][0-9A-Za-z]|[a-z][.!?)][A-Z]"),
    "template": re.compile(
        rf"\s,|\(\s*[;,:)]|[;,:]\s*\)|  |\b(?:{_EXTENT})\b|\sof\s(?:above|and|from|in|over|{_ABOUT})\b"
    ),
}


def signs(sentence: str) -> tuple[str, ...]:
    """Kinds of damage that show in the words.

    >>> signs("He lived from 11 August 184827 June 1934.")
    ('glued',)
    >>> signs("At , Alabama has many rivers.")
    ('template',)
    >>> signs("Kielce Power Station  is a power plant.")
    ()
    """
    found = [
        kind for kind, pattern in _SIGNS.items() if _HINTS[kind].search(sentence) and pattern.search(sentence)
    ]
    # A bracket whose end is not here; a sentence may stand in one that goes on.
    if "template" not in found and sentence.lstrip("(").count("(") > sentence.count(")"):
        found.append("template")
    return tuple(found)
