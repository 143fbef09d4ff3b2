"""Where a text says yes or no: as an answer ("Yes.", "the answer is no"), and as true or false of a
statement.

"No" counts as an answer where it stands by itself ("No.", "No, it does not", "**No**", "is no."), not as an
article ("no side letter exists"). "True", "false", "correct" and the like count after "is" or by themselves;
a negation before them turns them round ("not true", "isn't correct").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TRUE = "true|correct|accurate|right|affirmative"
_FALSE = "false|incorrect|inaccurate|untrue|wrong|negative"
_ALONE_YES = (
    "absolutely|certainly|definitely|of course|indeed"
    "|yes|yeah|yep|yup|y|t|1|ja|oui|sí|si|sì|sim|да|はい|是|예"
)
_ALONE_NO = (
    "absolutely not|certainly not|definitely not|of course not|not really|not at all"
    "|no way|no|nope|nah|n|f|0|nein|non|não|nao|nej|нет|いいえ|否|아니요"
)
_YES = re.compile(r"(?<![\w-])(?:yes|yeah|yep)(?![\w-])", re.IGNORECASE)
_NO = re.compile(
    r"(?:(?<=\A)|(?<=[.!?:\n*_\"“'‘(|>=,/])|(?<=[.!?:|>=,*_] )|(?<=\bis )|(?<=\bbe )|(?<=\bsay )"
    r"|(?<=\banswer )|(?<=\bor )|(?<=\band )"
    r"|(?<=\bsays )|(?<=\bthen )|(?<=\btherefore )|(?<=\bso )|(?<=\bwas )"
    r"|(?<=[a-z] )(?=no[.!]*\s*(?:\Z|\n)))"
    r"(?:no way|no|nope)"
    r"(?=[\"'”’*_)]*(?:\Z|[.,;:!?\n|<]|\s*[–—(]|\s+-|\s+(?:it|they|there|this|that|he|she|we|because|since|as|the)\b|\s+(?:in|for)\s|\s*\Z))",
    re.IGNORECASE,
)
# "(Yes/No): No": what may be answered, before what is.
_OPTIONS = re.compile(
    r"\(?\b(?:yes|true|no|false)\s?(?:/|\||or\b)\s?(?:no|false|yes|true)\b[)\]]?[\s*]*[:?)]*(?=.*[a-z])",
    re.IGNORECASE | re.DOTALL,
)
_STATED = re.compile(
    rf"(?P<not>\b(?:not|isn't|isnt|is not|never|hardly|cannot be|can't be|wasn't)\s+(?:(?:entirely"
    rf"|completely|quite|strictly|necessarily|the case that it is|be)\s+)?)?"
    rf"(?<![\w-])(?P<word>{_TRUE}|{_FALSE})(?![\w-])",
    re.IGNORECASE,
)
_BEFORE_STATED = re.compile(
    r"(?:\A|[\n.!?:*_\"“'‘(|>=]|\b(?:is|are|be|was|were|statement|claim|answer|say|says|that's|thats|it's"
    r"|as|would be|definitely|indeed|entirely|completely|certainly|or|and|marked))\s*[\"“'*_]*\Z",
    re.IGNORECASE,
)
# "correct" and "right" are adjectives of answers as well: "the correct answer", "right to convert".
_AFTER_STATED = re.compile(
    r"[\"'”’*_)]*(?:\Z|\s*\Z|[.,;:!?\n|<)]|\s*[–—(]|\s+(?:because|since|as|that|if|when|for|according|based|in|and|or|but|statement)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """Yes (`value` True) or no, said at [start, end) of a text."""

    value: bool
    start: int
    end: int


def find_yes_no(text: str) -> Iterator[Said]:
    """Where `text` says yes or no, from left to right.

    >>> [said.value for said in find_yes_no("No, there is no side letter; it is not true.")]
    [False, False]
    """
    bare = text.strip(" \t\r\n.!*_#>`\"'“”‘’()[]|:")
    lowered = bare.lower()
    alone = lowered in _ALONE_YES.split("|"), lowered in _ALONE_NO.split("|")
    if any(alone):
        start = text.find(bare)
        yield Said(alone[0], start, start + len(bare))
        return
    found = [Said(True, *match.span()) for match in _YES.finditer(text)]
    found += [Said(False, *match.span()) for match in _NO.finditer(text)]
    for match in _STATED.finditer(text):
        word = match["word"].lower()
        before = text[max(0, match.start() - 24) : match.start()]
        if (match["not"] or _BEFORE_STATED.search(before)) and _AFTER_STATED.match(text, match.end()):
            value = word in _TRUE.split("|")
            found.append(Said(value != bool(match["not"]), *match.span()))
    options = [match.span() for match in _OPTIONS.finditer(text)]
    found = [
        said for said in found if not any(start <= said.start and said.end <= end for start, end in options)
    ]
    yield from sorted(found, key=lambda said: said.start)
