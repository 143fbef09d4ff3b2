"""Does the window state the gold answer? Decidable for numbers and dates; for a text only if it does.

An enum or a boolean is a reading of the window, not a thing printed in it: undecidable, and said so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from leadline.answers.dates import FoundDate, find_dates
from leadline.answers.numbers import PrintedNumber, find_numbers
from leadline.answers.sameness import default_rule, same
from leadline.audit.document import AnswerStated
from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal
from leadline.audit.operands import dates_in, numbers_in, readable, without_dates
from leadline.bench.item import Item

_FRACTIONS = ("1", "fraction", "share", "ratio", "proportion")
_WORD_AFTER = re.compile(r"[\s\-‐–)\]”\"]*([^\W\d_]{3,})")


@dataclass(frozen=True, slots=True)
class Stated:
    """Whether the gold answer stands in a text. `telling` is False for a value such as 3 that stands in many
    texts by accident; `text` is what states it."""

    state: AnswerStated
    telling: bool = False
    text: str = ""


def gold_number(item: Item) -> PrintedNumber | None:
    """The number that the gold answer is; None where it is none, or several."""
    found = list(find_numbers(item.answer, item.locale))
    return found[0] if len(found) == 1 else None


def gold_date(item: Item) -> FoundDate | None:
    """The date that the gold answer is; None for a relative one ("one year after issuance")."""
    found = list(find_dates(item.answer, item.date_order))
    return found[0] if len(found) == 1 and not found[0].ambiguous else None


def stated(item: Item, text: str, *, near: str = "", normal: Normal | None = None) -> Stated:
    """Whether `text` states the item's gold answer.

    `near` (the quote, the question) tells the unit of a small number: three *days* are not three *years*.
    `normal` is the text's normal form, where it is known already.
    """
    if item.answer_type == "number":
        return _number_stated(item, readable(text), readable(near))
    if item.answer_type == "date":
        return _date_stated(item, readable(text))
    if item.answer_type == "text":
        return _text_stated(item, normal or Normal(text))
    return Stated(AnswerStated.UNDECIDABLE)


def _number_stated(item: Item, text: str, near: str) -> Stated:
    gold = gold_number(item)
    if gold is None:
        return Stated(AnswerStated.UNDECIDABLE)
    found = [number for number in numbers_outside_dates(text, item, gold) if is_gold(item, gold, number)]
    if not found:
        return Stated(AnswerStated.NOT_STATED)
    for number in found:
        if _is_telling(gold) or _same_unit(item, number, text, near):
            return Stated(AnswerStated.STATED, telling=True, text=number.text)
    return Stated(AnswerStated.STATED, text=found[0].text)


def numbers_outside_dates(text: str, item: Item, gold: PrintedNumber) -> Iterator[PrintedNumber]:
    """The numbers of a `readable` text; the 31 of March 31 is none, but 2005 may be an answer."""
    is_year = gold.value == int(gold.value) and 1500 <= gold.value < 2200
    yield from numbers_in(without_dates(text, item.date_order, years=is_year), item.locale)
    if is_year:
        for found in dates_in(text, item.date_order):
            year = Decimal(found.value[:4])
            yield PrintedNumber(year, Decimal(1), found.start, found.end, found.text)


def is_gold(item: Item, gold: PrintedNumber, number: PrintedNumber) -> bool:
    """Whether a printed number is the gold value, as the item's answers are compared."""
    rule = default_rule(item.precision)
    values = [number.value, *([number.alternative] if number.alternative is not None else [])]
    if number.percent and not gold.percent and _may_be_fraction(item, gold):
        values += [Fraction(value) / 100 for value in values]
    if number.text[-1:].isalpha() and (bare := _without_magnitude(number)) is not None:
        values.append(bare)  # "58.9 million" where the question asks for millions
    return any(same(gold.value, value, rule, item.precision) for value in values)


def _may_be_fraction(item: Item, gold: PrintedNumber) -> bool:
    return (item.unit or "").lower() in _FRACTIONS or (not item.unit and -1 < gold.value < 1)


def _without_magnitude(number: PrintedNumber) -> Decimal | Fraction | None:
    body = re.search(r"\d[\d.,]*", number.text)
    bare = next(find_numbers(body.group().rstrip(".,")), None) if body else None
    return None if bare is None or bare.value == abs(number.value) else bare.value


def _is_telling(gold: PrintedNumber) -> bool:
    """Three significant digits stand in a text by accident seldom; two do often."""
    value = gold.value
    digits = (
        str(value.numerator) if isinstance(value, Fraction) else "".join(map(str, value.as_tuple().digits))
    )
    return len(digits.strip("0")) >= 3 or len(digits) >= 5


def _same_unit(item: Item, number: PrintedNumber, text: str, near: str) -> bool:
    """Whether what is counted is the same: by the item's unit, or the word that follows the number."""
    unit = (item.unit or "").lower().rstrip("s")
    if number.percent:
        return unit in ("percent", "%") or "%" in near or "per cent" in near or "percent" in near
    word = _WORD_AFTER.match(text, number.end)
    if word is None:
        return False
    counted = word.group(1).lower().rstrip("s")
    if unit:
        return counted == unit
    return any(
        counted == other.group(1).lower().rstrip("s")
        for found in numbers_in(near, None)
        if found.value == number.value and (other := _WORD_AFTER.match(near, found.end))
    )


def _date_stated(item: Item, text: str) -> Stated:
    gold = gold_date(item)
    if gold is None:
        return Stated(AnswerStated.UNDECIDABLE)
    for found in dates_in(text, item.date_order):
        if any(_lies_in(reading, gold.value) for reading in found.readings or (found.value,)):
            return Stated(AnswerStated.STATED, telling=len(gold.value) > 4, text=found.text)
    return Stated(AnswerStated.NOT_STATED)


def _text_stated(item: Item, text: Normal) -> Stated:
    """A text may be worded otherwise, so that it is not there proves nothing."""
    for answer in item.valid_answers:
        if match_quote(answer, text).found:
            return Stated(AnswerStated.STATED, telling=len(answer.split()) > 1, text=answer)
    return Stated(AnswerStated.UNDECIDABLE)


def _lies_in(date: str, gold: str) -> bool:
    """A full date lies in its month and year: it states those too."""
    return date == gold or date.startswith(f"{gold}-")
