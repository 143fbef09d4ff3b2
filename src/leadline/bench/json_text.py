"""JSON as people and programs write it: repeated keys and NaN refused, numbers exact, values as written."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

from leadline.bench.problem import Problems, shortened

_BLANK = " \t\n\r"


class _RefusedError(ValueError):
    """What JSON does not have, or what cannot be meant: the message says it."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        twice = next(name for name, number in counted.items() if number > 1)
        raise _RefusedError(f"the key {shortened(twice)} occurs twice")
    return result


def _constant(word: str) -> NoReturn:
    raise _RefusedError(f"broken JSON: {word} is not a number")


# Decimals, so that a precision of 0.1 is a tenth.
DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=Decimal, parse_constant=_constant)


def read_object(text: str, where: str, problems: Problems) -> dict[str, object] | None:
    """The JSON object that a line holds; None where it holds none, which is then among the problems."""
    try:
        fields = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        add_fault(error, where, problems, column=getattr(error, "colno", None))
        return None
    return an_object(fields, where, problems)


def an_object(value: object, where: str, problems: Problems) -> dict[str, object] | None:
    """`value`, if it is a JSON object; else None and a problem."""
    if isinstance(value, dict):
        return value
    fix = '{"id": ..., "question": ..., "answer": ...}'
    problems.add(where, f"expected a JSON object, found {kind(value)}", fix=fix)
    return None


def add_fault(
    error: ValueError | RecursionError, where: str, problems: Problems, column: int | None = None
) -> None:
    """Note in words what the decoder stumbled over."""
    if isinstance(error, json.JSONDecodeError):
        place = f"{where}:{column}" if column else where
        problems.add(place, f"broken JSON: {error.msg}", fix="one complete JSON object a line")
    elif isinstance(error, _RefusedError):
        fix = "keep one of them" if "twice" in str(error) else "null, or leave it out"
        problems.add(where, str(error), fix=fix)
    elif isinstance(error, RecursionError):
        problems.add(where, "broken JSON: nested too deeply")
    else:  # a number with thousands of digits
        problems.add(where, "broken JSON: a number that is too long")


def written_values(text: str) -> dict[str, str]:
    """The text of each value of a sound JSON object, as it is written: 0.10 is "0.10", an object its source.

    >>> written_values('{"a": 0.10, "b": {"c":1}}')
    {'a': '0.10', 'b': '{"c":1}'}
    """
    found: dict[str, str] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        at = _skip(text, _skip(text, at) + 1)  # past the colon
        _, end = DECODER.raw_decode(text, at)
        found[key] = text[at:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def as_text(value: object) -> str:
    """A value that is not text, as JSON: for rows of tables, which hold no spelling of their own."""
    match value:
        case dict():
            pairs = (
                f"{json.dumps(str(key), ensure_ascii=False)}: {as_text(entry)}"
                for key, entry in value.items()
            )
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{', '.join(map(as_text, value))}]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float() | Decimal():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at
