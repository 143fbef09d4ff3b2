"""Which of several candidates a response answers with: the rules that numbers, dates and labels share.

1. All candidates are the same: that one.
2. A marked part of the text (`marker`) holds one candidate, or begins with one ("The answer is 42 (6 × 7)"),
  or
   ends with "= " and one: that one. The weightier mark goes first.
3. The text begins with a candidate that stands as a sentence of its own, or before a reason: "$29.00. That
  is",
   "42 because".
4. What ends a calculation is said again after it; or the first or the last number is the sum of the others.
5. All but one of the candidates stand in brackets after it (numbers, dates), or in the question: that one.

Otherwise nothing is chosen: a person would have to guess as well. A candidate that is one end of a range, or
that stands beside another one with "or" or in a list (`listing`), is no answer. What is denied, struck out,
asked ("50?") or taken back ("I first thought 50") is no candidate. No rule looks at the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.answers.listing import has_rival
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
    r"(?:choose|select|pick|option|about|approximately|approx\.?|around|roughly|exactly|only|just|the|a|an|total|of|it|it's|that|this|is|was|are|were|would|be"
    r"|equal|equals|to|value|amount|sum|we|get|have|i|think|believe|yes|so|or|also|nearly|almost|circa"
    r"|some|at|least|most|more|less|than|over|under|up|no|between|from|sure|certainly|answer)"
)
_DIRECT = re.compile(rf"(?:[\s*_$\\(\[~≈=\"'`:“”‘’<>≤≥#-]|\b{_LEAD}\b[,.:]?)*\Z", re.IGNORECASE)
_OPERATOR = re.compile(
    r"[\s*_)]*(?:[+×÷/^*=<>−]|-\s|x\s?\d|\\times|\\div|plus\b|minus\b|times\b|divided\b|multiplied\b)"
)
_BOUNDARY = re.compile(
    r"[\"'”’)\]*_`]*(?:[ \u00a0-][a-zA-Z°%/²³]{1,15}(?: of \w{1,15}| per \w{1,15})?)?[\"'”’)\]*_`]*"
    r"(?:\s*\Z|\s*\n|\s*[.;!](?=\s|\Z)|\s*:(?=\s*(?:\Z|[^\W\d]|\n|[\d.,$€£]+\s*[-+×*/÷−]))|\s+\(|\s+[–—-]\s+(?=[a-zA-Z])"
    r"|,?\s+(?:because|since|as|which|so|based|calculated|given|where|i\.e\.|that is|after|being|derived"
    r"|obtained|in total)\b|,?\s+i\.e\.\W)"
)
_RESULT = re.compile(r"(?:[=≈]|\b(?:which|that) (?:is|gives|makes|equals)|\bequals)\W{0,4}\Z")
_RANGE = re.compile(r"[^\S\n]*(?:[-–—~‐‑]|to|through|up to|and)[^\S\n]*", re.IGNORECASE)
_ALTERNATIVE = re.compile(
    r"[\s*,]*(?:or|/|\|)\s*(?:maybe|perhaps|possibly|even|about|around)?[\s*]*", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|from)\W*\Z", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|isn't|wasn't|never|rather than|instead of)(?: (?:the|a|an|just|simply|exactly))?[\s*\"'$]*\Z",
    re.IGNORECASE,
)
# "I first thought 50", "it could be 50, but"
_TAKEN_BACK = re.compile(
    r"\b(?:first|initially|originally|previously|mistakenly|wrongly|incorrectly) (?:\w+ )?(?:thought|said|say"
    r"|assumed|believed|counted|read|answered|calculated|computed|wrote|got)\b(?: \w+){0,3}[\s*\"'$(]*\Z"
    r"|\bpreviously I said[\s*\"'$(]*\Z"
    r"|\b(?:wrong|incorrect|untrue|false|inaccurate) (?:to (?:say|claim|call \w+)|that)\b[^.;\n]{0,20}\Z",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:could|might|may) (?:also )?be[\s*\"'$]*\Z", re.IGNORECASE)
_TURNED = re.compile(r"[^.;\n]{0,30},? (?:but|however)\b(?! also| could| might| may)", re.IGNORECASE)
_ASKED = re.compile(r"[\s*\"')]*(?:[a-z]{1,15} ?)?\?", re.IGNORECASE)
# "1. The company has 42": a label as well as an answer.
_MAYBE_LABEL = re.compile(
    r"[\s*_#>(-]*[1-3]\.\s+(?!(?:That|This|It|Because|Since|There|I)\b|The (?:answer|others?|reason)\b)"
    r"[A-Za-z]"
)
# "30 in Berlin, 12 in Bonn: 42", "42 employees: 30 in Berlin, 12 in Bonn"
_SUMS_UP = re.compile(
    r"(?:[:=→≈]|\b(?:is|are|so|total|making|makes|gives|leaves|altogether|in all)\b)[^.;\d]{0,25}\Z",
    re.IGNORECASE,
)
_BREAKS_DOWN = re.compile(r"[^.;\d]{0,30}(?::|\(|[–—]|, (?:with|of whom|of them)\b)", re.IGNORECASE)
_CONTRASTS = re.compile(
    r"\b(?:would|unlike|as opposed|whereas|instead|rather|otherwise|versus|vs)\b", re.IGNORECASE
)
_ENDS_EQUATION = re.compile(r"[=≈]\s*[*_$\\(~]*\Z")


def choose(
    text: str,
    found: Sequence[Candidate],
    is_same: Callable[[int, int], bool],
    several: str,
    in_question: Callable[[int], bool] = lambda at: False,
    lead: str = SENTENCE,
    is_sum: Callable[[Sequence[int], int], bool] = lambda parts, at: False,
    claimed: Container[int] = (),
) -> Choice:
    """Which of the candidates `found` in `text` is its answer.

    `is_same` compares two of them by index, `several` is the reason where they differ and nothing decides,
    `in_question` says that the question holds a candidate already, `lead` how one must stand at the
    beginning, `is_sum` that some candidates add up to another one. Those at `claimed` are never denied.
    """
    stated = [at for at in range(len(found)) if at in claimed or _is_stated(text, found[at])]
    if not stated:
        return Choice(-1, reason="it is denied")
    stated = [at for at in stated if not _ASKED.match(text, found[at].end)] or stated
    chosen, rule = _chosen(text, found, stated, is_same, in_question, lead, is_sum)
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
    is_sum: Callable[[Sequence[int], int], bool],
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
        is_listed = _is_listed(text, found, inside, is_same)
        if region.is_explicit and is_direct and not is_listed and not _OPERATOR.match(text, found[first].end):
            return first, f"first after {region.mark}"
        last = inside[-1]
        if _RESULT.search(text[region.start : found[last].start]):
            return last, f"the result in what is marked by {region.mark}"
        new = [at for at in inside if not in_question(at)]
        if new and _agree(new, is_same):
            return new[0], f"marked by {region.mark}, without what the question says"
        if region.is_explicit:
            return -1, ""
    first, last = stated[0], stated[-1]
    is_listed = _is_listed(text, found, stated, is_same)
    if not is_listed and _leads(text, found, stated, is_same, lead):
        return first, "the response begins with it"
    if _is_said_again(text, found, stated, is_same):
        return last, "the calculation's result, said again"
    if (total := _sum(text, found, stated, is_sum)) >= 0:
        return total, "the sum of the others"
    outside = [
        at for at in stated if not _is_aside(text, found[at], found[first], contrasted=lead != SENTENCE)
    ]
    if _agree(outside, is_same):
        return outside[0], "the others stand in brackets after it"
    new = [at for at in stated if not in_question(at)]
    if new and _agree(new, is_same):
        return new[0], "the others stand in the question"
    return -1, ""


def _is_stated(text: str, one: Candidate) -> bool:
    """It is neither denied nor struck out nor taken back."""
    start, near = one.start, max(0, one.start - 60)
    if _DENIED.search(text, max(0, start - 30), start) or _TAKEN_BACK.search(text, near, start):
        return False
    if _SUPPOSED.search(text, near, start) and _TURNED.match(text, one.end):
        return False
    return not (text[:start].endswith("~~") and text.startswith("~~", one.end))


def _is_listed(
    text: str, found: Sequence[Candidate], some: Sequence[int], is_same: Callable[[int, int], bool]
) -> bool:
    first = found[some[0]]
    others = [(found[at].start, found[at].end) for at in some[1:] if not is_same(some[0], at)]
    return has_rival(text, (first.start, first.end), others)


def _leads(
    text: str,
    found: Sequence[Candidate],
    stated: Sequence[int],
    is_same: Callable[[int, int], bool],
    lead: str,
) -> bool:
    first = stated[0]
    before = text[: found[first].start]
    if lead == SENTENCE:
        if _MAYBE_LABEL.match(text) and not any(character.isalnum() for character in before):
            return False
        return bool(_DIRECT.match(before) and _BOUNDARY.match(text, found[first].end))
    alone = [at for at in stated if _is_alone(text, found[at])]
    begins = not any(character.isalnum() for character in before)
    return alone[:1] == [first] and begins and _agree(alone, is_same)


def _sum(
    text: str,
    found: Sequence[Candidate],
    stated: Sequence[int],
    is_sum: Callable[[Sequence[int], int], bool],
) -> int:
    """The first or last of three or more, if the text gives it as what the others add up to; -1 if not."""
    if len(stated) > 2:
        first, last = stated[0], stated[-1]
        if _SUMS_UP.search(text[found[stated[-2]].end : found[last].start]) and is_sum(stated[:-1], last):
            return last
        if _BREAKS_DOWN.match(text[found[first].end : found[stated[1]].start]) and is_sum(stated[1:], first):
            return first
    return -1


def _is_said_again(
    text: str, found: Sequence[Candidate], stated: Sequence[int], is_same: Callable[[int, int], bool]
) -> bool:
    """The last candidates are the result of the last equation, and nothing else is said after it."""
    results = [
        at for at in stated if _ENDS_EQUATION.search(text, max(0, found[at].start - 12), found[at].start)
    ]
    after = [at for at in stated if results and at > results[-1]]
    return bool(after) and all(is_same(results[-1], at) for at in after)


def _is_aside(text: str, one: Candidate, first: Candidate, *, contrasted: bool) -> bool:
    """It stands in round brackets opened after the first candidate; `contrasted`: as another case."""
    if text.count("(", first.end, one.start) <= text.count(")", first.end, one.start):
        return False
    opened, closed = text.rfind("(", 0, one.start), text.find(")", one.end)
    inside = text[opened : closed if closed >= 0 else len(text)]
    return not contrasted or _CONTRASTS.search(inside) is not None


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
