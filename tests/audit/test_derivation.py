"""Is the gold number a calculation with the window's numbers, and could that be chance? Is it stated?"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from leadline.audit.arithmetic import expressions
from leadline.audit.derivation import Derivation
from leadline.audit.document import AnswerStated
from leadline.audit.failures import derivation_of
from leadline.audit.nearest import nearest
from leadline.audit.operands import operands_of
from leadline.audit.stated import Stated, stated
from leadline.bench.item import Item


def item(answer: str, answer_type: str = "number", **fields: Any) -> Item:
    return Item.model_validate(
        {"id": "i", "question": "How much?", "answer": answer, "answer_type": answer_type, **fields}
    )


def derived(answer: str, window: str, quote: str = "", **fields: Any) -> Derivation | None:
    return derivation_of(item(answer, **fields), [quote] if quote else [], window)


# answer, window, quote, the calculation
FOUND = {
    "a sum": ("90", "within 30 days, and then within 60 days", "30 + 60 = 90 days", "30 + 60 = 90"),
    "words": ("90", "within thirty days, then sixty days", "thirty plus sixty", "thirty + sixty = 90"),
    "a difference": ("16", "of 1991, revised in June 2007", "2007 − 1991 = 16 years", "2007 − 1991 = 16"),
    "a range of years": (
        "6",
        "Copyright (c) 2000-2006, The Foundation",
        "2006 - 2000 = 6",
        "2006 − 2000 = 6",
    ),
    "a product": ("1,500", "300 shares at $5 each", "300 × 5 = 1,500", "300 × 5 = 1,500"),
    "a share, scaled in the heading only": (
        "6.0",
        "1,362,500 thousand shares in all; shares (in thousands): 81,575",
        "81,575 thousand of 1,362,500 thousand = 6.0%",
        "81,575 / 1,362,500 = 5.987 %",
    ),
    "growth": (
        "25.0",
        "It rose from $40.0 million to $50.0 million.",
        "(50.0 − 40.0) / 40.0 = 25.0%",
        "(50.0 − 40.0) / 40.0 = 25 %",
    ),
    "millions in the answer": (
        "58.9",
        "$52.0 million plus $6.9 million",
        "52.0 + 6.9",
        "$52.0 million + $6.9 million = 58.9",
    ),
    "three numbers": (
        "75",
        "100 shares, less 15 shares and 10 shares",
        "100 − 15 − 10 = 75",
        "100 − 15 − 10 = 75",
    ),
}


@pytest.mark.parametrize(("answer", "window", "quote", "text"), FOUND.values(), ids=FOUND.keys())
def test_a_calculation_whose_numbers_the_quote_names_is_found(
    answer: str, window: str, quote: str, text: str
) -> None:
    found = derived(answer, window, quote)
    assert found is not None and found.believed
    assert found.text == text


def test_without_the_quote_an_unlikely_hit_is_believed() -> None:
    window = (
        "Price $37.00; book value per share on March 31, 2020 $ 5.11; increase 3.07; as adjusted (8.18 )."
    )
    found = derived("28.82", window)
    assert found is not None and found.believed
    assert found.text == "$37.00 − 8.18 = 28.82"


def test_among_many_numbers_a_hit_is_taken_for_chance() -> None:
    random = Random(5)
    window = " ".join(f"value {random.uniform(1, 100):.1f} units." for _ in range(40))
    believed = [
        derivation
        for answer in ("12.3", "45.6", "7.8", "88.1", "31.4")
        if (derivation := derived(answer, window)) is not None and derivation.believed
    ]
    assert not believed


def test_made_up_golds_are_seldom_believed() -> None:
    """The control controls: of golds that have nothing to do with a window, one in twenty at most."""
    random = Random(7)
    believed = 0
    for _ in range(200):
        numbers = [f"${random.uniform(1, 900):,.2f}" for _ in range(random.randint(3, 9))]
        gold = f"{random.uniform(1, 900):.2f}"
        found = derived(gold, " and ".join(numbers))
        believed += found is not None and found.believed
    assert believed <= 10


def test_an_integer_that_is_counted_must_come_out_exactly() -> None:
    assert derived("91", "30 days and 60 days", "30 days and 60 days") is None
    found = derived("91", "30 days and 60 days", "30 + 60 = 91")
    assert found is not None and not found.exact


ARMS = "Arm A: 45 of 860 patients had an event. Arm B: 78 of 855 patients had an event."
WRITTEN = {
    "brackets and two divisions": ("0.57", ARMS, "(45/860)/(78/855) = 0.57", "(45/860)/(78/855) = 0.5736"),
    "a difference of shares": ("3.89", ARMS, "78/855 - 45/860 = 3.89%", "78/855 − 45/860 = 3.8902 %"),
    "magnitudes": (
        "180000000",
        "Revenue 500 million; cost 300 million; tax 20 million.",
        "Net: 500 million - 300 million - 20 million = 180 million",
        "500 million − 300 million − 20 million = 180,000,000",
    ),
    "words between": (
        "75",
        "30 days; 45 days",
        "45 days of notice + 30 days = 75",
        "45 days of notice + 30 days = 75",
    ),
    "a percentage of": ("10", "5% interest on $200", "5% of $200 = $10", "5% of $200 = 10"),
}


@pytest.mark.parametrize(("answer", "window", "quote", "text"), WRITTEN.values(), ids=WRITTEN.keys())
def test_a_calculation_that_the_quote_writes_out_is_the_one(
    answer: str, window: str, quote: str, text: str
) -> None:
    found = derived(answer, window, quote)
    assert found is not None and found.stated and found.exact
    assert found.text == text


@pytest.mark.parametrize(
    "text",
    [
        "(45/860",
        "45 860 = 3",
        "= 3",
        "3 = 3",
        "45 / 0 = 3",
        "1 +",
        "__import__('os') = 3",
        "(" * 9999 + "= 3",
    ],
)
def test_what_is_no_calculation_is_none(text: str) -> None:
    assert list(expressions(text)) == []


def test_a_written_calculation_whose_numbers_the_window_lacks_is_none() -> None:
    assert derived("75", "45 days of notice", "45 + 30 = 75") is None


def test_a_part_of_what_the_quote_names_does_not_accuse_the_label() -> None:
    """45 / 78 is 0.577, which cut off would be 0.57; but the quote says 860 and 855 as well."""
    found = derived("0.57", ARMS, "45 of 860 against 78 of 855")
    assert found is None or not found.certain


CHANCE = {
    "small numbers": ("25", "Arm A had 12 patients and arm B 48 patients.", "Response rate: 25%"),
    "things that do not fit": ("3,750", "There are 150 doors and 25 seats.", "Maximum occupancy"),
    "years": ("15", "The lease began in 1998 and ended in 2013.", "Lease term: 15 years"),
}


@pytest.mark.parametrize(("answer", "window", "quote"), CHANCE.values(), ids=CHANCE.keys())
def test_a_hit_that_may_be_chance_is_told_and_not_believed(answer: str, window: str, quote: str) -> None:
    found = derived(answer, window, quote)
    assert found is not None and found.exact and not found.believed


def test_dates_references_and_list_numbers_are_no_operands() -> None:
    text = (
        "(2) On June 30, 2014 under Section 3.1 and Exhibit 10, on page 7, it had 500 shares.\n3. At $ 4.00"
    )
    assert [operand.value for operand in operands_of(text)] == [500.0, 4.0]


YES, NO, UNDECIDABLE = AnswerStated.STATED, AnswerStated.NOT_STATED, AnswerStated.UNDECIDABLE
DUE = item("2005-03-31", "date")
# item, window, whether it is stated, whether that is telling
STATED = {
    "digits": (item("1250000"), "a total of $1,250,000 in cash", YES, True),
    "a magnitude": (item("1250000"), "a total of $1.25 million", YES, True),
    "words": (item("180", unit="day"), "one hundred eighty (180) days", YES, True),
    "entities": (item("22786"), "revenues &#8203; &#8203; $ 22,786 &#8203;", YES, True),
    "an entity's number is none": (item("8203"), "revenues &#8203; $ 22,786", NO, False),
    "a fraction as percent": (item("0.2"), "a discount of 20%", YES, False),
    "part of a longer number": (item("5"), "a price of $50 per share", NO, False),
    "a day of a date": (item("31"), "as of March 31, 2019", NO, False),
    "a small number": (item("3"), "in 3 cases", YES, False),
    "a number of a list": (item("3"), "3. The tenant shall pay.", NO, False),
    "a number of a section": (item("3"), "as Section 3 has it", NO, False),
    "a year alone": (item("2005"), "Copyright 2005, all rights reserved", YES, False),
    "a unit in other words": (item("12", unit="mg"), "twelve milligrams a day", YES, True),
    "another unit": (item("12", unit="mg"), "twelve grams a day", YES, False),
    "a unit at a little distance": (item("10", unit="lines"), "ten or fewer lines of it", YES, True),
    "a unit before the number": (
        item("100", unit="copies"),
        "printed copies, more than 100, of it",
        YES,
        True,
    ),
    "money for a percentage": (item("5.99", unit="percent"), "a fee of $5.99", YES, False),
    "the currency": (item("50", unit="USD"), "fifty dollars ($50.00)", YES, True),
    "another currency": (item("50", unit="EUR"), "fifty dollars ($50.00)", YES, False),
    "a single word": (item("no", "text"), "There is no evidence for this.", YES, False),
    "a small number with its unit": (item("3", unit="year"), "for three years from then", YES, True),
    "a date in prose": (DUE, "due on March 31, 2005", YES, True),
    "another date": (DUE, "due on March 30, 2005", NO, False),
    "a partial date": (item("2005-03", "date"), "due on March 31, 2005", YES, True),
    "a relative date": (item("one year after issuance", "date"), "at any time", UNDECIDABLE, False),
    "a boolean": (item("true", "boolean"), "true", UNDECIDABLE, False),
    "an enum": (item("capped", "enum"), "capped", UNDECIDABLE, False),
    "a text": (item("working capital", "text"), "used for working capital", YES, True),
    "a text in other words": (item("working capital", "text"), "used for wages", UNDECIDABLE, False),
}


@pytest.mark.parametrize(("gold", "window", "state", "telling"), STATED.values(), ids=STATED.keys())
def test_whether_the_window_states_the_answer(
    gold: Item, window: str, state: AnswerStated, telling: bool
) -> None:
    found = stated(gold, window)
    assert (found.state, found.telling) == (state, telling), found


def test_the_unit_of_a_small_number_is_that_of_the_quote_where_none_is_declared() -> None:
    assert stated(item("3"), "for 3 years", near="at least 3 years from then").telling
    assert not stated(item("3"), "in 3 cases", near="at least 3 years from then").telling


def test_no_answer_is_stated_in_an_empty_text() -> None:
    assert stated(item("3"), "") == Stated(AnswerStated.NOT_STATED)


def test_what_is_nearest_explains_and_is_absent_where_nothing_is_alike() -> None:
    text = "After that the remaining assets are paid ratably to all holders of shares."
    found = nearest("the remaining assets shall be paid rateably", text)
    assert found is not None
    assert found[0].startswith("the remaining assets are paid ratably")
    assert 0.7 < found[1] < 1
    assert nearest("zzzz qqqq xxxx", text) is None
    assert nearest("", text) is None
    assert nearest("a span", "") is None
    assert nearest("88,200", "a total of 77,100 and 66,000") is None
    assert nearest("$", "in $ 5") is None
    assert nearest("or before", "the day before that") is None
