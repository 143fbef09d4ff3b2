"""Whether an answer is right by the study's own rule, and whether answers to its items can be read at all."""

from __future__ import annotations

import dataclasses

from leadline.answers import Reading, read_answer, readable_types, reader_for
from leadline.answers.classes import classes
from leadline.answers.parts import unread_parts
from leadline.answers.reading import State
from leadline.answers.sameness import Rule
from leadline.bench import Item
from leadline.errors import UsageError
from leadline.lenses.protocol import Sameness
from leadline.study.study import Study


def check_readable(study: Study) -> None:
    """Raise UsageError, which names an item, where answers to it cannot be read, or its gold answer is none
    of its type, so that no answer could be right: before anybody is asked."""
    check_corrected(study)
    for item in study.benchmark.items:
        where = f"{study.whole.name}: item {item.id}"
        try:
            reader_for(item.answer_type)
        except UsageError as error:
            raise UsageError(error.what, where=where, fix=error.fix) from None
        if fault := gold_fault(item):
            what = f"the gold answer is not of its type, {item.answer_type}: {fault}"
            raise UsageError(what, where=where, fix="leadline bench validate lists all such items")


def check_corrected(study: Study) -> None:
    """Raise UsageError where a label that a person corrected is none of its item's type: no answer could be
    right by it."""
    items = study.population.everyone.by_id
    for item in study.population.corrected:
        if fault := gold_fault(items[item]):
            raise UsageError(
                f"item {item}: the corrected answer is not of its type, {items[item].answer_type}: {fault}",
                where=str(study.population.decisions.file),
                fix="decide on it anew; the last decision on an item counts",
            )


def gold_fault(item: Item) -> str:
    """Why the gold answer is not read as its own type says, "" if it is; texts mean what they say.

    Of an answer in parts each one that is named must be: no response could say a part that is not read.
    """
    if item.answer_type == "text" or item.answer_type not in readable_types():
        return ""
    for answer in item.valid_answers:
        reading = read_answer(item, answer)
        if reading.value is None:
            return reading.reason or f"it is {reading.state.value}"
        if item.answer_type == "parts" and (unread := unread_parts(item, answer)):
            return "; ".join(f"{name}: {why}" for name, why in unread.items())
    return ""


# Why an answer ended, where that decides what it is; as `Generation.finish` has it.
LENGTH, FILTERED = "length", "content_filter"
# What an answer is that was cut off: nothing readable came yet.
CUT_SHORT, TRUNCATED = (State.EMPTY, State.UNREADABLE), State.TRUNCATED


def judged(study: Study, item: Item, text: str, finish: str = "") -> Reading:
    """What a response says, correct by the study's own rule. `finish` is why it ended.

    What a provider's filter stopped is refused, whatever is left of it; what was cut off before anything
    readable came is truncated. A study that compares numbers by one rule for all items compares them with the
    gold answer by it as well.
    """
    config = study.config
    words = config.correctness == "words"
    return reading_of(item, text, words=words, rule=config.stability.sameness, finish=finish)


def reading_of(
    item: Item, text: str, *, words: bool = False, rule: Sameness = "own", finish: str = ""
) -> Reading:
    """As `judged`, without a study: `words` is the stricter rule of correctness, `rule` that of sameness.

    >>> item = Item(id="1", question="How much?", answer="1250000", answer_type="number")
    >>> reading_of(item, "about $1.25 million").correct
    True
    """
    if finish == FILTERED:
        return Reading(State.REFUSED, reason="stopped by the provider's filter")
    reading = read_answer(item, text)
    if finish == LENGTH and reading.state in CUT_SHORT:
        return Reading(State.TRUNCATED, reason=reading.reason or "cut off at the longest answer")
    if words:
        reading = dataclasses.replace(reading, correct=reading.correct_strict)
    if rule != "own" and item.answer_type in ("number", "parts") and reading.value is not None:
        is_gold = any(_same(item, reading, read_answer(item, gold), rule) for gold in item.valid_answers)
        reading = dataclasses.replace(
            reading, correct=is_gold, correct_strict=reading.correct_strict and is_gold
        )
    return reading


def is_empty(item: Item, text: str) -> bool:
    """Whether there is nothing in a response but blanks and markup."""
    return read_answer(item, text).state is State.EMPTY


def _same(item: Item, answer: Reading, gold: Reading, rule: Rule) -> bool:
    is_declared = any(form.precision is not None for form in (item, *item.fields))
    found = classes(item, (answer, gold))["rounding" if rule == "declared" and not is_declared else rule]
    return found[0] == found[1]
