"""Whether a response stands by its answer: hedges ("I think", "maybe"), bounds ("at least 5"), roughness
("about 5").

A hedged answer is read like any other; the stricter rule of correctness does not count it.
"""

from __future__ import annotations

import re

_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|likely|i think|i believe|i guess|i assume|i suppose"
    r"|i would say"
    r"|i'd say|my (?:best )?guess|might be|may be|could be|not (?:entirely |completely |quite "
    r"|100% )?(?:sure|certain)|unsure"
    r"|if i had to guess|it seems|appears to be|seems to be|hard to say|unclear)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|approximately|approx\.?|around|roughly|circa|ca\.?|nearly|almost|some|close to"
    r"|an estimated|estimated)"
    r"(?: at| to)?|[~≈∼]|\\approx|\\sim)[\s*$_\"'(]*\Z",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:\b(?:at least|at most|more than|less than|fewer than|greater than|no more than|no less than"
    r"|no fewer than|over"
    r"|under|above|below|up to|upwards of|minimum of|maximum of|not more than|exceeds|exceeding)"
    r"|(?<![\w\"'/=-])[<>]|[≤≥]|\\[lg]eq?)"
    r"[\s*$_\"'(]*\Z",
    re.IGNORECASE,
)
_ROUGH_AFTER = re.compile(
    r"[\s*_)]*(?:or so\b|-ish\b|ish\b|approximately\b|approx\b|give or take\b|more or less\b)", re.IGNORECASE
)
_BOUND_AFTER = re.compile(
    r"[\s*_)]*(?:or (?:more|less|fewer|above|below|over)\b|\+(?!\s*\d)|and (?:above|up)\b)", re.IGNORECASE
)


def hedge(text: str) -> str:
    """The words with which `text` takes its answer back half-way; "" where it does not.

    >>> hedge("I think it is 42, maybe 43.")
    'I think'
    """
    found = _HEDGES.search(text[:4000].replace("’", "'"))
    return found.group() if found else ""


def limits(text: str, start: int, end: int) -> tuple[str, ...]:
    """What the words around [start, end) say of a number: "about", "a bound"; nothing for a plain one."""
    before = text[max(0, start - 30) : start]
    if before.endswith("<") and text[end : end + 1] == ">":  # a tag or a placeholder
        return ()
    if _BOUND.search(before) or _BOUND_AFTER.match(text, end):
        return ("a bound",)
    if _ABOUT.search(before) or _ROUGH_AFTER.match(text, end):
        return ("about",)
    return ()
