"""Random numbers and dates, printed in every format and read back; random texts, which no reader may fail on.

A normal run tries a few thousand inputs; LEADLINE_FUZZ=100000 tries as many as it says.
"""

from __future__ import annotations

import calendar
import html
import os
import time
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.answers import Reading, State, read_answer
from leadline.answers.dates import find_dates
from leadline.answers.numbers import find_numbers
from leadline.answers.peel import unwrap
from leadline.answers.printed import from_text, printed_text, value_text
from leadline.bench.answer_form import Part, Term
from leadline.bench.item import Item

INPUTS = int(os.environ.get("LEADLINE_FUZZ", "5000"))


def share(part: float) -> settings:
    """Settings for a part of all inputs."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=max(20, int(INPUTS * part)), deadline=None, suppress_health_check=checks)


# Numbers, printed

# locale, grouping sign, decimal sign, sizes of groups from the right ("": no groups)
FORMATS = [
    (None, "", ".", 3), (None, ",", ".", 3), ("en-US", "", ".", 3), ("en-US", ",", ".", 3),
    ("en-IN", ",", ".", 2),
    ("de-DE", "", ",", 3), ("de-DE", ".", ",", 3), ("fr-FR", "\u202f", ",", 3), ("fr-FR", "\u00a0", ",", 3),
    ("fr-FR", " ", ",", 3), ("de-CH", "’", ".", 3), ("de-CH", "'", ".", 3), ("sv-SE", "\u00a0", ",", 3),
    ("es-ES", ".", ",", 3), ("pt-BR", ".", ",", 3), ("ru-RU", "\u00a0", ",", 3), ("ja-JP", ",", ".", 3),
    (None, "\u2009", ".", 3), ("en-US", "{,}", ".", 3),
]  # fmt: skip
SIGNS = ["-", "−", "minus ", "negative "]
MONEY = [
    ("$", ""),
    ("€", ""),
    ("US$", ""),
    ("USD ", ""),
    ("", " EUR"),
    ("", " dollars"),
    ("£", ""),
    ("CHF ", ""),
]
POWERS = [
    (" million", 6),
    ("M", 6),
    (" billion", 9),
    ("bn", 9),
    ("k", 3),
    (" thousand", 3),
    (" lakh", 5),
    ("e4", 4),
]
AROUND = [
    ("", ""), ("The answer is ", "."), ("**", "**"), ("It is ", " in total, so"), ("\\boxed{", "}"),
    ("Answer: ", ""),
    ("#### ", ""), ("| total | ", " |"), ("`", "`"), ("\n", "\n"), ("Therefore, it is ", "!"),
    ("<answer>", "</answer>"),
    ('{"answer": "', '"}'), ("```\n", "\n```"), ("<think>7 or 8</think>", ""), ("about ", ""), ("= ", ""),
]  # fmt: skip


def grouped(digits: str, sign: str, size: int) -> str:
    if not sign or len(digits) <= 3:
        return digits
    head, parts = digits[:-3], [digits[-3:]]
    while head:
        head, part = head[:-size], head[-size:]
        parts.insert(0, part)
    return sign.join(parts)


@st.composite
def printed_numbers(draw: st.DrawFn) -> tuple[str, str | None, Decimal]:
    """A number as text, the locale of its format, and the exact value with its printed digits."""
    locale, sign, point, size = draw(st.sampled_from(FORMATS))
    whole = str(draw(st.integers(0, 10 ** draw(st.integers(1, 13)))))
    decimals = draw(st.integers(0, 6))
    fraction = f"{draw(st.integers(0, 10**decimals - 1)):0{decimals}d}" if decimals else ""
    if decimals == 3 and not locale and len(whole) <= 3 and not sign:
        fraction += "5"  # 1.234 is ambiguous without a locale, and read by rule
    text = grouped(whole, sign, size) + (point + fraction if fraction else "")
    power = 0
    if draw(st.booleans()):
        word, power = draw(st.sampled_from(POWERS))
        text += word
    before, after = draw(st.sampled_from(MONEY)) if draw(st.booleans()) else ("", "")
    negative = draw(st.sampled_from(["", "", "sign", "brackets"]))
    if negative == "brackets" and (before.strip() or after == ""):
        before = before or "$"
        text = f"{before}({text}){after}"
    elif negative:
        text = f"{draw(st.sampled_from(SIGNS))}{before}{text}{after}"
    else:
        text = f"{before}{text}{after}"
    if not after and not before and draw(st.booleans()):
        text += draw(st.sampled_from(["%", " %", " percent", " per cent"]))
    exponent = power - len(fraction)
    digits = f"{whole}{fraction}"
    if not fraction:
        digits, exponent = digits + "0" * power, 0
    value = Decimal(f"{digits}E{exponent}")
    return text, locale, -value if negative and value else value


@given(printed_numbers(), st.sampled_from(AROUND))
@share(0.25)
def test_a_printed_number_read_back_is_the_same_number(
    printed: tuple[str, str | None, Decimal], around: tuple[str, str]
) -> None:
    text, locale, value = printed
    (number,) = find_numbers(text, locale)
    assert number.value == value
    assert number.text == text
    item = Item(id="1", question="?", answer="1", answer_type="number", locale=locale)
    reading = read_answer(
        item, f"{around[0]}{text}{around[1]}".replace("\\", "\\\\" if around[0][:1] == "{" else "\\")
    )
    assert reading.value == value_text(value), reading
    assert reading.number is not None and from_text(reading.number) == value
    if isinstance(number.value, Decimal) and value:
        assert number.value.as_tuple() == value.as_tuple()
        assert reading.number == printed_text(value)


@given(printed_numbers())
@share(0.05)
def test_a_number_is_correct_against_itself_and_wrong_against_its_double(
    printed: tuple[str, str | None, Decimal],
) -> None:
    text, locale, value = printed
    item = Item(id="1", question="?", answer=text, answer_type="number", locale=locale)
    assert read_answer(item, text).correct
    if value:
        assert not read_answer(item, value_text(2 * value)).correct


UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
SMALL = [*UNITS.split(), "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(value: int, joint: str, hyphen: str) -> str:
    """A whole number in words: `joint` is what stands after hundreds, `hyphen` within twenty-five."""
    if value < 20:
        return SMALL[value]
    if value < 100:
        return TENS[value // 10] + (hyphen + SMALL[value % 10] if value % 10 else "")
    for size, word in (
        (10**12, "trillion"),
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if value >= size:
            rest = value % size
            between = joint if size == 100 or rest < 100 else " "
            said = f"{in_words(value // size, joint, hyphen)} {word}"
            return said + (between + in_words(rest, joint, hyphen) if rest else "")
    raise AssertionError


@given(
    st.integers(0, 10**15 - 1) | st.integers(0, 2000),
    st.sampled_from([" ", " and "]),
    st.sampled_from(["-", " "]),
    st.sampled_from([str, str.capitalize, str.upper, str.title]),
    st.booleans(),
)
@share(0.1)
def test_a_number_in_words_read_back_is_the_same_number(
    value: int, joint: str, hyphen: str, case: object, repeated: bool
) -> None:
    text = case(in_words(value, joint, hyphen))  # type: ignore[operator]
    (number,) = find_numbers(text)
    assert (number.value, number.text) == (value, text)
    (twice,) = find_numbers(f"{text} ({value:,}) shares")
    assert twice.value == value
    if repeated:
        item = Item(id="1", question="?", answer=str(value), answer_type="number")
        assert read_answer(item, f"The answer is {text}.").correct


@given(
    st.integers(0, 999),
    st.integers(1, 99),
    st.integers(2, 100),
    st.sampled_from(["{w} {t}/{b}", "{w}-{t}/{b}", "{w}\\frac{{{t}}}{{{b}}}"]),
)
@share(0.03)
def test_a_mixed_fraction_read_back_is_exact(whole: int, top: int, bottom: int, form: str) -> None:
    top = top % bottom or 1
    (number,) = find_numbers(form.format(w=whole, t=top, b=bottom))
    assert number.value == whole + Fraction(top, bottom)


# Dates, printed

MONTHS = calendar.month_name[1:]
DATE_FORMS = [
    ("{y:04d}-{m:02d}-{d:02d}", None), ("{y:04d}/{m:02d}/{d:02d}", None), ("{y:04d}.{m}.{d}", None),
    ("{name} {d}, {y}", None), ("{name} {d} {y}", None), ("{d} {name} {y}", None), ("{d} {name}, {y}", None),
    ("the {d}{th} of {name} {y}", None), ("{d}{th} day of {name}, {y}", None), ("{name} {d}{th}, {y}", None),
    ("{short}. {d}, {y}", None), ("{d}-{short}-{y}", None), ("{d:02d}{short}{y}", None),
    ("{y} {name} {d}", None),
    ("{m}/{d}/{y}", "mdy"), ("{d}/{m}/{y}", "dmy"), ("{d:02d}.{m:02d}.{y}", "dmy"),
    ("{m:02d}-{d:02d}-{y}", "mdy"),
    ("{y}年{m}月{d}日", None), ("{name}\n{d}, {y}", None), ("{upper} {d}, {y}", None),
]  # fmt: skip


@given(st.dates(date(1500, 1, 1), date(2099, 12, 31)), st.sampled_from(DATE_FORMS), st.sampled_from(AROUND))
@share(0.1)
def test_a_printed_date_read_back_is_the_same_date(
    day: date, form: tuple[str, str | None], around: tuple[str, str]
) -> None:
    name = MONTHS[day.month - 1]
    suffix = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    text = form[0].format(
        y=day.year, m=day.month, d=day.day, name=name, short=name[:3], upper=name.upper(), th=suffix
    )
    (found,) = find_dates(text, form[1])
    assert (found.value, found.ambiguous) == (day.isoformat(), False)
    item = Item(id="1", question="?", answer=day.isoformat(), answer_type="date", date_order=form[1])  # type: ignore[arg-type]
    wrapped = f"{around[0]}{text}{around[1]}"
    if around[0][:1] == "{":
        wrapped = wrapped.replace("\n", "\\n")
    reading = read_answer(item, wrapped)
    assert reading.value == day.isoformat() and reading.correct, reading


@given(st.dates(date(1950, 1, 1), date(2049, 12, 31)), st.sampled_from("/.-"))
@share(0.02)
def test_a_date_in_digits_without_an_order_is_never_read_the_wrong_way(day: date, sign: str) -> None:
    item = Item(id="1", question="?", answer=day.isoformat(), answer_type="date")
    for text in (
        f"{day.day}{sign}{day.month}{sign}{day.year}",
        f"{day.month}{sign}{day.day}{sign}{day.year}",
    ):
        reading = read_answer(item, text)
        if day.day <= 12 and day.day != day.month:
            assert reading.state is State.UNREADABLE and "ambiguous" in reading.reason
        else:
            assert reading.value == day.isoformat()


# Anything at all

PIECES = [
    "42", "1,234", "1.234", "(5.2)", "$", "€", "-", "−", "–", "%", " million", "k", "M", "one", "two",
    "hundred", "and",
    "a", "half", "third", "1/2", "½", "\\frac{1}{2}", "\\boxed{", "}", "{", "**", "####", "Final answer:",
    "the answer is",
    "Answer:", "=", "≈", "e9", "10^", "×10", "June", "5", "2020", "2020-06-05", "5/6/2020", "Yes", "no",
    "not true",
    "false", "capped", "non-capped", "or", "between", "to", "not", "I don't know", "<think>", "</think>",
    "```", "```json\n",
    '{"answer": ', '"', "}", "[", "]", "null", "\n", " ", "\t", ".", ",", ":", ";", "|", "(", ")", "#", "°C",
    "kg", "days", "weeks", "\u00a0", "\u202f", "'", "’", "\\", "\\$", "&", "<", ">", "<|im_end|>", "\nQ: ",
    "So", "Therefore,", "in total", "mg", "/", "per", "A)", "1.", "(a)", "FY", "§", "Wait, no.", "?", "→",
    "~~", "{'answer': ", "assistantfinal", "<|channel|>final<|message|>", "rate: ", "| ", "<rate>", "; ",
    "payable in", "never", "none", "than", "31 Mart 2005", "µg", "year", "d", "\nUser: ",
    "10" * 30, "9" * 350, "1." * 20, "1," * 20, "١٢٣", "１２", "٫", "²", "⁻⁶", "\u200b", "\x00", "é", "日",
    "𝟜", "０", "Ⅳ", "٪",
]  # fmt: skip
ANYTHING = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.text(max_size=60),
    st.lists(st.one_of(st.text(max_size=6), st.sampled_from(PIECES)), max_size=12).map("".join),
)
VOCABULARY = (
    Term(value="capped"),
    Term(value="a"),
    Term(value="non-capped", synonyms=("uncapped",)),
    Term(value="no"),
)
FIELDS = (
    Part(name="rate", answer_type="number", unit="percent"),
    Part(name="due", answer_type="date"),
    Part(name="why"),
)
ITEMS = [
    Item(id="number", question="How many of 5?", answer="42", answer_type="number"),
    Item(id="days", question="?", answer="84 days", answer_type="number", unit="day", locale="de-DE"),
    Item(id="money", question="?", answer="$5", answer_type="number", unit="USD", precision=Decimal("0.01")),
    Item(id="share", question="?", answer="0.2", answer_type="number", unit="fraction"),
    Item(id="heat", question="?", answer="37", answer_type="number", unit="°C"),
    Item(id="date", question="When in 2020?", answer="2020-06-05", answer_type="date"),
    Item(id="boolean", question="?", answer="no", answer_type="boolean"),
    Item(id="enum", question="?", answer="capped", answer_type="enum", vocabulary=VOCABULARY),
    Item(id="parts", question="?", answer='{"rate": 1}', answer_type="parts", fields=FIELDS),
    Item(id="text", question="What?", answer="Paris"),
]  # fmt: skip


def holds(item: Item, reading: Reading) -> None:
    """What is true of every reading."""
    assert (reading.state is State.OK) == (reading.value is not None)
    assert reading.value != ""
    assert (reading.state is State.UNREADABLE) == bool(reading.reason)
    assert not reading.correct_strict or reading.correct
    assert reading.state is State.OK or not (reading.correct or reading.leads)
    if reading.number is not None and item.answer_type == "number":
        assert value_text(from_text(reading.number)) == reading.value


@given(ANYTHING, st.sampled_from(ITEMS))
@share(0.3)
def test_every_text_has_a_reading(text: str, item: Item) -> None:
    reading = read_answer(item, text)
    holds(item, reading)
    if item.id == "number" and reading.value is not None:
        said = {
            value_text(number.value)
            for form in (text, unwrap(text, ["answer"]).text)
            for number in find_numbers(html.unescape(form), ordinals=True)
        }
        if "the minus after it" in reading.notes:
            said = {f"-{value}" for value in said}
        assert reading.value in said, "a number that the text does not print"


@pytest.mark.parametrize(
    "piece",
    [
        "½",
        "a ",
        "($1",
        "1 2 ",
        "**",
        "\\boxed{",
        "So, ",
        "{",
        "twenty ",
        "5 June ",
        "aaa",
        "$1-",
        "5 mg/",
        "42; ",
        "rate: 8, ",
        "| rate ",
        "{'a': ",
        "capped ",
    ],
)
def test_a_page_of_one_piece_is_read_in_a_few_seconds(piece: str) -> None:
    page = (piece * 60_000)[:60_000]
    before = time.process_time()
    for item in ITEMS[:1] + ITEMS[5:9]:
        holds(item, read_answer(item, page))
    assert time.process_time() - before < 20  # what is quadratic takes minutes


@given(ANYTHING, st.sampled_from([None, "en-US", "de-DE", "fr-FR", "xx-YY"]))
@share(0.1)
def test_numbers_lie_where_they_say_and_do_not_overlap(text: str, locale: str | None) -> None:
    end = 0
    for number in find_numbers(text, locale, ordinals=True):
        assert end <= number.start < number.end <= len(text)
        assert text[number.start : number.end] == number.text
        assert from_text(printed_text(number.value)) == number.value
        end = number.end


@given(ANYTHING, st.sampled_from([None, "dmy", "mdy", "ymd"]))
@share(0.05)
def test_dates_lie_where_they_say_and_are_dates(text: str, order: str | None) -> None:
    end = 0
    for found in find_dates(text, order):
        assert end <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert found.value in found.readings and found.ambiguous == (len(found.readings) > 1)
        for reading in found.readings:
            date.fromisoformat(reading + "-01-01"[: 10 - len(reading)] if len(reading) < 10 else reading)
        end = found.end
