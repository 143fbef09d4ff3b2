"""Reads answers that are numbers: the value, its printed digits, in the unit that the item declares.

All numbers of the response are candidates, but for those in dates and list labels; `choice` decides between
them by the marks of the text, never by the gold answer. Correct is what is the same as a valid answer, by the
declared precision or else by rounding (see `sameness`); `correct_strict` moreover asks that the answer is
neither hedged nor a bound ("at least 5"), nor rough ("about 5").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from leadline.answers.asides import asides
from leadline.answers.choice import choose
from leadline.answers.dates import find_dates
from leadline.answers.hedges import hedge, limits
from leadline.answers.numbers import find_numbers
from leadline.answers.opening import MARKS, opened
from leadline.answers.peel import unwrap
from leadline.answers.printed import Exact, printed_text
from leadline.answers.reading import Reading, State
from leadline.answers.references import references
from leadline.answers.refusal import declines
from leadline.answers.sameness import default_rule, same
from leadline.answers.unit_choice import in_declared_unit
from leadline.answers.units import Quantity, quantities
from leadline.bench.item import Item

# "30d": letters that are units of time where such a unit is declared, and parts of names elsewhere ("3d").
_DAYS = re.compile(r"(?<=\d)[dwy](?![\w-])")
_TIMES = frozenset({"day", "days", "week", "weeks", "month", "months", "year", "years", "hour", "hours"})
# The minus of accounts may stand behind: "1,234-".
_TRAILING_MINUS = re.compile(r"\W*\d[\d.,]*[-−]\W*")


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises.

    >>> item = Item(id="1", question="How much?", answer="1250000", answer_type="number")
    >>> reading = read(item, "about $1.25M (rounded)")
    >>> reading.value, reading.number, reading.correct, reading.correct_strict
    ('1250000', '1.25E+6', True, False)
    """
    text = opened(item, raw, "no number")
    if isinstance(text, Reading):
        return text
    found = candidates(text, item)
    if not found:
        return Reading(State.REFUSED) if declines(text) else Reading(State.UNREADABLE, reason="no number")
    asked = _asked(item.question, item.locale)
    chosen = choose(
        text,
        found,
        lambda one, other: _is_one(found[one], found[other], item.precision),
        several=_several(found),
        in_question=lambda at: Fraction(found[at].number.value) in asked,
        is_sum=lambda parts, at: _is_sum([found[part] for part in parts], found[at]),
    )
    explicit = chosen.rule.startswith(("marked by", "first after"))
    if declines(text) and not explicit:
        return Reading(State.REFUSED)
    if chosen.at < 0:
        return Reading(State.UNREADABLE, reason=chosen.reason)
    return _reading(item, raw, text, found[chosen.at], chosen.rule)


def _reading(item: Item, raw: str, text: str, answer: Quantity, rule: str) -> Reading:
    limit = limits(text, answer.start, answer.end)
    hedged = hedge(text)
    notes = [*answer.notes, *limit, *([f"hedged: {hedged}"] if hedged else []), *([rule] if rule else [])]
    correct = any(is_correct(answer, gold, item) for gold in _gold(item))
    return Reading(
        State.OK,
        value=answer.value,
        correct=correct,
        correct_strict=correct and not limit and not hedged,
        leads=raw.lstrip(MARKS).startswith(answer.number.text.lstrip(MARKS)),
        number=None if answer.printed is None else printed_text(answer.printed),
        notes=tuple(dict.fromkeys(notes)),
    )


def candidates(text: str, item: Item) -> list[Quantity]:
    """The numbers of `text` that could be its answer, in the item's unit; ordinals if there are no others."""
    plain = _DAYS.sub(" ", text) if item.unit in _TIMES else text
    numbers = list(find_numbers(plain, item.locale, ordinals=True))
    if len(numbers) == 1 and numbers[0].value > 0 and _TRAILING_MINUS.fullmatch(text):
        numbers = [
            replace(numbers[0], value=-numbers[0].value, notes=(*numbers[0].notes, "the minus after it"))
        ]
    cardinals = [number for number in numbers if not number.ordinal] or numbers
    named = references(text, cardinals, item.question, item.unit)
    apart = [number for number in cardinals if number.start not in named] or cardinals
    dates = (
        [date for date in find_dates(text, item.date_order, item.locale) if len(date.value) > 4]
        if len(apart) > 1
        else []
    )
    undated = [
        number for number in apart
        if not any(date.start <= number.start and number.end <= date.end for date in dates)
    ] or apart  # fmt: skip
    beside = asides(text, undated) if len(undated) > 1 else ()
    kept = [number for number in undated if number.start not in beside] or undated
    found = quantities(text, kept, item.unit)
    chosen = in_declared_unit(text, found, item.unit)
    said = []
    if len(apart) < len(cardinals):
        said.append("other numbers are labels, references or years")
    if len(kept) < len(undated):
        said.append("other numbers stand in asides")
    if len(chosen) < len(found):
        said.append("other numbers are not in the declared unit")
    return [replace(one, notes=(*one.notes, *said)) for one in chosen] if said else chosen


def is_correct(answer: Quantity, gold: Quantity, item: Item) -> bool:
    """`answer` is the same number as `gold`, by the declared precision or by rounding."""
    if answer.printed is None or gold.printed is None:
        return answer.value == gold.value
    return same(answer.printed, gold.printed, default_rule(item.precision), item.precision)


def _gold(item: Item) -> tuple[Quantity, ...]:
    form = (item.unit, item.locale, item.date_order)
    return tuple(found for answer in item.valid_answers if (found := _gold_number(item.id, answer, form)))


@lru_cache(maxsize=4096)
def _gold_number(identifier: str, answer: str, form: tuple[str | None, ...]) -> Quantity | None:
    """The number of a gold answer: the only one that it holds, or the first."""
    item = Item.model_construct(question="", unit=form[0], locale=form[1], date_order=form[2])
    found = candidates(unwrap(answer).text, item)
    return found[0] if found else None


def _is_one(first: Quantity, second: Quantity, precision: Decimal | None) -> bool:
    """The text says one number twice: equal, a rounding of each other, or a percentage and its fraction."""
    if first.value == second.value:
        return True
    if first.printed is None or second.printed is None:
        return False
    if same(first.printed, second.printed, "rounding", precision):
        return True
    percents = (first.number.percent, second.number.percent)
    if percents in ((True, False), (False, True)):
        share, whole = (second, first) if percents[0] else (first, second)
        scaled: Exact = Fraction(share.printed or 0) * 100
        return Fraction(whole.printed or 0) == scaled
    return False


def _is_sum(parts: Sequence[Quantity], total: Quantity) -> bool:
    """The parts, of which none is nothing, add up to the total, in one unit."""
    numbers = [part.printed for part in parts]
    if total.printed is None or not all(numbers):
        return False
    return sum(Fraction(number or 0) for number in numbers) == Fraction(total.printed)


def _several(found: Sequence[Quantity]) -> str:
    values = list(dict.fromkeys(one.value for one in found))
    shown = ", ".join(value[:40] for value in values[:5])
    return f"several numbers: {shown}{', ...' if len(values) > 5 else ''}"


@lru_cache(maxsize=4096)
def _asked(question: str, locale: str | None) -> frozenset[Fraction]:
    """The numbers that the question states."""
    return frozenset(Fraction(number.value) for number in find_numbers(question, locale))
