"""Lists of equal answers: "42; 43", "42 (2020), 43 (2021)", "5.99% (before), 4.80% (after)".

The first of a list is no answer, although the response begins with it. A rival stands in a piece of its own,
between commas, semicolons, line breaks or "and", with nothing around it but a bracket, or with the words that
stand around the first ("42 in 2020, 43 in 2021").
"""

from __future__ import annotations

import re

Span = tuple[int, int]

_BRACKETS = re.compile(r"[ \t]?[(\[][^()\[\]\n]{0,80}[)\]]")
_BEFORE = re.compile(
    r"(?:[,;\n|]|\.(?=\s)|\band\b|&|\bor\b)"
    r"(?:[ \t]*(?:and|or|then|about|approximately|approx\.|around|roughly|at|[-*•+>#]|\(?[a-z\d]{1,2}[.)])"
    r"[ \t]+)*"
    r"[\s*_`~≈$(\"'“]*(?:[\w ./-]{0,12}\d[\w ./-]{0,8}:[\s*_`$]*)?\Z",
    re.IGNORECASE,
)
_PIECE_END = re.compile(r"\s*(?:[,;|\n.!?]|\Z|\band\b|&|\bor\b)|\s*[)\]*_`\"'”]+\s*(?:[,;|\n.]|\Z)")
_TAIL = re.compile(r"[^,;|\n()\[\].]{0,40}")
# A list's second entry is near; further on stands prose.
_OTHERS = 8
_REACH = 400
_DIGIT = re.compile(r"\d+")


def has_rival(text: str, first: Span, others: list[Span]) -> bool:
    """One of `others`, all after `first`, is listed beside it in `text`.

    >>> has_rival("42; 43", (0, 2), [(4, 6)]), has_rival("42: 6 × 7", (0, 2), [(4, 5), (8, 9)])
    (True, False)
    """
    tail = _tail(text, first[1])
    for start, end in others[:_OTHERS]:
        if start - first[1] > _REACH:
            break
        between = _BRACKETS.sub("", text[first[1] : start])
        if not _BEFORE.search(between):
            continue
        if between.count("(") > between.count(")"):
            continue
        past = _BRACKETS.match(text, end)
        if _PIECE_END.match(text, past.end() if past else end) or (tail and _tail(text, end) == tail):
            return True
    return False


def _tail(text: str, end: int) -> str:
    """The words after a candidate up to the end of its piece, whatever their digits."""
    match = _TAIL.match(text, end)
    return _DIGIT.sub("0", match.group().strip(" *_`")) if match else ""
