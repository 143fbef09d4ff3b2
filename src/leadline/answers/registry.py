"""Finds the reader of an answer type: the module of this package that bears its name.

A new answer type is one new file, `answers/<type>.py`, with a function `read(item, raw) -> Reading`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import get_args

from leadline.answers.reading import Reading
from leadline.bench.answer_form import AnswerType
from leadline.bench.item import Item
from leadline.errors import UsageError

Reader = Callable[[Item, str], Reading]


@cache
def reader_for(answer_type: str) -> Reader:
    """The reader of `answer_type`. Raises UsageError where this version has none."""
    if not answer_type.isidentifier() or not _has_reader(answer_type):
        raise UsageError(
            f"answers of type {answer_type!r} cannot be read yet",
            fix=f"types that can be read: {', '.join(readable_types())}",
        )
    reader: Reader = importlib.import_module(f"{__package__}.{answer_type}").read
    return reader


@cache
def readable_types() -> tuple[str, ...]:
    """The answer types that this version reads, sorted."""
    return tuple(sorted(name for name in get_args(AnswerType) if _has_reader(name)))


def _has_reader(answer_type: str) -> bool:
    return importlib.util.find_spec(f"{__package__}.{answer_type}") is not None


def read_answer(item: Item, raw: str) -> Reading:
    """What the response `raw` to `item` says: total over all texts.

    Raises UsageError, which names the item, where its answer type has no reader.

    >>> item = Item(id="1", question="What is the capital of France?", answer="Paris")
    >>> reading = read_answer(item, "The capital of France is Paris.")
    >>> reading.state.value, reading.value, reading.correct
    ('ok', 'paris', True)
    """
    try:
        reader = reader_for(item.answer_type)
    except UsageError as error:
        raise UsageError(error.what, where=f"item {item.id}", fix=error.fix) from error
    return reader(item, raw)
