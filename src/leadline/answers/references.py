"""Numbers that name or place something instead of answering: list labels, "Step 2", "Form 10", "FY 2020".

None of these is an answer where the text has another number; where it has none, they are all there is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.answers.numbers import PrintedNumber

# "1." to "9." at the beginning of lines are labels if they count up from 1.
_LABEL = re.compile(r"^[ \t>*_#-]*(?:\(?(\d{1,2})[.):](?=[ \t]+\S))", re.MULTILINE)
# A label before an amount, "1. $4,250,000", or one that no sentence ends with, "1) Forty".
_LONE_LABEL = re.compile(
    r"(?:^[ \t>*_#-]*\(?|(?<=: )\(?)(?:(?P<bracket>\d{1,2})\)|(?<!\()(?P<point>[1-9])\.)[ \t]+"
    r"(?=(?P<amount>[*_`~\"'“($€£¥≈]*\d)|\S)",
    re.MULTILINE,
)
# What is numbered: "Sections 2 and 3", "Exhibit 99.1", "Form 10-K", "§ 12".
_NUMBERED = re.compile(
    r"(?:\b(?:step|part|section|sec\.?|question|problem|item|table|figure|fig\.?|page|pp?\.|chapter|case"
    r"|example|note|footnote|no\.|method|option|exhibit|ex\.|form|rule|article|art\.|schedule|annex|appendix"
    r"|clause|paragraph|para\.?|line|row|column|version|volume|vol\.)"
    r"(?:s (?:\d[\w.()/-]*(?:,| and| or| to|–|&) ?){1,3}|s?)|§{1,2}) ?#?\Z",
    re.IGNORECASE,
)
# "4(a)(2)", "shares(2)": a piece of a reference, or a footnote's mark.
_GLUED = re.compile(r"[A-Za-z)\d]\(\Z")
_CLOSED = re.compile(r"\)")
_YEARS = range(1900, 2100)
_PERIOD_BEFORE = re.compile(
    r"(?:\b(?:FY|fiscal|fiscal year|calendar year|the year|year ended|Q[1-4]|[1-4]Q|H[12]|[12]H|CY)"
    r"|(?:\A|[\n.;:,(*][\s*]*)"
    r"(?:in|as of|as at|at|during|since|for|by|through|until|(?:at )?(?:the )?end of|at year-?end))"
    r"[ ,]{1,2}\Z",
    re.IGNORECASE,
)
# "42 in 2020", "42 employees in 2020"
_PERIOD_AFTER = re.compile(r"\d[\w.,%]*(?: [a-z]+){0,2} (?:in|as of|for|during) \Z")
_HEADS = re.compile(r"(?:\A|[\n;,(|])[\s*_\-•]*\Z")
_ASKS_FOR_YEAR = re.compile(r"\b(?:years?|when|date)\b", re.IGNORECASE)
# "I have two answers: 42 and 43", "Two sources agree", "One moment": of what is told, not of what was asked.
_META = re.compile(
    r"(?: (?:possible|different|separate|candidate))? (answers?|sources?|possibilit(?:y|ies)|options?|values"
    r"|figures|numbers|moment|reasons?|steps?|ways?|methods?|approach(?:es)?|places)\b",
    re.IGNORECASE,
)
_PLUS_MINUS = re.compile(r"(?:±|\+ ?/ ?[-−–]|\\pm)\s*\Z")


def references(text: str, numbers: Sequence[PrintedNumber], question: str, unit: str | None) -> set[int]:
    """Where those of `numbers` begin that are references in `text`.

    >>> from leadline.answers.numbers import find_numbers
    >>> text = "As of 2020, Table 3 shows 42 [2]"
    >>> found = references(text, list(find_numbers(text)), "How many?", None)
    >>> [number.text for number in find_numbers(text) if number.start not in found]
    ['42']
    """
    found = _labels(text)
    asks_for_year = bool(_ASKS_FOR_YEAR.search(f"{question} {unit or ''}"))
    for number in numbers:
        is_year = not asks_for_year and _is_year(text, number)
        if is_year or _is_name(text, number) or _is_meta(text, number, question):
            found.add(number.start)
    return found


def _labels(text: str) -> set[int]:
    """Numbers that begin lines and count up from 1, two at least; or one before an amount."""
    found = [(int(label.group(1)), label.start(1)) for label in _LABEL.finditer(text)]
    counted: list[int] = []
    for value, start in found:
        if value == len(counted) + 1:
            counted.append(start)
    labels = set(counted) if len(counted) > 1 else set()
    for label in _LONE_LABEL.finditer(text):
        if label["bracket"]:
            labels.add(label.start("bracket"))
        elif label["amount"]:
            labels.add(label.start("point"))
    return labels


def _is_name(text: str, number: PrintedNumber) -> bool:
    """ "Step 2", "Table 4", "[3]", "4(a)(2)", the tolerance of "5 ± 0.2"."""
    before = text[max(0, number.start - 40) : number.start]
    after = text[number.end : number.end + 1]
    if before.endswith("[") and after == "]" and len(number.text) < 4:
        return True
    if len(number.text) < 3 and after == ")" and _GLUED.search(before):
        return True
    return bool(_NUMBERED.search(before)) or (number.start > 1 and bool(_PLUS_MINUS.search(before)))


def _is_year(text: str, number: PrintedNumber) -> bool:
    """A year that says when: "In 2020 there were 42", "42 (2020)", "2020: 42"."""
    if len(number.text) != 4 or not number.text.isdigit() or int(number.text) not in _YEARS:
        return False
    before, after = text[max(0, number.start - 40) : number.start], text[number.end : number.end + 2]
    if before.endswith("(") and after.startswith(")"):
        return number.start > 1
    if after.startswith(":") and _HEADS.search(before):
        return True
    return bool(_PERIOD_BEFORE.search(before) or _PERIOD_AFTER.search(before))


def _is_meta(text: str, number: PrintedNumber, question: str) -> bool:
    counted = _META.match(text, number.end)
    return counted is not None and 0 < number.value < 10 and counted[1][:4].lower() not in question.lower()
