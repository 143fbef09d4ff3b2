"""Which of several candidates a response answers with: the rules that numbers, dates and labels share.

1. All candidates are the same: that one.
2. A marked part of the text (`marker`) holds one candidate, or begins with one ("The answer is 42 (6 × 7)"),
  or
   ends with "= " and one: that one. The weightier mark goes first.
3. The text begins with a candidate that stands as a sentence of its own, or before a reason: "$29.00. That
  is",
   "42 because".
4. All but one of the candidates stand in brackets after it (numbers, dates), or in the question: that one.

Otherwise nothing is chosen: a person would have to guess as well. A candidate that is one end of a range, or
that stands beside another one with "or", is no answer. None of the rules looks at the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.answers.marker import regions

OPEN = "a range or an alternative"
# How a candidate at the beginning of a response must stand to be its answer: before the end of a sentence or
# a reason (numbers, dates), or alone on the first line, and no other one on a line of its own (labels).
SENTENCE, ALONE = "sentence", "alone"


class Candidate(Protocol):
    """Something that a text says at [start, end)."""

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where the text goes on."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The index of the chosen candidate, or -1; the rule that chose it, or why none was chosen."""

    at: int
    rule: str = ""
    reason: str = ""


_LEAD = (
    r"(?:about|approximately|approx\.?|around|roughly|exactly|only|just|the|a|an|total|of|it|it's|that|this|is|was|are|were|would|be"
    r"|equal|equals|to|value|amount|sum|we|get|have|i|think|believe|yes|so|or|also|nearly|almost|circa"
    r"|some|at|least|most|more|less|than|over|under|up|no|between|from|sure|certainly|answer)"
)
_DIRECT = re.compile(rf"(?:[\s*_$\\(\[~≈=\"'`:“”‘’<>≤≥#-]|\b{_LEAD}\b[,.:]?)*\Z", re.IGNORECASE)
_OPERATOR = re.compile(
    r"[\s*_)]*(?:[+×÷/^*=<>−]|-\s|x\s?\d|\\times|\\div|plus\b|minus\b|times\b|divided\b|multiplied\b)"
)
_BOUNDARY = re.compile(
    r"[\"'”’)\]*_`]*(?:[ \u00a0-][a-zA-Z°%/²³]{1,15}(?: of \w{1,15}| per \w{1,15})?)?[\"'”’)\]*_`]*"
    r"(?:\s*\Z|\s*\n|\s*[.;:!](?=\s|\Z)|\s+\(|\s+[–—-]\s+(?=[a-zA-Z])"
    r"|,?\s+(?:because|since|as|which|so|based|calculated|given|where|i\.e\.|that is|after|being|derived"
    r"|obtained|in total)\b)"
)
_RESULT = re.compile(r"(?:[=≈]|\b(?:which|that) (?:is|gives|makes|equals)|\bequals)\W{0,4}\Z")
_RANGE = re.compile(r"\s*(?:[-–—~‐‑]|to|through|up to|and)\s*", re.IGNORECASE)
_ALTERNATIVE = re.compile(
    r"[\s*,]*(?:or|/|\|)\s*(?:maybe|perhaps|possibly|even|about|around)?[\s*]*", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|from)\W*\Z", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|isn't|wasn't|never|rather than|instead of)(?: (?:the|a|an|just|simply|exactly))?[\s*\"'$]*\Z",
    re.IGNORECASE,
)


def choose(
    text: str,
    found: Sequence[Candidate],
    is_same: Callable[[int, int], bool],
    several: str,
    in_question: Callable[[int], bool] = lambda at: False,
    lead: str = SENTENCE,
) -> Choice:
    """Which of the candidates `found` in `text` is its answer.

    `is_same` compares two of them by index, `several` is the reason where they differ and nothing decides,
    `in_question` says that the question holds a candidate already, `lead` how one must stand at the
    beginning.
    """
    stated = [
        at
        for at in range(len(found))
        if not _DENIED.search(text, max(0, found[at].start - 30), found[at].start)
    ]
    if not stated:
        return Choice(-1, reason="it is denied")
    chosen, rule = _chosen(text, found, stated, is_same, in_question, lead)
    if chosen >= 0 and not _is_open(text, found, chosen, is_same):
        return Choice(chosen, rule)
    pair = [at for at in stated if not is_same(stated[0], at)]
    if chosen >= 0 or (_agree(pair, is_same) and _is_open(text, found, stated[0], is_same)):
        return Choice(-1, reason=OPEN)
    return Choice(-1, reason=several)


def _chosen(
    text: str,
    found: Sequence[Candidate],
    stated: Sequence[int],
    is_same: Callable[[int, int], bool],
    in_question: Callable[[int], bool],
    lead: str,
) -> tuple[int, str]:
    if _agree(stated, is_same):
        return stated[0], ""
    for region in regions(text):
        inside = [at for at in stated if region.start <= found[at].start and found[at].end <= region.end]
        if not inside:
            continue
        if _agree(inside, is_same):
            return inside[0], f"marked by {region.mark}"
        first = inside[0]
        is_direct = _DIRECT.match(text[region.start : found[first].start]) is not None
        if region.is_explicit and is_direct and not _OPERATOR.match(text, found[first].end):
            return first, f"first after {region.mark}"
        last = inside[-1]
        if _RESULT.search(text[region.start : found[last].start]):
            return last, f"the result in what is marked by {region.mark}"
        new = [at for at in inside if not in_question(at)]
        if new and _agree(new, is_same):
            return new[0], f"marked by {region.mark}, without what the question says"
        if region.is_explicit:
            return -1, ""
    first = stated[0]
    if _leads(text, found, stated, is_same, lead):
        return first, "the response begins with it"
    outside = [at for at in stated if not _is_aside(text, found[at], found[first])]
    if lead == SENTENCE and _agree(outside, is_same):
        return outside[0], "the others stand in brackets after it"
    new = [at for at in stated if not in_question(at)]
    if new and _agree(new, is_same):
        return new[0], "the others stand in the question"
    return -1, ""


def _leads(
    text: str,
    found: Sequence[Candidate],
    stated: Sequence[int],
    is_same: Callable[[int, int], bool],
    lead: str,
) -> bool:
    first = stated[0]
    if lead == SENTENCE:
        return bool(_DIRECT.match(text[: found[first].start]) and _BOUNDARY.match(text, found[first].end))
    alone = [at for at in stated if _is_alone(text, found[at])]
    begins = not any(character.isalnum() for character in text[: found[first].start])
    return alone[:1] == [first] and begins and _agree(alone, is_same)


def _is_aside(text: str, one: Candidate, first: Candidate) -> bool:
    """It stands in round brackets that were opened after the first candidate."""
    return text.count("(", first.end, one.start) > text.count(")", first.end, one.start)


def _is_alone(text: str, one: Candidate) -> bool:
    """Nothing else stands on the candidate's line."""
    start, end = text.rfind("\n", 0, one.start) + 1, text.find("\n", one.end)
    around = text[start : one.start] + text[one.end : end if end >= 0 else len(text)]
    return not any(character.isalnum() for character in around)


def _agree(some: Sequence[int], is_same: Callable[[int, int], bool]) -> bool:
    return all(is_same(some[0], at) for at in some[1:])


def _is_open(text: str, found: Sequence[Candidate], at: int, is_same: Callable[[int, int], bool]) -> bool:
    """The candidate is one end of a range ("40–50", "between 40 and 50") or one of two ("40 or 50")."""
    for left, right in ((at - 1, at), (at, at + 1)):
        if left < 0 or right >= len(found) or is_same(left, right):
            continue
        between = text[found[left].end : found[right].start]
        is_pair = _RANGE.fullmatch(between) is not None
        if is_pair and "and" in between.lower():
            is_pair = _BETWEEN.search(text[max(0, found[left].start - 12) : found[left].start]) is not None
        is_sum = is_pair and re.match(r"\s*=", text[found[right].end :]) is not None
        if (is_pair and not is_sum) or _ALTERNATIVE.fullmatch(between):
            return True
    return False
