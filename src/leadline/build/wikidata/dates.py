"""Dates as texts write them and as Wikidata holds them: the same day, or one within the other."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from leadline.build.wikidata.entity import Time, precision_name

Precision = Literal["day", "month", "year", "decade", "century"]
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_COARSER: dict[str, int] = {"day": 0, "month": 1, "year": 2, "decade": 3, "century": 4}
_TIME = re.compile(r"([+-]?)(\d{1,16})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?Z?")
_ISO = re.compile(r"([+-]?)(\d{4,6})(?:-(\d\d)(?:-(\d\d))?)?")
_ERA = re.compile(r"(?<=\d)\s*(BC|BCE|B\.C\.|B\.C\.E\.|AD|CE|A\.D\.|C\.E\.)$", re.IGNORECASE)
_BEFORE = re.compile(r"^(?:(?:c\.|ca\.|circa|about|around)\s*(?=[0-9a-z]))?(?:the year\s+)?", re.IGNORECASE)
_AD = re.compile(r"\b(?:AD|A\.D\.)\s+(?=\d{1,4}$)", re.IGNORECASE)
_DECADE = re.compile(r"(?:the )?(\d{1,3}0)['’]?s", re.IGNORECASE)
_CENTURY = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)[\s-]+century(?:\s*(BC|BCE|AD|CE))?", re.IGNORECASE)


@dataclass(frozen=True)
class Date:
    """A date to its precision. `year` is astronomical (0 is 1 BC); month and day are 0 where coarser.

    A decade is its first year (1990), a century its number (20: 1901 to 2000; 0 is the first before Christ).
    `exact` is False where a source wrote a day that may stand for a whole year (1 January at midnight).
    """

    year: int
    month: int = 0
    day: int = 0
    precision: Precision = "year"
    exact: bool = True

    def within(self, other: Date) -> bool:
        """Whether it lies in the span that `other` names, or is the same: a day in its month, year, century.

        >>> Date(1990, 11, 0, "month").within(Date(1990)), Date(1990).within(Date(1990, 11, 0, "month"))
        (True, False)
        """
        return _COARSER[self.precision] <= _COARSER[other.precision] and self.to(other.precision) == other.to(
            other.precision
        )

    @property
    def coarseness(self) -> int:
        """0 for a day, 1 for a month, and so on: the more, the less is said."""
        return _COARSER[self.precision]

    def to(self, precision: Precision) -> Date:
        """The same, less precise. A precision that it has not is left as it is."""
        if _COARSER[precision] <= _COARSER[self.precision]:
            return Date(self.year, self.month, self.day, self.precision)
        match precision:
            case "month":
                return Date(self.year, self.month, 0, "month")
            case "year":
                return Date(self.year)
            case "decade":
                return Date(self.year - self.year % 10, precision="decade")
        century = self.year if self.precision == "century" else (self.year - 1) // 100 + 1
        return Date(century, precision="century")


def of_statement(time: Time) -> Date | None:
    """The date that a statement holds; None where it is no date or coarser than a century.

    A Julian date is given in the Gregorian calendar, if it has a day.
    """
    match = _TIME.fullmatch(time.time)
    precision = precision_name(time.precision)
    if match is None or precision in ("millennium", "older"):
        return None
    year, month, day = int(match[2]), int(match[3]), int(match[4])
    if match[1] == "-":
        year = 1 - year  # "-0055" is 55 BC
    if precision == "century":
        return Date((year - 1) // 100 + 1, precision="century")
    if precision == "decade":
        return Date(year - year % 10, precision="decade")
    # A precision that the value has not is not believed: "+1990-00-00" with precision 11 is a year.
    if precision == "year" or not 1 <= month <= 12:
        return Date(year)
    if precision == "month" or not 1 <= day <= 31:
        return Date(year, month, 0, "month")
    if time.julian:
        return _gregorian(year, month, day)
    return Date(year, month, day, "day")


def as_written(time: Time) -> Date | None:
    """As `of_statement`, but in the calendar of the statement: as books of that time have it."""
    return of_statement(time.model_copy(update={"julian": False}))


def read_date(text: str, language: str = "en") -> Date | None:
    """The date that a whole text is; None where it is none. Names of months are those of `language`.

    >>> read_date("11 March 1952")
    Date(year=1952, month=3, day=11, precision='day', exact=True)
    >>> read_date("1952-01-01T00:00:00Z").exact, read_date("44 BC").year, read_date("the 1990s").precision
    (False, -43, 'decade')
    """
    said = " ".join(unicodedata.normalize("NFKC", text).split()).strip(" ,.")
    if match := _TIME.fullmatch(said):
        date = _checked(match[1] + match[2], match[3], match[4])
        first = date is not None and (date.month, date.day) == (1, 1)
        return Date(date.year, 1, 1, "day", exact=False) if date is not None and first else date
    if match := _ISO.fullmatch(said):
        return _checked(match[1] + match[2], match[3] or "0", match[4] or "0")
    if match := _DECADE.fullmatch(said):
        return Date(int(match[1]), precision="decade")
    said = _BEFORE.sub("", said)
    if match := _CENTURY.fullmatch(said):
        before = (match[2] or "").upper().startswith("B")
        return Date(1 - int(match[1]) if before else int(match[1]), precision="century")
    era = _ERA.search(said)
    before = era is not None and era[1].upper().startswith("B")
    bare, after = _AD.subn("", said[: era.start()] if era is not None else said)
    if before and after:
        return None
    for pattern in _patterns(language):
        if match := pattern.fullmatch(bare):
            found = match.groupdict()
            month = _months(language)[found["month"].casefold().rstrip(".")] if found.get("month") else 0
            if len(found["year"]) < 3 and era is None and not after:
                return None  # "March 2" is a day of any year
            year = ("-" if before else "") + found["year"]
            return _checked(year, str(month), found.get("day") or "0")
    return None


def date_names(date: Date, language: str = "en") -> tuple[str, ...]:
    """How a date is written, the most usual first; to its precision and no further.

    >>> date_names(Date(1990, 11, 0, "month"))
    ('November 1990', '1990-11')
    """
    if date.precision == "century":
        before = date.year < 1
        return (f"{_ordinal(1 - date.year if before else date.year)} century{' BC' if before else ''}",)
    if date.precision == "decade":
        return (f"{date.year}s",)
    before = date.year < 1
    # A year of two digits alone would be read as a number.
    year = f"{1 - date.year} BC" if before else f"AD {date.year}" if date.year < 100 else str(date.year)
    if date.precision == "year":
        return (year,)
    month = _months_of(language)[date.month]
    iso = () if before else (f"{date.year:04d}-{date.month:02d}",)
    if date.precision == "month":
        return (f"{month} {year}", *iso)
    written = _in_words(date, language)
    names = (*((written,) if written else ()), f"{date.day} {month} {year}")
    if language.partition("-")[0] == "en":
        names = (f"{date.day} {month} {year}", f"{month} {date.day}, {year}")
    return tuple(dict.fromkeys((*names, *(f"{one}-{date.day:02d}" for one in iso))))


def _checked(year: str, month: str, day: str) -> Date | None:
    number, m, d = int(year), int(month), int(day)
    if year.startswith("-"):
        number = 1 - abs(number)
    elif number == 0:
        return None
    if m > 12 or (d and not m) or d > (_DAYS[m - 1] if m != 2 or number % 4 else 29):
        return None  # of the Julian calendar too, every fourth year has a 29 February
    if not m:
        return Date(number)
    return Date(number, m, d, "day") if d else Date(number, m, 0, "month")


@lru_cache
def _locale(language: str) -> Any:
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return Locale.parse("en")


@lru_cache
def _months(language: str) -> Mapping[str, int]:
    """Names of months, whole and short, folded, to their numbers."""
    locale = _locale(language)
    found: dict[str, int] = {}
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in locale.months[context][width].items():
                found.setdefault(unicodedata.normalize("NFKC", name).casefold().rstrip("."), number)
    if locale.language == "en":
        found["sept"] = 9
    return found


@lru_cache
def _months_of(language: str) -> Mapping[int, str]:
    """Numbers of months to their whole names, as they stand in a date."""
    names: Mapping[int, str] = _locale(language).months["format"]["wide"]
    return names


def _in_words(date: Date, language: str) -> str:
    """A day as the language writes it at length; "" where the calendar of this machine does not reach."""
    from babel.dates import format_date

    try:
        day = datetime.date(date.year, date.month, date.day)
    except ValueError:
        return ""
    return format_date(day, "long", locale=_locale(language))


@lru_cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    names = "|".join(sorted(map(re.escape, _months(language)), key=len, reverse=True))
    number = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
    month, year = rf"(?P<month>{names})\.?", r"(?P<year>\d{1,4})"
    de = r"(?:\s+(?:of|de|del))?"
    forms = (
        rf"(?:the\s+)?{number}{de}\s*{month},?{de}\s+{year}",
        rf"{month}\s+{number},?\s+{year}",
        rf"{month},?{de}\s+{year}",
        year,
    )
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


def _gregorian(year: int, month: int, day: int) -> Date:
    """A day of the Julian calendar in the Gregorian one, by way of the Julian day number (Richards 2013)."""
    a = (14 - month) // 12
    y, m = year + 4800 - a, month + 12 * a - 3
    number = day + (153 * m + 2) // 5 + 365 * y + y // 4 - 32083
    f = number + 1401 + (((4 * number + 274277) // 146097) * 3) // 4 - 38
    e = 4 * f + 3
    h = 5 * ((e % 1461) // 4) + 2
    new_month = (h // 153 + 2) % 12 + 1
    return Date(e // 1461 - 4716 + (12 + 2 - new_month) // 12, new_month, (h % 153) // 5 + 1, "day")


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
