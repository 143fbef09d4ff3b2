"""Where a response marks its answer: \\boxed{}, "Final answer:", "#### 42", "the answer is", and weaker
marks.

Marks come in order of weight. The last of a kind counts: who reasons aloud corrects what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_HASHES = re.compile(r"^#{4}[ \t]*(\S.*?)[ \t]*\Z", re.MULTILINE)
_TAG = re.compile(r"<(answer|final_answer|final|result)>(.*?)(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_DECOR = r"[ \t>*_#]*"
_FINAL = re.compile(
    rf"{_DECOR}\b(?:final|correct)\s+(?:answer|result|response|value|amount|total|figure|number|count|cost|price|sum)\b{_DECOR}(?:is\b|:|=|\n|：)+{_DECOR}:?",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    rf"\b(?:(?:the|my|our|short)\s+)?(?:answer|result|solution)\b{_DECOR}"
    rf"(?:(?:to|for)\s[^.\n:]{{1,80}}?\s)?(?:is\b|was\b|would be\b|should be\b|comes to\b|:|=|：){_DECOR}:?"
    rf"|^{_DECOR}(?:A|Ans|Antwort|Réponse|Respuesta|Risposta|Resposta|答案|答え|回答)\.?{_DECOR}[:：]{_DECOR}",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUDES = re.compile(
    r"(?:^|[.!?\n]\s*|[,;]\s*|\*+)(?:so|therefore|thus|hence|in total|in all|altogether|overall|in conclusion"
    r"|in summary|consequently|as a result|accordingly|finally|this (?:means|gives|yields|leaves)"
    r"|that (?:means|gives|leaves)|which (?:gives|yields|means|leaves)|we (?:get|have|find|obtain|conclude)"
    r"|∴|total:)"
    r"(?=\W)"
    r"|\b(?:for a (?:grand )?total of|totall?ing|making|adds? up to|sums? to|gives|giving|leaves|leaving"
    r"|yields|minus \S+ is)(?=\W)|→|⇒|=>",
    re.IGNORECASE,
)
# Who takes back what was said says so: "Wait, no.", "Correction: 42".
_CORRECTS = re.compile(
    r"\b(?:(?:no, )?wait\b[,.!]?|correction:|scratch that[,.]?|on second thoughts?,"
    r"|let me correct (?:that|myself)[,.:]?|actually, no[,.]?)\s",
    re.IGNORECASE,
)
_TOTALS = re.compile(r"\b(?:in total|altogether|in all|left over|remaining in total)\b", re.IGNORECASE)
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]{1,200}?)(?<=\S)\*\*|__(?=\S)([^_\n]{1,200}?)(?<=\S)__")
_EQUALS = re.compile(r"(?:[=≈]|\\approx|\bequals\b|\bis equal to\b)\s*(?=[^=≈\n]*\Z)")
# What may stand after the last word of a text without being a sentence: brackets of formulas, marks.
_CLOSING = " \t\r\n$\\])|*_`"
# "x = 5, y = 7" are two results, "12.8 / 25.2 = 0.508 = 0.51" is one.
_OTHER_EQUATION = re.compile(r"=[^=\n]*(?:[,;] | and )[^=\n]*\Z")
# The end of a sentence, not the point of a number or of an abbreviation ("approx. 5").
_SENTENCE = re.compile(
    r"(?<=[^\d\s][.!?])[\"')\]*]*\s+(?=[\"'(\[*]*[A-Z0-9$€£∴])|(?<=\d[.!?])[\"')\]*]*\s+(?=[\"'(\[*]*[A-Z∴])|\n+"
)
_REASON = re.compile(r"\b(?:because|since|reason(?:ing)?|explanation|note)\b|\n\s*\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Region:
    """A part [start, end) of a text in which its answer stands; `is_explicit`: the text says so itself."""

    mark: str
    start: int
    end: int
    is_explicit: bool = True


def regions(text: str) -> Iterator[Region]:
    """The parts of `text` that are marked as its answer, the most telling first.

    >>> [region.mark for region in regions("2 + 2 = 4, so the answer is **4**")][:1]
    ['the answer is']
    """
    if (corrects := _last(_CORRECTS, text)) and not _ANSWER.search(text, corrects.end()):
        yield Region("the correction", corrects.end(), len(text), is_explicit=False)
    if boxed := _last(_BOXED, text):
        yield Region("boxed", *boxed.span(1))
    if tag := _last(_TAG, text):
        yield Region("answer tag", *tag.span(2))
    if final := _last(_FINAL, text):
        yield Region("final answer", final.end(), _line_end(text, final.end()))
    if hashes := _HASHES.search(text):
        yield Region("####", *hashes.span(1))
    if answer := _last(_ANSWER, text):
        yield Region("the answer is", answer.end(), _line_end(text, answer.end()))
    start, end = last_sentence(text)
    equals = _EQUALS.search(text, start, end)
    if equals and not _OTHER_EQUATION.search(text, start, equals.start()):
        yield Region("the last = sign", equals.end(), end, is_explicit=False)
    concluding = list(_CONCLUDES.finditer(text))
    if concluding and not _REASON.search(text, concluding[-1].end(), max(concluding[-1].end(), end - 1)):
        yield Region("the conclusion", concluding[-1].end(), end, is_explicit=False)
    if _TOTALS.search(text, start, end):
        yield Region("the last sentence's total", start, end, is_explicit=False)
    bold = list(_BOLD.finditer(text))
    if len(bold) == 1 or (bold and not text[bold[-1].end() :].strip(" .!\n|")):
        group = 1 if bold[-1][1] else 2
        yield Region(
            "the only bold text" if len(bold) == 1 else "bold at the end", *bold[-1].span(group), False
        )


def last_sentence(text: str) -> tuple[int, int]:
    """Where the last sentence of `text` begins and ends, blanks left out."""
    end = len(text.rstrip(_CLOSING))
    start = 0
    for boundary in _SENTENCE.finditer(text, 0, end):
        start = boundary.end()
    return start, end


def first_sentence(text: str) -> tuple[int, int]:
    """Where the first sentence of `text` begins and ends."""
    start = len(text) - len(text.lstrip())
    boundary = _SENTENCE.search(text, start)
    return start, boundary.start() if boundary else len(text)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return matches[-1] if matches else None


def _line_end(text: str, at: int) -> int:
    """The end of the first line from `at` on that says something."""
    said = re.compile(r"\s*[^\s][^\n]*").match(text, at)
    return said.end() if said else len(text)
