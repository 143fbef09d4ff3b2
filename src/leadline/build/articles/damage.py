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
    # What templates leave where their words stood: "At , Alabama", "( ; )", "delivering a  of milk".
    "template": re.compile(r"\s,(?=\s)|\(\s*[;,:]|[;,:]\s*\)|(?<![\w_.])\(\s*\)|(?<=[a-z,])  (?=\w)"),
}
# Cheap tests that each sign passes: most sentences have none of these characters.
_HINTS: Final = {
    "markup": re.compile(r"[][{}|<>&_=]|''|:"),
    "glued": re.compile(r"[0-9][0-9A-Za-z]|[a-z][.!?)][A-Z]"),
    "template": re.compile(r"\s,|\(\s*[;,:)]|[;,:]\s*\)|  "),
}


def signs(sentence: str) -> tuple[str, ...]:
    """Kinds of damage that show in the words.

    >>> signs("He lived from 11 August 184827 June 1934.")
    ('glued',)
    >>> signs("At , Alabama has many rivers.")
    ('template',)
    """
    return tuple(
        kind for kind, pattern in _SIGNS.items() if _HINTS[kind].search(sentence) and pattern.search(sentence)
    )
