"""The forms in which a text may write a date or a number: 11 August 1848, August 11th, 1848, 1848-08-11."""

from __future__ import annotations

import re
from decimal import Decimal

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ABBREVIATED = {name[:3].casefold(): number for number, name in enumerate(_MONTHS, 1)}
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_SCALES = (("million", 10**6), ("billion", 10**9))
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})"
_DATES = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
        rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}",
    )
)
_NUMBER = re.compile(r"\d{1,3}(?:[,\u00a0\u2009\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", re.ASCII)
# Digits: a longer one is a code, and Python's own limit is 4,300.
_LONGEST = 30
_GROUP = "[,\u00a0\u2009\u202f ]?"


def spellings(name: str) -> str | None:
    """A regular expression for all forms of a date or a number; None for any other name.

    Dates are English, with a day or without, with the month's name whole or in three letters. Numbers may
    have their thousands set apart, stand as a number of millions or billions, and up to twelve as a word.

    >>> import re
    >>> bool(re.fullmatch(spellings("11 August 1848"), "August 11th, 1848"))
    True
    >>> bool(re.fullmatch(spellings("1500000"), "1.5 million"))
    True
    >>> spellings("August Strindberg") is None
    True
    """
    name = name.strip()
    for form in _DATES:
        if match := form.fullmatch(name):
            return _date(match.groupdict())
    if len(name) <= _LONGEST and _NUMBER.fullmatch(name):
        return _number(Decimal(re.sub(r"[^\d.]", "", name)))
    return None


def _date(parts: dict[str, str | None]) -> str | None:
    said = parts["month"] or ""
    number = int(said) if said.isdigit() else _ABBREVIATED.get(said[:3].casefold(), 0)
    if not 1 <= number <= 12:
        return None
    whole = _MONTHS[number - 1]
    if not said.isdigit() and not whole.casefold().startswith(said.casefold()) and said.casefold() != "sept":
        return None
    month = rf"(?:{whole}|{whole[:3]}\.?" + (r"|Sept\.?)" if number == 9 else ")")
    year = parts["year"] or ""
    if not parts.get("day"):
        return rf"{month},?\s+(?:of\s+)?{year}"
    day_number = int(parts["day"] or 0)
    day = rf"0?{day_number}(?:st|nd|rd|th)?"
    iso = f"{int(year):04d}-{number:02d}-{day_number:02d}"
    return rf"(?:{day}\s+(?:of\s+)?{month},?\s+{year}|{month}\s+{day},?\s+{year}|{iso})"


def _number(value: Decimal) -> str:
    whole, _, fraction = f"{value:f}".partition(".")
    groups = f"{int(whole):,}".split(",")
    forms = [_GROUP.join(groups) + (rf"\.{fraction}" if fraction else "")]
    if not fraction:
        for word, scale in _SCALES:
            times = value / scale
            # 1,234,567 is not 1.2 million: only what is written without rounding.
            if times >= 1 and (times * 100) % 1 == 0:
                short = f"{times.normalize():f}"
                forms.append(rf"{re.escape(short)}\s+{word}")
        if value < len(_WORDS):
            forms.append(f"(?i:{_WORDS[int(value)]})")
    return f"(?:{'|'.join(forms)})"
