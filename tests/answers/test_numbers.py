"""Numbers in running text: where they are, what they are worth exactly, and what only looks like one."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from leadline.answers.numbers import PrintedNumber, find_numbers
from leadline.answers.printed import from_text, printed_text, value_text


def one(text: str, locale: str | None = None) -> PrintedNumber:
    (number,) = find_numbers(text, locale)
    return number


def texts(text: str) -> list[str]:
    return [number.text for number in find_numbers(text)]


def test_a_number_knows_its_place_and_all_that_belongs_to_it() -> None:
    text = "Payment: $(0.3) million. Debt of 20% is due."
    first, second = find_numbers(text)
    assert (first.text, first.value, first.currency) == ("$(0.3) million", Decimal("-3E+5"), "$")
    assert (second.text, second.value, second.percent) == ("20%", Decimal(20), True)
    assert [text[number.start : number.end] for number in (first, second)] == [first.text, second.text]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("10.0 million", "100000"),
        ("$1.25M", "10000"),
        ("5 million", "1000000"),
        ("2.40", "0.01"),
        ("1,250,000", "1"),
        ("1.2e6", "100000"),
    ],
)
def test_the_step_is_the_unit_of_the_last_printed_digit(text: str, step: str) -> None:
    assert one(text).step == Decimal(step)


@pytest.mark.parametrize("text", ["twenty-five", "2 1/2", "½", "one and a half"])
def test_words_and_fractions_have_no_step_and_are_exact(text: str) -> None:
    number = one(text)
    assert number.step is None and isinstance(number.value, Fraction)


def test_no_digit_is_lost_to_floating_point() -> None:
    assert str(one("0.1000000000000000055511151231257827").value) == "0.1000000000000000055511151231257827"
    assert one("123456789012345678901234567890.5").value == Decimal("123456789012345678901234567890.5")
    assert one("1/3").value == Fraction(1, 3)


def test_ambiguous_numbers_say_so_and_give_the_other_reading() -> None:
    number = one("1.234")
    assert number.ambiguous and number.value == Decimal("1.234") and number.alternative == 1234
    assert not one("1.234", "de-DE").ambiguous and one("1.234", "de-DE").value == 1234
    assert one("4,2").ambiguous and not one("4,2", "fr-FR").ambiguous
    assert one("2 602").ambiguous and not one("2 602", "fr-FR").ambiguous and not one("2\u00a0602").ambiguous
    assert not one("1,234").ambiguous and not one("1.234 million").ambiguous


@pytest.mark.parametrize(
    "text",
    [
        "2020-06-05", "12/31/17", "10:30 am", "COVID-19", "GPT-4", "I-95", "506c", "06b", "3D", "v1.2",
        "1.2.3", "Q3",
        "x2", "192.168.1.2.3", "no one", "one of them", "someone", "Holder One", "thousands of people",
        "1e999",
        "the first half", "and", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11,272 17,541 (42,949) 5,684", ["11,272", "17,541", "(42,949)", "5,684"]),
        ("45 of 860 (5.2%)", ["45", "860", "5.2%"]),
        ("from 40–50 to 3-5", ["40", "50", "3", "5"]),
        (
            "81,575 thousand shares of 1,362,500 thousand total = 6.0%",
            ["81,575 thousand", "1,362,500 thousand", "6.0%"],
        ),
        ("1,100,110 shares at $0.909 per share", ["1,100,110", "$0.909"]),
        ("one hundred eighty (180) days", ["one hundred eighty (180)"]),
        ("between one hundred and two hundred", ["one hundred", "two hundred"]),
        ("$ 53,540,000.00 ($1.24/share)", ["$ 53,540,000.00", "$1.24"]),
        ("6 × 7 = 42", ["6", "7", "42"]),
        ("5 - 3", ["5", "3"]),
        ("1,2,3", ["1", "2", "3"]),
        ("30-day and 12-month periods", ["30", "12"]),
    ],
)
def test_each_number_of_a_line_is_found_once(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_brackets_are_a_minus_where_accounts_write_them_and_an_aside_elsewhere() -> None:
    negative = ["(5.2)", "(1,234)", "$(5)", "($500)", "Net loss (1,234)", "was (5.2)", "| (5.2) |"]
    aside = ["(42)", "the 3 (5.2%) cases", "see (3)", "180 shares (1,234)"]
    assert all(min(number.value for number in find_numbers(text)) < 0 for text in negative)
    assert all(min(number.value for number in find_numbers(text)) >= 0 for text in aside)


def test_ordinals_are_found_on_demand_only() -> None:
    assert texts("the third of the 21st") == []
    found = list(find_numbers("the third of the 21st", ordinals=True))
    assert [(number.value, number.ordinal) for number in found] == [(3, True), (21, True)]


@pytest.mark.parametrize(
    "text", ["2.40", "1.25 million", "5 million", "1/3", "twenty", "-0.50", "1.2e-7", "0.0"]
)
def test_the_printed_form_is_read_back_with_its_digits(text: str) -> None:
    value = one(text).value
    back = from_text(printed_text(value))
    assert back == value
    if isinstance(value, Decimal):
        assert isinstance(back, Decimal) and back.as_tuple() == value.as_tuple()


def test_equal_values_have_equal_texts() -> None:
    assert {value_text(one(text).value) for text in ("2.5", "2.50", "2 1/2", "5/2", "two and a half")} == {
        "2.5"
    }
    assert {value_text(one(text).value) for text in ("1.25M", "1,250,000", "1.25e6")} == {"1250000"}
    assert value_text(Decimal("-0.00")) == "0"


def test_a_page_of_digits_takes_no_time_and_no_harm() -> None:
    assert texts("1" * 100_000) == []
    assert len(texts("1 " * 20_000)) == 20_000
    assert texts("(" * 50_000 + "5") == ["5"]
    assert len(texts("1,2," * 100)) >= 1
    assert list(find_numbers("one " * 5_000)) != []
