"""Dates as a plan says them: a year, a month or a day; checked when the plan is read."""

from __future__ import annotations

import calendar
import re
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

# 2022, 2022-03, 2022-03-01, and 20220301 as dumps are named.
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?|(\d{2})(\d{2}))?", re.ASCII)
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])", re.ASCII)
_SHOWN = 40


def span(said: str) -> tuple[date, date]:
    """First and last day that a date may mean. Raises ValueError for what is none.

    >>> span("2024-02")
    (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    """
    found = _DATE.fullmatch(said)
    if found is None:
        raise ValueError(f"no year, month or day: {said[:_SHOWN]!r}")
    year, month, day = int(found[1]), found[2] or found[4], found[3] or found[5]
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    first = date(year, int(month), int(day or 1))
    last = first if day else first.replace(day=calendar.monthrange(year, int(month))[1])
    return first, last


def _as_said(value: Any) -> Any:
    """YAML reads 2022-03-01 as a date and 20220301 as a number; both are meant as they are written."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _is_date(said: str) -> str:
    try:
        if said:
            span(said)
    except ValueError:
        raise ValueError(f"is no date: {said[:_SHOWN]!r} (write 2022, 2022-03 or 2022-03-01)") from None
    return said


def _is_month(said: str) -> str:
    if said and not _MONTH.fullmatch(said):
        raise ValueError(f"is no month: {said[:_SHOWN]!r} (write it as 2021-03)")
    return said


Date = Annotated[str, BeforeValidator(_as_said), AfterValidator(_is_date)]
"""A year, a month or a day as text; "" where the plan says none."""

Month = Annotated[str, BeforeValidator(_as_said), AfterValidator(_is_month)]
"""A month as 2021-03; "" where the plan says none."""
