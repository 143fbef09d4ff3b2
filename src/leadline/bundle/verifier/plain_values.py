"""Plain numbers, dates, labels and yes or no: answers that consist of their value."""

from __future__ import annotations

import re
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?\Z")
_DATE = re.compile(r"[12]\d{3}-[01]\d-[0-3]\d\Z")
_YES, _NO = frozenset({"yes", "true"}), frozenset({"no", "false"})

# (value, whether it is right); nothing of it where the reader does not decide.
Reread = tuple[Any, Any]
_UNDECIDED: Reread = (None, None)


def reread_value(item: dict[str, Any], kind: str, raw: str, rule: str) -> Reread:
    """The value of an answer that is nothing but its value, and whether it is correct."""
    text = raw.strip()
    valid = [str(answer).strip() for answer in [item["answer"], *(item.get("aliases") or ())]]
    if kind == "number":
        return _number(item, text, valid, rule)
    if kind == "date":
        return _date(item, text, valid)
    if kind == "boolean":
        own, gold = _truth(text), [_truth(answer) for answer in valid]
        return _UNDECIDED if own is None or None in gold else (own, own in gold)
    if kind == "enum":
        return _label(item, text, valid)
    return _UNDECIDED


def _number(item: dict[str, Any], text: str, valid: list[str], rule: str) -> Reread:
    if (
        item.get("unit")
        or item.get("locale")
        or not _NUMBER.match(text)
        or not all(map(_NUMBER.match, valid))
    ):
        return _UNDECIDED
    own, gold = Decimal(text), [Decimal(answer) for answer in valid]
    precision = item.get("precision")
    if rule == "exact":
        return text, any(float(own) == float(one) for one in gold)
    if rule == "declared" and precision is None:
        return _UNDECIDED
    if precision is None or rule == "rounding":
        return text, any(is_rounding(own, one) for one in gold)
    step = Decimal(str(precision))
    return text, any(_rounded(own, step) == _rounded(one, step) for one in gold)


def _rounded(number: Decimal, step: Decimal) -> Decimal:
    return (number / step).quantize(Decimal(1), ROUND_HALF_UP) * step


def is_rounding(first: Decimal, second: Decimal) -> bool:
    """One is a correct rounding of the other: the coarser one has decimals and two significant digits at
    least."""
    if first == second:
        return True
    coarser = max(first, second, key=lambda one: one.as_tuple().exponent)
    places = -int(coarser.as_tuple().exponent)
    digits = len(str(abs(int(coarser.scaleb(places))))) if coarser else 0
    return places > 0 and digits >= 2 and abs(first - second) <= Decimal(5).scaleb(-places - 1)


def _date(item: dict[str, Any], text: str, valid: list[str]) -> Reread:
    if not _DATE.match(text) or not all(map(_DATE.match, valid)):
        return _UNDECIDED
    try:
        date.fromisoformat(text)
    except ValueError:
        return _UNDECIDED
    return text, text in valid


def _truth(text: str) -> Any:
    bare = text.rstrip(".!").lower()
    return "true" if bare in _YES else "false" if bare in _NO else None


def _label(item: dict[str, Any], text: str, valid: list[str]) -> Reread:
    terms = item.get("vocabulary") or ()
    named: dict[str, set[str]] = {}
    for term in terms:
        value, others = (term, ()) if isinstance(term, str) else (term["value"], term.get("synonyms") or ())
        for name in (value, *others):
            named.setdefault(name.lower(), set()).add(value)
    own = named.get(text.rstrip(".").lower(), set())
    if (
        len(own) != 1
        or any(len(name) < 2 for name in named)
        or not all(answer.lower() in named for answer in valid)
    ):
        return _UNDECIDED
    value = next(iter(own))
    return value, any(value in named[answer.lower()] for answer in valid)
