"""The dates that a text prints: 2020-06-05, June 5, 2020, 5 juin 2020, 12/31/17, June 2020, 2020.

Dates come out as ISO texts, as exact as they are printed: "2020-06-05", "2020-06" or "2020". A date in digits
whose day and month could change places is `ambiguous` unless their order is given; both readings are then in
`readings`. Days that no calendar has are no dates. Two-digit years are 1969 to 2068, as POSIX has it.

A grammar of our own, since dateutil and dateparser guess: they fill in what a partial date lacks from today,
and decide 5/6/2020 without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from leadline.answers.months import ALSO_WORDS, DAY_WORDS, MONTHS

_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|er|º|°|ª|\.)?"
_YEAR = r"(?P<year>[12]\d{3})(?![\d%]|[.,]\d|/\d)"
_GAP = r"[ \u00a0\u202f\n]{1,2}"
_JOIN = rf"(?:[.,]?{_GAP}|,|[-–./ ])"
_OF = r"(?:(?:day )?(?:of|de|do|del|di) )?"
# The month's name lies between what these match.
_BEFORE_MONTH = re.compile(
    rf"(?:(?<![\d.,/$-]){_DAY}|(?<![\w-])(?P<ordinal>{'|'.join(DAY_WORDS)}))(?:{_GAP}|-|/|\. ?)?{_OF}\Z",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(r"(?<![\d.,/$-])(?P<year>[12]\d{3})(?:, ?| |-|/)\Z")
_AFTER_DAY = re.compile(
    rf"\.?{_JOIN}?{_OF}(?P<year>[12]\d{{3}}|(?<=[-/ ])\d{{2}}|['’]\d{{2}})(?![\d%]|[.,]\d|/\d)", re.IGNORECASE
)
_DAY_YEAR = re.compile(
    rf"\.?{_JOIN}(?:the )?{_DAY}(?:\s?,\s?|{_GAP}|-|/|, of |(?=,)){_OF}(?P<year>[12]\d{{3}}"
    rf"|['’]?\d{{2}})(?![\d%]|[.,]\d|/\d|[:])",
    re.IGNORECASE,
)
_DAY_AFTER = re.compile(rf"\.?(?: |-){_DAY}(?![\d%]|[.,]\d|/\d|[:]|\w)", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\.?(?:,? |[-/]|,){_OF}(?:['’](?P<short>\d{{2}})|{_YEAR})", re.IGNORECASE)
_MONTH_WORD = re.compile(r"[^\W\d_]{3,12}")
_DIGITS = re.compile(
    r"(?<![\w.,/$€£:-])(?:"
    r"(?P<iso>(?P<y>\d{4})(?P<s>[-/.‐‑–])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?=T\d{2}|[^\d\w]|\Z))"
    r"|(?P<cjk>(?P<cy>\d{4})[ ]?[年년][ ]?(?P<cm>\d{1,2})[ ]?[月월](?:[ ]?(?P<cd>\d{1,2})[ ]?[日일])?)"
    r"|(?P<three>(?P<a>\d{1,2})(?P<t>[-/.‐‑–]|\. | / )(?P<b>\d{1,2})(?P=t)(?P<c>\d{4}|\d{2})(?![\d/-]"
    r"|[.,]\d|\w))"
    r"|(?P<ym>(?P<ymy>[12]\d{3})[-/](?P<ymm>0[1-9]|1[0-2])(?![\d/-]|[.,]\d|\w))"
    r"|(?P<my>(?P<mym>0?[1-9]|1[0-2])[/](?P<myy>[12]\d{3})(?![\d/-]|[.,]\d|\w))"
    r"|(?P<bare>(?:1[5-9]|20)\d\d)(?![\d/%$€£]|[.,]\d|[-–]\d{1,2}(?!\d)|\w)"
    r")"
)
# What makes four digits an amount rather than a year.
_COUNTED = re.compile(r"[ \u00a0-](?:%|percent|per cent|shares|dollars|days|people|million|thousand|USD|EUR)")


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date at [start, end) of a text. `readings` are all it can mean: two where it is `ambiguous`."""

    value: str
    start: int
    end: int
    text: str
    ambiguous: bool = False
    readings: tuple[str, ...] = ()


def find_dates(text: str, order: str | None = None) -> Iterator[FoundDate]:
    """The dates of `text` from left to right; `order` ("dmy", "mdy", "ymd") decides what 5/6/2020 is.

    >>> [found.value for found in find_dates("due on the 5th day of June, 2020 (signed 12/31/17)")]
    ['2020-06-05', '2017-12-31']
    """
    found = sorted([*_named(text), *_in_digits(text, order)], key=lambda date: (date.start, -date.end))
    end = 0
    for one in found:
        if one.start >= end:
            end = one.end
            if one.value:
                yield one


def _named(text: str) -> Iterator[FoundDate]:
    """Dates with a month's name."""
    for word in _MONTH_WORD.finditer(text):
        month = MONTHS.get(word.group().lower())
        if month is None:
            continue
        start, end = word.span()
        glued = text[start - 1 : start].isdigit() or text[start - 1 : start] in ("-", "/")
        before = _BEFORE_MONTH.search(text, max(0, start - 32), start)
        if before and (after := _AFTER_DAY.match(text, end)):
            day = int(before["day"] or DAY_WORDS[before["ordinal"].lower().replace(" ", "-")])
            yield _made(text, before.start(), after.end(), _full_year(after["year"]), month, day)
            continue
        if after := _DAY_YEAR.match(text, end):
            yield _made(text, start, after.end(), _full_year(after["year"]), month, int(after["day"]))
            continue
        if (year := _YEAR_BEFORE.search(text, max(0, start - 6), start)) and (
            after := _DAY_AFTER.match(text, end)
        ):
            yield _made(text, year.start(), after.end(), int(year["year"]), month, int(after["day"]))
            continue
        if word.group().lower() in ALSO_WORDS and not word.group()[0].isupper():
            continue
        if (after := _MONTH_YEAR.match(text, end)) and not glued | bool(before):
            year_text = after["year"] or after["short"]
            yield _partial(text, start, after.end(), f"{_full_year(year_text):04d}-{month:02d}")
        elif (year := _YEAR_BEFORE.search(text, max(0, start - 6), start)) and not _DAY_AFTER.match(
            text, end
        ):
            yield _partial(text, year.start(), end, f"{year['year']}-{month:02d}")


def _in_digits(text: str, order: str | None) -> Iterator[FoundDate]:
    at = 0
    while match := _DIGITS.search(text, at):
        at = match.end()
        start, end = match.span()
        one: FoundDate | None = None
        if match["iso"]:
            year, first, second = int(match["y"]), int(match["m"]), int(match["d"])
            one = _made(text, start, end, year, first, second)
        elif match["cjk"]:
            year, month = int(match["cy"]), int(match["cm"])
            if match["cd"]:
                one = _made(text, start, end, year, month, int(match["cd"]))
            elif 1 <= month <= 12:
                one = _partial(text, start, end, f"{year:04d}-{month:02d}")
        elif match["three"]:
            one = _three(text, match, order)
        elif match["ym"]:
            one = _partial(text, start, end, f"{match['ymy']}-{match['ymm']}")
        elif match["my"]:
            one = _partial(text, start, end, f"{match['myy']}-{int(match['mym']):02d}")
        elif not _COUNTED.match(text, end) and text[max(0, start - 2) : start].strip()[-1:] not in (
            "$",
            "€",
            "£",
        ):
            one = _partial(text, start, end, match["bare"])
        if one:
            yield one


def _three(text: str, match: re.Match[str], order: str | None) -> FoundDate:
    """Day, month and year in digits, in an order that is given, or the only possible one, or not known."""
    first, second, last = int(match["a"]), int(match["b"]), match["c"]
    start, end = match.span()
    if order == "ymd" and len(last) == 2:
        return _made(text, start, end, _full_year(match["a"]), second, int(last))
    year = _full_year(last)
    ways = {"mdy": (first, second), "dmy": (second, first)}
    possible = [_iso(year, *ways[way]) for way in ([order] if order in ways else ways)]
    readings = tuple(dict.fromkeys(reading for reading in possible if reading))
    if not readings:  # an order that cannot be meant: 31/12/2020 where months come first
        readings = tuple(dict.fromkeys(filter(None, (_iso(year, *way) for way in ways.values()))))
    return FoundDate(
        readings[0] if readings else "", start, end, text[start:end], len(readings) > 1, readings
    )


def _full_year(text: str) -> int:
    digits = text.lstrip("'’")
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 69 else 1900)


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _made(text: str, start: int, end: int, year: int, month: int, day: int) -> FoundDate:
    """A full date; without a value where no calendar has it, so that its year is not read by itself."""
    value = _iso(year, month, day) or ""
    return FoundDate(value, start, end, text[start:end], False, (value,))


def _partial(text: str, start: int, end: int, value: str) -> FoundDate:
    return FoundDate(value, start, end, text[start:end], False, (value,))
