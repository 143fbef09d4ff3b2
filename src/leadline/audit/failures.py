"""Why an item is flagged (check 7): four causes that look alike in a count and need different repairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.audit.arithmetic import expressions
from leadline.audit.calculations import Gold
from leadline.audit.derivation import Derivation, derive, printed_value
from leadline.audit.document import AnswerStated, Failure
from leadline.audit.operands import Operand, bare_value, operands_of, readable
from leadline.audit.spans import pieces
from leadline.audit.stated import Stated, gold_number, is_gold, stated
from leadline.bench.item import Item

_BRACKETED = re.compile(r"\(\s*[$€£¥]?\s*[\d.,]+\s*\)")


@dataclass(frozen=True, slots=True)
class Cause:
    """The failure's type, the calculation found, and whether it is the gold value's own (see `believed`)."""

    failure: Failure
    derivation: Derivation | None = None
    why: str = ""


def cause_of(
    item: Item,
    quotes: Sequence[str],
    window: str,
    *,
    in_window: bool | None,
    in_source: bool | None,
    answer: Stated,
) -> Cause:
    """Why the item is flagged; for items of which `in_window` or `in_source` is False."""
    if in_window is not False:
        return Cause(Failure.LABEL_UNTRACEABLE, why="the quote is in the window, and in no document held")
    if answer.state is AnswerStated.STATED and answer.telling:
        return _stated(answer)
    derivation = derivation_of(item, quotes, window)
    if derivation is not None and derivation.believed:
        why = _computational(item, quotes, derivation, in_source)
        if why:
            return Cause(Failure.COMPUTATIONAL, derivation, why)
    # A calculation is told as a remark then: the passage that the quote cites is absent all the same.
    return Cause(Failure.EVIDENCE_ABSENT, derivation, "the window lacks the passage that the quote cites")


def _stated(answer: Stated) -> Cause:
    why = f"the window states the answer (“{answer.text}”) in words other than the quote's"
    return Cause(Failure.ANSWER_STATED, why=why)


def _computational(item: Item, quotes: Sequence[str], derivation: Derivation, in_source: bool | None) -> str:
    """Why the stored quote is a calculation or a pointer to one, and no passage; "" where it is a passage."""
    if derivation.stated:
        return "the quote is a calculation with numbers that the window has"
    gives_gold = any(stated(item, quote).state is AnswerStated.STATED for quote in quotes)
    is_passage = in_source is True and gives_gold
    if derivation.named == len(derivation.operands) and not is_passage:
        return "the quote is a calculation with numbers that the window has"
    if not any(span.substantive for quote in quotes for ways in pieces(quote) for span in ways[-1]):
        return "the quote points at a figure; the window has the numbers that it is made of"
    if derivation.named and not gives_gold:
        return "the quote names a number that the answer is calculated from, and the window has the others"
    if in_source is False:
        return "the quote is in no document held, and the answer is calculated from numbers of the window"
    return ""


def derivation_of(item: Item, quotes: Sequence[str], window: str) -> Derivation | None:
    """The calculation of the gold value with numbers of the window, if the answer is a number."""
    gold = _gold(item)
    if gold is None:
        return None
    plain = readable(window)
    every = operands_of(plain, locale=item.locale, years=True)
    for quote in quotes:
        if (written := _written_out(item, quote, every)) is not None:
            return written
    named = [
        operand
        for quote in quotes
        for operand in operands_of(readable(quote), locale=item.locale, years=True)
        if operand.value not in (0, gold.value)
    ]
    years = [operand for operand in every if operand.year]
    return derive(gold, [operand for operand in every if not operand.year], named, years)


def _written_out(item: Item, quote: str, window: Sequence[Operand]) -> Derivation | None:
    """A calculation that the quote states, if it is said to come to the gold value and the window has its
    numbers."""
    number = gold_number(item)
    if number is None:
        return None
    held = {abs(value) for operand in window for value in (operand.value, operand.bare)} | {100.0}
    for one in expressions(readable(quote), item.locale):
        if not is_gold(item, number, one.result):
            continue
        if not all(float(value) in held or float(bare) in held for value, bare in one.numbers):
            continue
        step = float(one.result.step or 1)
        unit = " %" if one.result.percent else ""
        value = float(one.value) * (100 if unit else 1)
        results = {float(one.result.value), bare_value(one.result)}
        off = min(abs(value - result) for result in results)
        is_exact = off <= step / 2 * (1 + 1e-9)
        if not is_exact and _BRACKETED.search(one.text):
            continue  # (612) may be a loss
        text = f"{_plain_signs(one.text)} = {printed_value(value, Gold(value, step))}{unit}"
        return Derivation(text, value, (), 0, is_exact, stated=True)
    return None


def _plain_signs(text: str) -> str:
    text = re.sub(r"(?<=[\w)%])\s*[-–−]\s*", " − ", re.sub(r"\s*\*\s*", " × ", text))
    inner = text[1:-1]
    return inner if text[:1] + text[-1:] == "()" and not set(inner) & set("()") else text


def _gold(item: Item) -> Gold | None:
    number = gold_number(item) if item.answer_type == "number" else None
    if number is None or not number.value:
        return None
    step = item.precision if item.precision is not None else number.step
    # Compared by doubles: a calculation is only ever right within the digits that are printed.
    value = float(number.value)
    return Gold(value, float(step) if step is not None else 1.0, value == int(value) and (step or 1) >= 1)
