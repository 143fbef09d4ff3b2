"""Whether an answer is right by the study's own rule, and whether answers to its items can be read at all."""

from __future__ import annotations

import dataclasses

from leadline.answers import Reading, read_answer, readable_types, reader_for
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
    """What a response says, correct by the study's own rule."""
    reading = read_answer(item, text)
    if study.config.correctness == "words":
        return dataclasses.replace(reading, correct=reading.correct_strict)
    return reading
