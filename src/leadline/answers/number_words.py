"""Numbers in words: twenty-five, one and a half, three quarters, one hundred and eighty, nineteen
eighty-four.

English, as the bundled questions are. A digit sequence read aloud ("two three") is two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {word: value for value, word in enumerate(_UNITS + _TEENS)}
TENS = {word: 20 + 10 * place for place, word in enumerate(_TENS)} | {"fourty": 40}
LARGE = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "quadrillion": 10**15,
    "lakh": 10**5, "crore": 10**7, "dozen": 12, "hundred": 100,
}  # fmt: skip
_LARGE = LARGE | {f"{word}s": value for word, value in LARGE.items()}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "sixteenth": 16, "twentieth": 20, "hundredth": 100,
    "thousandth": 1000,
}  # fmt: skip
_PARTS |= {f"{word}s": value for word, value in _PARTS.items() if not word.startswith("hal")}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14,
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19,
    "twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70,
    "eightieth": 80, "ninetieth": 90, "hundredth": 100,
}  # fmt: skip
# "one" stands for a thing, not for a number: "no one", "one of them", "the one who".
_NO_COUNT_BEFORE = frozenset(
    [
        "no",
        "any",
        "every",
        "each",
        "this",
        "that",
        "which",
        "the",
        "some",
        "another",
        "only",
        "last",
        "next",
        "latter",
        "former",
    ]
)
_NO_COUNT_AFTER = frozenset(
    ["another", "can", "could", "may", "might", "should", "must", "would", "who", "that", "way", "more"]
)
# Capitals because a sentence or a heading begins, not because of a name.
_STARTERS = frozenset(["The", "Is", "It", "Answer", "Total", "And", "So", "About", "Only", "Exactly", "Over"])
# "the first half of 2020" is a time, "the other half" a thing.
_NO_HALF_BEFORE = frozenset(["first", "second", "other", "latter", "former", "better", "last"])

_WORD = re.compile(r"[A-Za-z]+")
_JOINT = re.compile(r"[ \u00a0\u202f]|\s{1,3}| ?[-‐‑–] ?|, ")
_TIGHT = re.compile(r"[ \u00a0\u202f]|\s{1,3}|[-‐‑]")

# Where a run of number words may begin: everything else is passed over with one look.
_STARTS = frozenset({*SMALL, *TENS, *ORDINALS, "hundred", "half", "a", "an"})


@dataclass(frozen=True, slots=True)
class Worded:
    """A number in words at [start, end) of a text."""

    value: Fraction
    start: int
    end: int
    ordinal: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    joint: str  # what stands before it


def worded_numbers(text: str) -> Iterator[Worded]:
    """The numbers in words of `text`, in order; ordinals ("the third") among them, marked.

    >>> [str(found.value) for found in worded_numbers("one hundred and eighty; two and a half million")]
    ['180', '2500000']
    """
    place = 0
    matches = list(_WORD.finditer(text))
    lowered = [match.group().lower() for match in matches]
    while place < len(matches):
        if lowered[place] not in _STARTS:
            place += 1
            continue
        words = _run(text, matches, lowered, place)
        read = _read(words, lowered[place - 1] if place else "")
        if read is None:
            place += 1
            continue
        value, used, ordinal = read
        first, last = words[0], words[used - 1]
        if _stands_alone(text, first.start, last.end) and not _counts_nothing(
            text, lowered, place, used, matches
        ):
            yield Worded(value, first.start, last.end, ordinal)
        place += used


_RUN_WORDS = frozenset({*SMALL, *TENS, *_LARGE, *_PARTS, *ORDINALS, "and", "a", "an", "point"})


def _run(text: str, matches: list[re.Match[str]], lowered: list[str], place: int) -> list[_Word]:
    """The words from `place` on that could belong to one number, each joined to the one before."""
    words: list[_Word] = []
    for at in range(place, min(place + 40, len(matches))):
        start, end = matches[at].span()
        joint = text[matches[at - 1].end() : start] if words else ""
        if lowered[at] not in _RUN_WORDS or (words and not _JOINT.fullmatch(joint)):
            break
        words.append(_Word(lowered[at], start, end, joint))
    return words


def _read(words: list[_Word], before: str) -> tuple[Fraction, int, bool] | None:
    """The number that `words` begin with: its value, how many words it takes, and if it is an ordinal."""
    if not words:
        return None
    if words[0].text in ("a", "an"):
        following = words[1].text if len(words) > 1 else ""
        if following == "half" or following in ("third", "quarter", "fifth", "tenth"):
            part = Fraction(1, _PARTS[following])
            # "a quarter" alone is three months or a coin as often as a number
            return _times(part, words, 2) if following == "half" else None
        if following not in LARGE or (following == "dozen" and before in ("half",)):
            return None
        value, used, ordinal = _whole(words[1:], start=1)
        return _with_fraction(value, words, used + 1, ordinal)
    if words[0].text == "half":
        if before in _NO_HALF_BEFORE:
            return None
        article = len(words) > 1 and words[1].text in ("a", "an")
        return _times(Fraction(1, 2), words, 2 if article and len(words) > 2 else 1)
    if words[0].text in LARGE and words[0].text != "hundred":
        return None
    value, used, ordinal = _whole(words)
    return _with_fraction(value, words, used, ordinal) if used else None


def _whole(words: list[_Word], start: int | None = None) -> tuple[Fraction, int, bool]:
    """A whole number: (value, words used, is an ordinal). `start` is what "a" stands for in "a hundred"."""
    total, current, used = 0, start, 0
    room = 1 if start else 100  # what may still be added is below this,
    ceiling = 10**18  # and a magnitude below this
    for at, word in enumerate(words):
        name = word.text
        if word.joint.startswith(",") and not (total and name in {*SMALL, *TENS}):
            break
        if name == "and":
            follows = words[at + 1].text if at + 1 < len(words) else ""
            can_add = used and (room in (100, 1000) and (total or current)) and current != 0
            goes_on = follows in SMALL or follows in TENS or follows in ORDINALS
            if can_add and goes_on and _adds_on(words, at + 1, room):
                continue
            break
        if name in SMALL or name in TENS:
            value = SMALL.get(name, TENS.get(name, 0))
            if current is None or (room > value and not (room == 10 and value == 0)):
                current = (current or 0) + value
                room = 10 if name in TENS else 1
            elif current and 13 <= current <= 20 and value >= 10 and not total and at == used:
                current, room = current * 100 + value, 10 if name in TENS else 1  # nineteen eighty
            else:
                break
        elif name in ("hundred", "hundreds"):
            if (name == "hundreds" and current is None) or (
                current is not None and (current % 100 == 0 or current > 99)
            ):
                break
            current, room = (1 if current is None else current) * 100, 100
        elif name in ("dozen", "dozens"):
            if current is None or not current:
                break
            return Fraction(total + current * 12), at + 1, False
        elif name in _LARGE:
            factor = _LARGE[name]
            if current is None or factor >= ceiling or not current:
                if current is None and total:
                    break
                if current is None or factor >= ceiling:
                    break
            total, current, room, ceiling = total + (current or 0) * factor, None, 1000, factor
        elif name in ORDINALS and _may_end(name, current, room, words, at):
            return Fraction(total + (current or 0) + ORDINALS[name]), at + 1, True
        else:
            break
        used = at + 1
    return Fraction(total + (current or 0)), used, False


def _adds_on(words: list[_Word], at: int, room: int) -> bool:
    """After "hundred and": not the numerator of a fraction, nor a number of its own ("and two hundred")."""
    following = words[at + 1].text if at + 1 < len(words) else ""
    return following not in _PARTS and not (room == 100 and following in ("hundred", "hundreds"))


def _may_end(name: str, current: int | None, room: int, words: list[_Word], at: int) -> bool:
    """An ordinal ends a number ("twenty-first", "one hundred and third") or is all of it ("third")."""
    if at == 0:
        return True
    if name in _PARTS and room == 1:
        return False  # two thirds
    value = ORDINALS[name]
    return (current is None and room > value) or (current is not None and room > value)


def _with_fraction(
    value: Fraction, words: list[_Word], used: int, ordinal: bool
) -> tuple[Fraction, int, bool] | None:
    """What may follow a whole number: "and a half", "point five", "thirds", and a magnitude after those."""
    rest = words[used:]
    names = [word.text for word in rest[:4]]
    if ordinal or not used:
        return (value, used, ordinal) if used else None
    if names[:1] == ["point"] and len(names) > 1 and names[1] in _UNITS:
        digits = ""
        for word in rest[1:]:
            if word.text not in _UNITS:
                break
            digits += str(SMALL[word.text])
        return _times(value + Fraction(int(digits), 10 ** len(digits)), words, used + 1 + len(digits))
    if names[:1] == ["and"]:
        if len(names) > 2 and names[1] in ("a", "an", "one") and names[2] in _PARTS:
            last = _LARGE.get(words[used - 1].text, 1)  # "a million and a half" is 1,500,000
            return _times(value + Fraction(last if last > 100 else 1, _PARTS[names[2]]), words, used + 3)
        if len(names) > 2 and names[1] in SMALL and names[2] in _PARTS:
            return _times(value + Fraction(SMALL[names[1]], _PARTS[names[2]]), words, used + 3)
        if len(names) > 1 and names[1] == "half":
            return _times(value + Fraction(1, 2), words, used + 2)
    is_part = names[:1] and names[0] in _PARTS and _TIGHT.fullmatch(rest[0].joint)
    # "one quarter", "three quarters": also three and nine months; the words do not say which
    if is_part and 0 < value < 1000 and (names[0] != "second"):
        return _times(value / _PARTS[names[0]], words, used + 1)
    return value, used, False


def _times(value: Fraction, words: list[_Word], used: int) -> tuple[Fraction, int, bool]:
    """`value`, times the magnitudes that follow: half a million, one and a half billion."""
    while used < len(words) and words[used].text in _LARGE and not words[used].joint.startswith(","):
        value *= _LARGE[words[used].text]
        used += 1
    return value, used, False


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not a piece of a longer word or name: "someone's", "ten_fold", "7one"."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or (before in "_'’" and before) or after.isalnum() or after == "_")


def _counts_nothing(
    text: str, lowered: list[str], place: int, used: int, matches: list[re.Match[str]]
) -> bool:
    """A single word that is no number: part of a name ("Holder One", "Act Two"), or "one" for a thing."""
    if used != 1:
        return False
    word = matches[place].group()
    before = lowered[place - 1] if place else ""
    if place and word.istitle() and text[matches[place - 1].end() : matches[place].start()] == " ":
        previous = matches[place - 1].group()
        if previous.istitle() and len(previous) > 1 and previous not in _STARTERS:
            return True
    if lowered[place] != "one":
        return False
    after = lowered[place + 1] if place + 1 < len(lowered) else ""
    return before in _NO_COUNT_BEFORE or after in _NO_COUNT_AFTER or after == "of"
