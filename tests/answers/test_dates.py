"""Dates in running text: whole, partial, ambiguous, impossible."""

from __future__ import annotations

import pytest

from leadline.answers.dates import find_dates


def values(text: str, order: str | None = None) -> list[str]:
    return [found.value for found in find_dates(text, order)]


def test_a_date_knows_its_place() -> None:
    text = "due on the 5th day of June, 2020 (signed 12/31/17)"
    first, second = find_dates(text)
    assert (first.value, text[first.start : first.end]) == ("2020-06-05", "5th day of June, 2020")
    assert (second.value, text[second.start : second.end]) == ("2017-12-31", "12/31/17")


def test_an_order_decides_what_digits_alone_leave_open() -> None:
    (found,) = find_dates("5/6/2020")
    assert found.ambiguous and set(found.readings) == {"2020-06-05", "2020-05-06"}
    assert values("5/6/2020", "dmy") == ["2020-06-05"]
    assert values("5/6/2020", "mdy") == ["2020-05-06"]
    assert values("20/06/05", "ymd") == ["2020-06-05"]
    assert not any(found.ambiguous for found in find_dates("5/5/2020 31/12/2020 12/31/2020 2020-05-06"))


def test_an_order_that_cannot_be_meant_does_not_lose_the_date() -> None:
    assert values("31/12/2020", "mdy") == ["2020-12-31"]


@pytest.mark.parametrize(
    "text",
    [
        "Feb 30, 2020",
        "2020-02-30",
        "2020-13-01",
        "45/45/2020",
        "June 31, 2020",
        "1990s",
        "$2020",
        "2000 shares",
        "2019-20",
    ],
)
def test_what_no_calendar_has_and_what_is_no_year_is_no_date(text: str) -> None:
    assert values(text) == []


def test_leap_days_follow_the_calendar() -> None:
    assert values("February 29, 2020; 29.2.2000") == ["2020-02-29", "2000-02-29"]
    assert values("February 29, 2021") == values("29.2.1900") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("June 2020", "2020-06"), ("June, 2020", "2020-06"), ("06/2020", "2020-06"), ("2020-06", "2020-06"),
        ("2020", "2020"), ("May 2020", "2020-05"), ("you may 2020", "2020"), ("2020年6月", "2020-06"),
    ],
)  # fmt: skip
def test_a_partial_date_stays_as_partial_as_it_is_printed(text: str, expected: str) -> None:
    assert values(text) == [expected]


def test_years_of_two_digits_are_within_a_century() -> None:
    assert values("1/31/68 1/31/69") == ["2068-01-31", "1969-01-31"]


def test_a_page_of_digits_takes_no_harm() -> None:
    assert values("1/" * 20_000) == []
    assert len(values("June 5, 2020 " * 1_000)) == 1_000
