"""The numbers of a text that a calculation may use: without dates, references, and numbers of a list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from leadline.answers.dates import FoundDate, find_dates
from leadline.answers.numbers import PrintedNumber, find_numbers
from leadline.audit.normal import decoded

# "Section 2.1", "page 11": names of places, although they are numbers.
_REFERENCE = re.compile(
    r"(?:\b(?:Sub)?(?:section|sec|article|art|exhibit|schedule|item|rule|note|figure|table|page|pp?|clause|"
    r"paragraph|para|chapter|annex|appendix|form|part|step|no|nos|release|version)s?\.?|[§¶#])\s*\(?\Z",
    re.IGNORECASE,
)
# "(2) On December 22", "3. Liquidation Rights": a list's own numbers.
_LISTED = re.compile(r"(?:\A|[\n;.:]|\band|\bor)\s*\(?\Z")
_LIST_MARK = re.compile(r"\)|\.\s")
_GROUP = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_BODY = re.compile(r"\d[\d.,\u00a0\u202f ]*")
_YEAR = re.compile(r"(?<![\w.,/$€£])(?:1[5-9]|20)\d\d(?![\w%/]|[.,]\d)")
_NOUN = re.compile(r"[\s\-]?([^\W\d_]{3,})")
# What follows a number and is not what it counts.
_NO_NOUNS = frozenset(
    """
    and but divided each every for from had has have less million billion trillion thousand minus not or
    over per percent plus the time was are were with
    """.split()  # noqa: SIM905  # a list of 27 lines is not easier to read
)
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")


@dataclass(frozen=True, slots=True)
class Operand:
    """A number that a text prints. `half` is half a unit of its last digit: how exact it is.

    `bare` is the number without its magnitude word ("25.2 million" → 25.2; the value itself without one).
    `inner` says that it explains another number within brackets; `noun` is the word behind it.
    """

    value: float
    bare: float
    half: float
    text: str
    start: int
    end: int
    money: bool = False
    percent: bool = False
    inner: bool = False
    year: bool = False
    noun: str = ""

    @property
    def digits(self) -> int:
        """Significant digits: the more, the less likely it is that a calculation hits by chance."""
        return len(f"{abs(self.bare):.12g}".replace(".", "").strip("0")) or 1


# An item's window is asked about several times: what it states, what else it states, what can be calculated.
@lru_cache(maxsize=16)
def readable(text: str) -> str:
    """Entities decoded and invisible characters blanked: what numbers and dates are looked for in."""
    return _INVISIBLE.sub(" ", decoded(text))


@lru_cache(maxsize=16)
def numbers_in(text: str, locale: str | None) -> tuple[PrintedNumber, ...]:
    """The numbers of a `readable` text."""
    return tuple(find_numbers(text, locale))


@lru_cache(maxsize=16)
def dates_in(text: str, order: str | None) -> tuple[FoundDate, ...]:
    """The dates of a `readable` text."""
    return tuple(find_dates(text, order))


@lru_cache(maxsize=16)
def without_dates(text: str, order: str | None, *, years: bool) -> str:
    """The text with its dates blanked; with `years`, a year alone stays."""
    masked = list(text)
    for found in dates_in(text, order):
        if not years or len(found.value) > 4:
            masked[found.start : found.end] = " " * (found.end - found.start)
    return "".join(masked)


def operands_of(text: str, *, locale: str | None = None, years: bool = False) -> tuple[Operand, ...]:
    """The operands of a `readable` text, in its order. `years` adds those that stand alone, in dates and in
    ranges such as 1999-2005.

    >>> [operand.value for operand in operands_of("On June 30, 2014, $ (24.99 ) of 25.2 million")]
    [-24.99, 25200000.0]
    """
    plain = without_dates(text, None, years=False)
    inner = [match.span() for match in _GROUP.finditer(plain) if _WORD.search(match.group())]
    operands = []
    for number in numbers_in(plain, locale):
        if is_reference(plain, number):
            continue
        within = any(start <= number.start and number.end <= end for start, end in inner)
        noun = _NOUN.match(plain, number.end)
        name = noun.group(1).lower().removesuffix("s") if noun else ""
        operands += _operands(number, inner=within, noun="" if name in _NO_NOUNS else name)
    if years:
        for year in _YEAR.finditer(text):
            value = float(year.group())
            operands.append(Operand(value, value, 0.0, year.group(), year.start(), year.end(), year=True))
    return tuple(sorted(operands, key=lambda operand: operand.start))


def is_reference(text: str, number: PrintedNumber) -> bool:
    """Whether a number only names a place ("Section 3.1", "page 7") or an entry of a list ("3. Rent")."""
    before = text[max(0, number.start - 24) : number.start]
    if _REFERENCE.search(before):
        return True
    is_small = number.step == 1 and -100 < number.value < 100 and not (number.currency or number.percent)
    inside = number.text.strip("()") if number.text.startswith("(") else ""
    if is_small and inside:
        return bool(_LISTED.search(before))
    return bool(is_small and _LISTED.search(before) and _LIST_MARK.match(text, number.end))


def _operands(number: PrintedNumber, *, inner: bool, noun: str) -> list[Operand]:
    values = [number.value]
    if number.ambiguous and number.alternative is not None:
        values.append(number.alternative)
    # Whole numbers are counts, and exact; "1.3 million" and "1,362,500 thousand" are not.
    half = float(number.step) / 2 if number.step not in (None, 1) else 0.0
    made = []
    for value in values:
        exact = float(value)
        made.append(
            Operand(
                exact, _bare(number, exact), half, _shown(number, exact), number.start, number.end,
                bool(number.currency), number.percent, inner, noun=noun,
            )
        )  # fmt: skip
    return made


def bare_value(number: PrintedNumber) -> float:
    """The number without its magnitude word: 25.2 of 25.2 million."""
    return _bare(number, float(number.value))


def _bare(number: PrintedNumber, value: float) -> float:
    if not (number.text[-1:].isalpha() and (body := _BODY.search(number.text))):
        return value
    printed = next(find_numbers(body.group().strip(" ,.\u00a0\u202f")), None)
    if printed is None:
        return value
    bare = abs(float(printed.value))
    return -bare if value < 0 else bare


def _shown(number: PrintedNumber, value: float) -> str:
    text = " ".join(number.text.split())
    if value < 0:
        text = "−" + re.sub(r"[\-−–]", "", re.sub(r"\(\s*|\s*\)", "", text)).strip()
    elif text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return text
