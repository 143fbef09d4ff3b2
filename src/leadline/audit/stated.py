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
from leadline.answers.unit_words import UNITS, unit_after
from leadline.audit.document import AnswerStated
from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal
from leadline.audit.operands import dates_in, is_reference, numbers_in, readable, without_dates
from leadline.bench.item import Item

_FRACTIONS = ("1", "fraction", "share", "ratio", "proportion")
# "ten or fewer lines", "30 calendar days".
_WORD_AFTER = re.compile(
    r"[\s\-‐–)\]”\"]*(?:\([^()]{0,12}\)\s*)?(?:(?:or|and|fewer|less|more|full|whole|calendar|business|working|"
    r"consecutive|successive|additional|further)\s+){0,3}([^\W\d_]{3,})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.;!?]\s")


@dataclass(frozen=True, slots=True)
class Stated:
    """Whether the gold answer stands in a text, and what states it.

    `telling` is False for a value such as 3, a year alone or a single word: these stand in many texts by
    accident.
    """

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
    found = [
        number
        for number in numbers_outside_dates(text, item, gold)
        if is_gold(item, gold, number) and not _is_label(text, number)
    ]
    if not found:
        return Stated(AnswerStated.NOT_STATED)
    for number in found:
        telling = _is_telling(gold) and not _has_another_unit(item, number)
        if telling or _same_unit(item, number, text, near):
            return Stated(AnswerStated.STATED, telling=True, text=number.text)
    return Stated(AnswerStated.STATED, text=found[0].text)


def _is_label(text: str, number: PrintedNumber) -> bool:
    """The 3 of "Section 3" and of "3. Rent" is no answer; $3 million behind "part" may be."""
    if number.step != 1 or abs(float(number.value)) >= 1000 or number.currency or number.percent:
        return False
    return is_reference(text, number)


def numbers_outside_dates(text: str, item: Item, gold: PrintedNumber) -> Iterator[PrintedNumber]:
    """The numbers of a `readable` text; the 31 of March 31 is none, but 2005 may be an answer."""
    yield from numbers_in(without_dates(text, item.date_order, years=_is_year(gold)), item.locale)
    if _is_year(gold):
        for found in dates_in(text, item.date_order):
            year = Decimal(found.value[:4])
            yield PrintedNumber(year, Decimal(1), found.start, found.end, found.text)


def _is_year(gold: PrintedNumber) -> bool:
    return bool(gold.value == int(gold.value) and 1500 <= float(gold.value) < 2200) and "," not in gold.text


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
    """Three significant digits stand in a text by accident seldom; two do often, and so do years."""
    value = gold.value
    if _is_year(gold) and not gold.currency:
        return False
    digits = (
        str(value.numerator) if isinstance(value, Fraction) else "".join(map(str, value.as_tuple().digits))
    )
    return len(digits.strip("0")) >= 3 or len(digits) >= 5


_PERCENT = ("percent", "%", "per cent")
_CURRENCIES = {
    **dict.fromkeys(("$", "us$", "us-dollar", "dollar"), "usd"),
    **dict.fromkeys(("€", "euro"), "eur"),
    **dict.fromkeys(("£", "pound"), "gbp"),
    **dict.fromkeys(("¥", "yen"), "jpy"),
}


def _has_another_unit(item: Item, number: PrintedNumber) -> bool:
    """Money where a percentage is asked for, or the other way round."""
    unit = (item.unit or "").lower().rstrip("s")
    if number.percent:
        return unit not in ("", *_PERCENT, *_FRACTIONS)
    return bool(number.currency) and unit in _PERCENT


def _same_unit(item: Item, number: PrintedNumber, text: str, near: str) -> bool:
    """Whether what is counted is the same: by the item's unit, or the word that follows the number."""
    unit = (item.unit or "").lower().rstrip("s")
    if number.percent:
        return unit in _PERCENT or (not unit and any(sign in near for sign in _PERCENT))
    if number.currency and unit:
        return _CURRENCIES.get(unit, unit) == _CURRENCIES.get(
            number.currency.lower(), number.currency.lower()
        )
    if unit:
        return _counts(text, number, item.unit or "")
    return any(
        _counts(text, number, other.group(1))
        for found in numbers_in(near, None)
        if found.value == number.value and (other := _WORD_AFTER.match(near, found.end))
    )


def _counts(text: str, number: PrintedNumber, noun: str) -> bool:
    """Whether that is what the number counts: the word behind it, or, where none follows, one before it."""
    if measured := unit_after(text, number.end):
        return measured.unit == UNITS.get(noun, noun)
    noun = _singular(noun)
    if word := _WORD_AFTER.match(text, number.end):
        return _singular(word.group(1)) == noun
    before = _SENTENCE.split(text[max(0, number.start - 100) : number.start])[-1]
    return noun in map(_singular, re.findall(r"[^\W\d_]+", before))


def _singular(noun: str) -> str:
    noun = noun.lower()
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


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
