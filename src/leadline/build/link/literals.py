"""Dates and quantities as texts write them: what they say, in one form, so that two can be compared."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from decimal import Decimal

_MONTHS = {
    name.casefold(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<ad>ad\s+)?(?P<year>[0-9]{1,4})\s*(?P<era>bc|bce|b\.c\.|b\.c\.e\.|ad|ce|a\.d\.|c\.e\.)?"
_WRITTEN = tuple(
    re.compile(form + r"\Z", re.I)
    for form in (
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}",
        rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}",
        rf"(?:the\s+year\s+)?{_YEAR}",
        r"(?:the\s+)?(?P<decade>[0-9]{1,3}0)['’]?s",
        r"(?:the\s+)?(?P<century>[0-9]{1,2})(?:st|nd|rd|th)[\s-]+century\s*(?P<era>bc|bce|ad|ce)?",
        # ISO 8601, with the zeros that Wikidata writes where it knows no month or day.
        r"(?P<sign>[+-]?)(?P<year>[0-9]{4,})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?(?:T00:00:00Z)?",
    )
)
_ABOUT = re.compile(r"(?:c\.|ca\.|circa|about|around)\s*(?=[0-9a-z])", re.I)
_NUMBER = re.compile(
    r"(?P<sign>[-+−]?)(?P<whole>[0-9]{1,3}(?:[,\s][0-9]{3})+|[0-9]+)(?P<part>\.[0-9]+)?(?P<unit>[^0-9]*)\Z"
)
_TIMES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


@dataclass(frozen=True)
class Date:
    """A date as far as it is known: `text` is 1951-10-08, 1951-10, 1951, 1950s or 20c; BC years begin with -.

    `precision` is day, month, year, decade or century.
    """

    text: str
    precision: str


@dataclass(frozen=True)
class Quantity:
    """A number, in plain digits, and the unit behind it as it is written ("" without one)."""

    number: str
    unit: str


def read_date(text: str) -> Date | None:
    """The date that `text` is, None where it is none or says more than one date.

    Month names are English. 01/02/1990 is none: it means two days.

    >>> read_date("October 8, 1951"), read_date("44 BC")
    (Date(text='1951-10-08', precision='day'), Date(text='-0044', precision='year'))
    >>> read_date("11 August 184827 June 1934") is None
    True
    """
    text = _ABOUT.sub("", " ".join(text.split()), count=1)
    for form in _WRITTEN:
        if match := form.match(text):
            return _date({name: said or "" for name, said in match.groupdict().items()})
    return None


def read_quantity(text: str) -> Quantity | None:
    """The quantity that `text` is, None where it is none.

    >>> read_quantity("1,234.50 km"), read_quantity("3.2 million"), read_quantity("7 or 8")
    (Quantity(number='1234.5', unit='km'), Quantity(number='3200000', unit=''), None)
    """
    match = _NUMBER.match(" ".join(text.split()))
    if not match:
        return None
    number = Decimal(re.sub(r"[,\s]", "", match["whole"]) + (match["part"] or ""))
    first, _, rest = match["unit"].strip().partition(" ")
    unit = match["unit"].strip()
    if first.casefold() in _TIMES:
        number *= _TIMES[first.casefold()]
        unit = rest.strip()
    if number and match["sign"] in ("-", "−"):
        number = -number
    plain = f"{number:f}"
    return Quantity(plain.rstrip("0").rstrip(".") if "." in plain else plain, unit)


def _date(said: dict[str, str]) -> Date | None:
    before = "-" if said.get("era", "").casefold().startswith("b") or said.get("sign") == "-" else ""
    if said.get("decade"):
        return Date(f"{int(said['decade'])}s", "decade")
    if said.get("century"):
        return Date(f"{before}{int(said['century'])}c", "century")
    if said.get("ad") and before:
        return None
    # "March 2" is a day without a year.
    if len(said["year"]) < 3 and not (said.get("ad") or said.get("era")):
        return None
    year = int(said["year"])
    month = said.get("month", "")
    month_number = int(month) if month.isdigit() else _MONTHS.get(month.casefold(), 0)
    day = int(said.get("day") or 0)
    if not year or month_number > 12 or (day and not month_number):
        return None
    stem = f"{before}{year:04d}"
    if not month_number:
        return Date(stem, "year")
    if not day:
        return Date(f"{stem}-{month_number:02d}", "month")
    # The Gregorian calendar's leap years, and the Julian ones: both had a 29 February.
    longest = 29 if month_number == 2 and year % 4 == 0 else calendar.monthrange(2023, month_number)[1]
    return Date(f"{stem}-{month_number:02d}-{day:02d}", "day") if day <= longest else None
