"""Dates and quantities as texts write them: what they say, in one form, so that two can be compared."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.build.wikidata import dates, quantities


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
    date = dates.read_date(text)
    if date is None:
        return None
    before = "-" if date.year < 1 else ""
    year = 1 - date.year if date.year < 1 else date.year
    match date.precision:
        case "decade":
            return Date(f"{year}s", "decade")
        case "century":
            return Date(f"{before}{year}c", "century")
    parts = [f"{part:02d}" for part in (date.month, date.day) if part]
    return Date("-".join([f"{before}{year:04d}", *parts]), date.precision)


def read_quantity(text: str) -> Quantity | None:
    """The quantity that `text` is, None where it is none.

    >>> read_quantity("1,234.50 km"), read_quantity("3.2 million"), read_quantity("7 or 8")
    (Quantity(number='1234.5', unit='km'), Quantity(number='3200000', unit=''), None)
    """
    amount = quantities.read_amount(text)
    if amount is None:
        return None
    plain = f"{amount.number + 0:f}"  # there is no -0
    return Quantity(plain.rstrip("0").rstrip(".") if "." in plain else plain, amount.unit)
