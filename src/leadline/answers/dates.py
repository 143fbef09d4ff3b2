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
from dataclasses import dataclass, replace
from datetime import date

from leadline.answers.months import ALSO_WORDS, DAY_WORDS, ENGLISH, MONTHS, months_named, months_of

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
_YEAR_POINT = re.compile(r"(?<![\d.,/$-])(?P<year>[12]\d{3})\.? \Z")
# A two-digit number before another year is a day: "May 12, 2021".
_AFTER_DAY = re.compile(
    rf"\.?{_JOIN}?{_OF}(?P<year>[12]\d{{3}}|(?<=[-/ ])\d{{2}}(?![.,]? ?[12]\d{{3}}(?!\d))|['’]\d{{2}})"
    r"(?![\d%]|[.,]\d|/\d)",
    re.IGNORECASE,
)
_DAY_YEAR = re.compile(
    rf"\.?{_JOIN}(?:the )?{_DAY}(?:\s?,\s?|{_GAP}|-|/|, of |(?=,)){_OF}(?P<year>[12]\d{{3}}"
    rf"|['’]?\d{{2}})(?![\d%]|[.,]\d|/\d|[:])",
    re.IGNORECASE,
)
_DAY_AFTER = re.compile(rf"\.?(?: |-){_DAY}(?![\d%]|[.,]\d|/\d|[:]|\w)", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\.?(?:,? |[-/]|,){_OF}(?:['’](?P<short>\d{{2}})|{_YEAR})", re.IGNORECASE)
_MONTH_WORD = re.compile(r"[^\W\d_]{3,12}")
# The number before a month belongs to these and is no day: "See page 3. May 12, 2021".
_REFERS = re.compile(
    r"\b(?:pages?|pp?\.|version|section|sec\.|article|exhibit|schedule|item|note|step|table|figure|chapter"
    r"|clause|paragraph|rule|part|form|no\.|number|release|amendment|appendix|annex|§|#) ?\Z",
    re.IGNORECASE,
)
# "1. " at the beginning of a line is a list's label as well as a day.
_LABELS = re.compile(r"(?:\A|\n)[ \t>*_#(-]*[1-9]\. \Z")
# "mid-March 2005" is in March 2005.
_WITHIN = re.compile(r"\b(?:mid|early|late)[-–]\Z", re.IGNORECASE)
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


def find_dates(text: str, order: str | None = None, locale: str | None = None) -> Iterator[FoundDate]:
    """The dates of `text` from left to right; `order` ("dmy", "mdy", "ymd") decides what 5/6/2020 is.

    `locale` adds the month names of its language; those of Europe are known where day and year are there.

    >>> [found.value for found in find_dates("due on the 5th day of June, 2020 (signed 12/31/17)")]
    ['2020-06-05', '2017-12-31']
    """
    found = sorted(
        [*_named(text, locale), *_in_digits(text, order)], key=lambda date: (date.start, -date.end)
    )
    end = 0
    for one in found:
        if one.start >= end:
            end = one.end
            if one.value:
                yield one


def _named(text: str, locale: str | None) -> Iterator[FoundDate]:
    """Dates with a month's name."""
    local = months_of(locale)
    for word in _MONTH_WORD.finditer(text):
        name = word.group().lower()
        month = local.get(name) or MONTHS.get(name)
        if month is not None:
            if one := _around(text, word, name, month):
                yield one
        elif text[word.start() - 2 : word.start() - 1] in _DAY_ENDS and (one := _foreign(text, word, name)):
            yield one


# What may stand before the blank before a month: "31 Mart", "31. maaliskuuta", "31 de março".
_DAY_ENDS = frozenset("0123456789.eº°")


def _foreign(text: str, word: re.Match[str], name: str) -> FoundDate | None:
    """A full date with a month's name in one of the less frequent languages."""
    start, end = word.span()
    before = _BEFORE_MONTH.search(text, max(0, start - 32), start)
    after = _AFTER_DAY.match(text, end) if before and before["day"] else None
    if before and after and len(after["year"]) == 4:
        day, year, first, last = before["day"], after["year"], before.start(), after.end()
    elif (above := _YEAR_POINT.search(text, max(0, start - 7), start)) and (
        below := _DAY_AFTER.match(text, end)
    ):
        day, year, first, last = below["day"], above["year"], above.start(), below.end()
    else:
        return None
    made = (_iso(int(year), month, int(day)) for month in months_named(name))
    readings = tuple(value for value in made if value)
    if not readings:
        return None
    return FoundDate(readings[0], first, last, text[first:last], len(readings) > 1, readings)


def _around(text: str, word: re.Match[str], name: str, month: int) -> FoundDate | None:
    """The date of which `word` is the month."""
    start, end = word.span()
    before = _BEFORE_MONTH.search(text, max(0, start - 32), start)
    day_year = _DAY_YEAR.match(text, end)
    if before and before["day"] and _REFERS.search(text, max(0, before.start() - 12), before.start()):
        before = None
    after = _AFTER_DAY.match(text, end) if before else None
    if before and after and not (day_year and len(day_year["year"]) == 4):
        day = int(before["day"] or DAY_WORDS[before["ordinal"].lower().replace(" ", "-")])
        full = _made(text, before.start(), after.end(), _full_year(after["year"]), month, day)
        other = ""
        if day_year:
            other = _iso(_full_year(day_year["year"]), month, int(day_year["day"])) or ""
        elif name in ENGLISH and _LABELS.search(text, max(0, start - 16), start):
            other = f"{_full_year(after['year']):04d}-{month:02d}"
        if other and full.value and other != full.value:
            return replace(full, ambiguous=True, readings=(full.value, other))
        return full
    if day_year:
        return _made(text, start, day_year.end(), _full_year(day_year["year"]), month, int(day_year["day"]))
    year_before = _YEAR_BEFORE.search(text, max(0, start - 6), start)
    if year_before and (after := _DAY_AFTER.match(text, end)):
        return _made(
            text, year_before.start(), after.end(), int(year_before["year"]), month, int(after["day"])
        )
    if name in ALSO_WORDS and not word.group()[0].isupper():
        return None
    glued = text[start - 1 : start].isdigit() or text[start - 1 : start] in ("-", "/")
    if glued and _WITHIN.search(text, max(0, start - 6), start):
        glued = False
    if (after := _MONTH_YEAR.match(text, end)) and not glued | bool(before):
        year_text = after["year"] or after["short"]
        return _partial(text, start, after.end(), f"{_full_year(year_text):04d}-{month:02d}")
    if year_before and not _DAY_AFTER.match(text, end):
        return _partial(text, year_before.start(), end, f"{year_before['year']}-{month:02d}")
    return None


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
