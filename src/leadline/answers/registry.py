"""Finds the reader of an answer type: the module of this package that bears its name.

A new answer type is one new file, `answers/<type>.py`, with a function `read(item, raw) -> Reading`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache

from leadline.answers.reading import Reading
from leadline.bench.item import Item
from leadline.errors import UsageError

Reader = Callable[[Item, str], Reading]


@cache
def reader_for(answer_type: str) -> Reader:
    """The reader of `answer_type`. Raises UsageError where this version has none."""
    name = f"{__package__}.{answer_type}"
    if not answer_type.isidentifier() or importlib.util.find_spec(name) is None:
        raise UsageError(
            f"answers of type {answer_type!r} cannot be read yet",
            fix='items of this type need a newer version; "text" is read by this one',
        )
    reader: Reader = importlib.import_module(name).read
    return reader


def read_answer(item: Item, raw: str) -> Reading:
    """What the response `raw` to `item` says: total over all texts.

    Raises UsageError, which names the item, where its answer type has no reader.

    >>> item = Item(id="1", question="What is the capital of France?", answer="Paris")
    >>> read_answer(item, "The capital of France is Paris.")
    Reading(state=<State.OK: 'ok'>, value='paris', correct=True, correct_strict=True, leads=False, reason='')
    """
    try:
        reader = reader_for(item.answer_type)
    except UsageError as error:
        raise UsageError(error.what, where=f"item {item.id}", fix=error.fix) from error
    return reader(item, raw)
