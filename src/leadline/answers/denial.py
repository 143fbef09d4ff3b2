"""Whether a label is denied where it stands ("was never granted"), or not claimed ("denied that it was").

Who denies a label says that it does not hold: of a vocabulary of yes and no, the other one does. Who reports
a denial, or calls it wrong to say so, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from leadline.answers.candidates import Span, is_denied
from leadline.bench.folding import Token

Denial = Literal["", "denied", "not claimed"]

# A subject that is nobody: "none was granted"; and the words of other languages for not.
_NOBODY = frozenset({"none", "nobody", "nothing", "neither", "nowhere"})
_NOT = frozenset(
    {
        "hardly", "scarcely", "barely", "nicht", "kein", "keine", "nie", "pas", "jamais", "niet", "geen",
        "ikke", "inte", "nunca", "nao", "ne", "не", "нет", "havent", "hasnt", "hadnt", "unlike",
    }
)  # fmt: skip
_FAILED = re.compile(r"\b(?:fail(?:s|ed)?|cease[sd]?|stop(?:s|ped)?) (?:to be|being|to|in)\W*\Z")
_NO_CASE = re.compile(
    r"\b(?:not (?:the case|true|correct|so|right|accurate) that|(?:false|untrue|incorrect|wrong) that)\b"
    r"[^.;,\n]{0,80}\Z"
)
_REPORTED = re.compile(
    r"\b(?:den(?:y|ies|ied)|disput(?:e|es|ed)|doubt(?:s|ed|ful)?|disagree[sd]?|reject(?:s|ed)?|if|whether"
    r"|unless|wrong to (?:say|claim)|incorrect to (?:say|claim)"
    r"|(?:not|never|n't|cannot|can't) (?:\w+ )?(?:claim|imply))\b[^.;:\n]{0,60}\Z"
)
_MEASURED = re.compile(r"\b(?:than|above|below|beyond|versus|vs)\W*\Z")
_TO_NOBODY = re.compile(
    r"\W*(?:\w+ )?(?:to|by|for) (?:no ?one|nobody|none|no (?:person|holder|party|investor|employee)s?)\b"
)
_CERTAIN = re.compile(r"\b(?:no|without|beyond(?: any)?) (?:doubt|question)\W*(?:\w+\W+){0,3}\Z")
_WORDS = 4
_CLAUSE_ENDS = frozenset(",;:.!?—–()[]")


def denial(text: str, place: Span, line: Sequence[Token], span: Span) -> Denial:
    """How the label at `place` of `text`, the words `span` of `line`, is denied; "" if it is claimed."""
    before = text[max(0, place[0] - 120) : place[0]].lower().replace("’", "'")
    if _CERTAIN.search(before):
        return ""
    if _REPORTED.search(before) or _MEASURED.search(before):
        return "not claimed"
    if is_denied(line, span) or _is_not(line, span):
        return "denied"
    if (
        _FAILED.search(before)
        or _NO_CASE.search(before)
        or _TO_NOBODY.match(text[place[1] : place[1] + 40].lower())
    ):
        return "denied"
    return ""


def _is_not(line: Sequence[Token], span: Span) -> bool:
    """A word for nobody or not stands shortly before, in the same clause."""
    for at in range(span[0] - 1, max(span[0] - 1 - _WORDS, -1), -1):
        if _CLAUSE_ENDS & set(line[at + 1].gap):
            return False
        if line[at].text in _NOBODY or line[at].text in _NOT:
            return True
        if line[at].text == "one" and at and line[at - 1].text == "no":
            return True
    return False
