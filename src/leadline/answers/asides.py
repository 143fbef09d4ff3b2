"""Numbers beside an answer: "payable in 3 instalments", "up from 40", "rounded to two decimals", "90% sure".

A clause after a comma or in brackets that begins with one of a few words says something about the number
before it. What it holds is no candidate where the text has another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.answers.numbers import PrintedNumber

_OPENS = r"(?:,|\(|\s[–—-])\s*"
_CLAUSE = re.compile(
    rf"{_OPENS}(?:(?:which|that|and|it|is|was|are|were)\s){{0,2}}"
    r"(?:payable|due|rounded|increasing|decreasing|rising|falling|growing|(?:up|down) from"
    r"|compared(?: with| to)?|versus|vs\.?|previously|formerly|against|effective|subject to|give or take"
    r"|plus or minus)\b[^,;.\n()]{0,40}\Z",
    re.IGNORECASE,
)
# The parts of the number before.
_PARTS = re.compile(
    rf"{_OPENS}(?:consisting of|comprising|comprised of|composed of|made up of|including|of which"
    r"|split into|divided into|broken down)\b[^,.;\n()\d]{0,25}(?:\d(?:[^.;\n()]|\.\d)*)?\Z",
    re.IGNORECASE,
)
_REACH = 160
_DECIMALS = re.compile(
    r"[ -](?:decimals?|decimal (?:places?|digits?|points?)|significant (?:figures?|digits?)|d\.p\.|dp)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(r"\s?(?:times|x) (?:an?|per|each|every|daily|weekly|monthly|yearly)\b", re.IGNORECASE)
_CONFIDENCE_BEFORE = re.compile(r"\bconfiden(?:ce|t)\b[^.;\n\d]{0,14}\Z", re.IGNORECASE)
_CONFIDENCE_AFTER = re.compile(r"\s?%?\s?(?:confiden(?:ce|t)|sure|certain)\b", re.IGNORECASE)


def asides(text: str, numbers: Sequence[PrintedNumber]) -> set[int]:
    """Where those of `numbers` begin that `text` gives beside its answer.

    >>> from leadline.answers.numbers import find_numbers
    >>> text = "$4,250,000, payable in 3 instalments (90% sure)"
    >>> [text[at] for at in sorted(asides(text, list(find_numbers(text))))]
    ['3', '9']
    """
    found: set[int] = set()
    first = numbers[0].end if numbers else 0
    for number in numbers:
        if any(pattern.match(text, number.end) for pattern in (_DECIMALS, _OFTEN, _CONFIDENCE_AFTER)):
            found.add(number.start)
            continue
        before = text[max(0, number.start - _REACH) : number.start]
        is_later = number.start >= first
        if _CONFIDENCE_BEFORE.search(before) or (
            is_later and (_CLAUSE.search(before) or _PARTS.search(before))
        ):
            found.add(number.start)
    return found
