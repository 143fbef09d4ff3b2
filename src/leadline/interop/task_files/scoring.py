"""Whether an answer is right, in the standard library alone; Leadline's own readers, where it is installed,
take this file's place.

What it knows is plain: a text is right when it holds a right answer, a number when one that it holds is
equal, yes or no when that is its first such word. Units, rounding, denials and synonyms are beyond it.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

_NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")
_YES, _NO = ("yes", "true"), ("no", "false")


def is_right(item: dict[str, Any], text: str, finish: str = "stop") -> bool:
    """Whether `text` answers `item` (an item of a benchmark of Leadline's); `finish`: why the text ends.

    >>> is_right({"answer": "Danube", "aliases": ["Donau"]}, "It is the Donau.")
    True
    """
    try:
        from leadline.bench import Item
        from leadline.study.judging import reading_of
    except ImportError:
        return plainly_right(item, text)
    return reading_of(Item.model_validate(item), text, finish=finish).correct


def plainly_right(item: dict[str, Any], text: str) -> bool:
    """As `is_right`, without Leadline."""
    golds = [str(item["answer"]), *map(str, item.get("aliases") or ())]
    kind = item.get("answer_type", "text")
    if kind == "number":
        said = {_number(one) for one in _NUMBER.findall(text)} - {None}
        return any(_number(one) in said for gold in golds for one in _NUMBER.findall(gold)[:1])
    if kind == "boolean":
        words = [word for word in re.findall(r"[a-z]+", text.casefold()) if word in _YES + _NO]
        return bool(words) and any((words[0] in _YES) == (gold.casefold() in _YES) for gold in golds)
    if kind == "enum":
        return any(re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", text, re.IGNORECASE) for gold in golds)
    if kind == "parts":
        return any(_parts(gold) is not None and _parts(gold) == _parts(text) for gold in golds)
    plain = _letters(text)
    return any(_letters(gold) in plain for gold in golds if _letters(gold))


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return None


def _parts(text: str) -> object:
    try:
        return json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return None
