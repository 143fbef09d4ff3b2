"""Whether an answer is right by the study's own rule, and whether answers to its items can be read at all."""

from __future__ import annotations

import dataclasses

from leadline.answers import Reading, read_answer, readable_types, reader_for
from leadline.answers.classes import classes
from leadline.answers.sameness import Rule
from leadline.bench import Item
from leadline.errors import UsageError
from leadline.study.study import Study


def check_readable(study: Study) -> None:
    """Raise UsageError, which names an item, where answers to it cannot be read, or its gold answer is none
    of its type, so that no answer could be right: before anybody is asked."""
    for item in study.benchmark.items:
        where = f"{study.whole.name}: item {item.id}"
        try:
            reader_for(item.answer_type)
        except UsageError as error:
            raise UsageError(error.what, where=where, fix=error.fix) from None
        if fault := gold_fault(item):
            what = f"the gold answer is not of its type, {item.answer_type}: {fault}"
            raise UsageError(what, where=where, fix="leadline bench validate lists all such items")


def gold_fault(item: Item) -> str:
    """Why the gold answer is not read as its own type says, "" if it is; texts mean what they say."""
    if item.answer_type == "text" or item.answer_type not in readable_types():
        return ""
    for answer in item.valid_answers:
        reading = read_answer(item, answer)
        if reading.value is None:
            return reading.reason or f"it is {reading.state.value}"
    return ""


def judged(study: Study, item: Item, text: str) -> Reading:
    """What a response says, correct by the study's own rule.

    A study that compares numbers by one rule for all items compares them with the gold answer by it as well.
    """
    reading = read_answer(item, text)
    if study.config.correctness == "words":
        reading = dataclasses.replace(reading, correct=reading.correct_strict)
    rule = study.config.stability.sameness
    if rule != "own" and item.answer_type in ("number", "parts") and reading.value is not None:
        is_gold = any(_same(item, reading, read_answer(item, gold), rule) for gold in item.valid_answers)
        reading = dataclasses.replace(
            reading, correct=is_gold, correct_strict=reading.correct_strict and is_gold
        )
    return reading


def _same(item: Item, answer: Reading, gold: Reading, rule: Rule) -> bool:
    is_declared = any(form.precision is not None for form in (item, *item.fields))
    found = classes(item, (answer, gold))["rounding" if rule == "declared" and not is_declared else rule]
    return found[0] == found[1]
