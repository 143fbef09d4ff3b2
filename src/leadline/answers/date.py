"""Reads answers that are dates: "2020-06-05", or as much of one as is said: "2020-06", "2020".

A date in digits whose order is not known ("5/6/2020") is unreadable, unless the item declares an order or the
response names the same day in words as well. Where a text has fuller dates, its bare years are no candidates.
A full date is correct for a partial gold in which it lies; a partial date is never correct for a full gold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from leadline.answers.choice import choose
from leadline.answers.dates import FoundDate, find_dates
from leadline.answers.hedges import hedge, limits
from leadline.answers.months import MONTHS
from leadline.answers.opening import MARKS, opened
from leadline.answers.peel import unwrap
from leadline.answers.reading import Reading, State
from leadline.answers.refusal import declines
from leadline.bench.item import Item

_COMPACT = re.compile(r"\W*([12]\d{3})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\W*")
_MONTH_DAY = re.compile(
    rf"\b(?:{'|'.join(MONTHS)})\b\.? \d{{1,2}}\b|\b\d{{1,2}}\.? (?:{'|'.join(MONTHS)})\b", re.IGNORECASE
)
_YEAR_AFTER = re.compile(r",? [12]\d{3}\b")
# "31 Abc 2005": a full date in a language that is not known, of which the year alone would be read.
_UNKNOWN_MONTH = re.compile(
    r"(?<![\w.,])(?:0?[1-9]|[12]\d|3[01])(?:[.º°]|er)? ?(?:(?:de|do|di) )?([^\W\d_]{3,15})[ .,]{1,2}"
    r"(?:(?:de|do|di) )?\Z"
)
_NO_MONTHS = frozenset(
    {
        "days", "weeks", "months", "years", "day", "week", "month", "year", "quarter", "fiscal", "ended",
        "ending", "page", "pages", "the", "and", "for", "since",
    }
)  # fmt: skip
# A quarter, a half or a season is not its year.
_PART_OF_YEAR = re.compile(
    r"(?:\b(?:Q[1-4]|[1-4]Q|H[12]|[12]H)[ /'’-]?"
    r"|\b(?:quarter|half|semester|trimester|spring|summer|autumn|fall|winter)"
    r"(?:,? of)?(?: the)?(?: (?:fiscal|calendar))?(?: year)?,? ?)\Z",
    re.IGNORECASE,
)


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises.

    >>> item = Item(id="1", question="When?", answer="2020-06-05", answer_type="date")
    >>> read(item, "It matures on June 5th, 2020.").value, read(item, "5/6/2020").reason
    ('2020-06-05', 'ambiguous: 5/6/2020 is 2020-05-06 or 2020-06-05')
    """
    text = opened(item, raw, "no date")
    if isinstance(text, Reading):
        return text
    found = candidates(text, item.date_order, item.locale)
    if not found:
        says_none = declines(text) or text.strip(MARKS + ".*_)]}").lower() == "none"
        return Reading(State.REFUSED) if says_none else Reading(State.UNREADABLE, reason=_why_none(text))
    values = list(dict.fromkeys(one.value for one in found))
    asked = _asked(item.question, item.date_order, item.locale)
    chosen = choose(
        text,
        found,
        lambda one, other: _agree(found[one], found[other]),
        several=f"several dates: {', '.join(values[:5])}",
        in_question=lambda at: found[at].value in asked,
    )
    if declines(text) and not chosen.rule.startswith(("marked by", "first after")):
        return Reading(State.REFUSED)
    if chosen.at < 0:
        return Reading(State.UNREADABLE, reason=chosen.reason)
    return _reading(item, raw, text, found, chosen.at, chosen.rule)


def _reading(item: Item, raw: str, text: str, found: Sequence[FoundDate], at: int, rule: str) -> Reading:
    answer, notes = found[at], [rule] if rule else []
    readings = set(answer.readings)
    if answer.ambiguous:
        for other in found:
            if not other.ambiguous and other.value in readings:
                readings = {other.value}
                notes.append("the day is named in words as well")
    if len(readings) > 1:
        both = " or ".join(sorted(readings))
        return Reading(State.UNREADABLE, reason=f"ambiguous: {answer.text} is {both}")
    value = readings.pop()
    hedged, limit = hedge(text), limits(text, answer.start, answer.end)
    notes += [*limit, *([f"hedged: {hedged}"] if hedged else [])]
    correct = any(is_correct(value, gold) for gold in _gold(item.valid_answers, item.date_order, item.locale))
    return Reading(
        State.OK,
        value=value,
        correct=correct,
        correct_strict=correct and not hedged and not limit,
        leads=raw.lstrip(MARKS).startswith(answer.text),
        notes=tuple(notes),
    )


def candidates(text: str, order: str | None, locale: str | None = None) -> list[FoundDate]:
    """The dates that `text` could answer with: bare years only where it has nothing fuller, nor a part of one
    that cannot be read (a quarter, a month of an unknown language)."""
    if compact := _COMPACT.fullmatch(text):
        text_of = "-".join(compact.groups())
        inside = list(find_dates(text_of))
        if inside:
            start, end = compact.start(1), compact.end(3)
            return [FoundDate(text_of, start, end, text[start:end], False, (text_of,))]
    found = list(find_dates(text, order, locale))
    fuller = [one for one in found if len(one.value) > 4]
    return fuller or [one for one in found if not _more_than_year(text, one.start)]


def _more_than_year(text: str, at: int) -> str:
    """Why the year at `at` is not all that is said of the date; "" where it is."""
    before = text[max(0, at - 40) : at]
    if _PART_OF_YEAR.search(before):
        return "a part of a year"
    unknown = _UNKNOWN_MONTH.search(before)
    if unknown and unknown[1].lower() not in _NO_MONTHS:
        return f"a month that is not known: {unknown[1]}"
    return ""


def is_correct(value: str, gold: str) -> bool:
    """`value` is the gold date, or lies in the gold month or year."""
    return value == gold or value.startswith(f"{gold}-")


def _agree(one: FoundDate, other: FoundDate) -> bool:
    """Two mentions of one date: a reading in common, or the month that the other lies in."""
    pairs = [(first, second) for first in one.readings for second in other.readings]
    return any(is_correct(first, second) or is_correct(second, first) for first, second in pairs)


@lru_cache(maxsize=4096)
def _gold(answers: tuple[str, ...], order: str | None, locale: str | None) -> tuple[str, ...]:
    found = (candidates(unwrap(answer).text, order, locale) for answer in answers)
    return tuple(dates[0].value for dates in found if dates and not dates[0].ambiguous)


@lru_cache(maxsize=4096)
def _asked(question: str, order: str | None, locale: str | None) -> frozenset[str]:
    return frozenset(date.value for date in find_dates(question, order, locale))


def _why_none(text: str) -> str:
    for year in find_dates(text[:2000]):
        if more := _more_than_year(text, year.start):
            return more
    named = _MONTH_DAY.search(text[:2000])
    if named is None:
        return "no date"
    return "no such day" if _YEAR_AFTER.match(text, named.end()) else "a day without a year"
