"""Reads items.jsonl: one JSON object a line, every fault with its line, all faults in one go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from leadline.bench.item import ITEM_KEYS, MAX_CHARACTERS, SECOND_NAMES, Item
from leadline.bench.problem import Problems, did_you_mean, shortened

# The longest window in its longest spelling (six bytes a character: \uXXXX), and room for the rest.
MAX_LINE_BYTES = 16 * 1024 * 1024
_REQUIRED = ("id", "question", "answer")


def read_items(path: Path, problems: Problems) -> dict[str, tuple[Item, int]]:
    """Read every item of `path` as id -> (item, line); faults go to `problems`, faulty lines are left out.

    Raises OSError where the file cannot be read, TooManyProblemsError when `problems` is full.
    """
    items: dict[str, tuple[Item, int]] = {}
    first_lines: dict[str, int] = {}  # of faulty items too: a duplicate of a faulty line is still a duplicate
    with path.open("rb") as file:
        for number, text in _lines(file, path, problems):
            fields = _fields(text, f"{path}:{number}", problems)
            if fields is None:
                continue
            identity = fields.get("id")
            if isinstance(identity, str) and (first := first_lines.setdefault(identity, number)) != number:
                problems.add(
                    f"{path}:{number}",
                    f"duplicate id, first used on line {first}",
                    item=_short_id(identity),
                    fix="give every item its own id",
                )
                continue
            if (item := _item(fields, f"{path}:{number}", problems)) is not None:
                items[item.id] = (item, number)
    return items


def _lines(file: BinaryIO, path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The non-blank lines as (number, text). Only a line feed ends one: JSON strings may hold U+2028."""
    number = offset = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number, start, offset = number + 1, offset, offset + len(line)
        if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
            problems.add(f"{path}:1", "the file is UTF-16", fix="save it as UTF-8")
            return
        if len(line) > MAX_LINE_BYTES:
            while not line.endswith(b"\n") and (line := file.readline(MAX_LINE_BYTES)):
                offset += len(line)
            problems.add(
                f"{path}:{number}",
                f"the line has {offset - start:,} bytes; at most {MAX_LINE_BYTES:,} are read",
                fix="one item a line; long documents belong in shorter windows",
            )
            continue
        try:
            # A byte order mark is harmless at the very start, where Windows editors put it.
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            problems.add(
                f"{path}:{number}:{error.start + 1}",
                f"not UTF-8: byte 0x{line[error.start]:02x} at offset {start + error.start} of the file",
                fix="save the file as UTF-8",
            )
            continue
        if text.strip():
            yield number, text.rstrip("\r\n")


class _RepeatedKeyError(ValueError):
    """A JSON object names one key twice."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise _RepeatedKeyError(key)
        result[key] = value
    return result


def _fields(text: str, where: str, problems: Problems) -> dict[str, object] | None:
    try:
        fields = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        problems.add(
            f"{where}:{error.colno}", f"broken JSON: {error.msg}", fix="one complete JSON object a line"
        )
        return None
    except _RepeatedKeyError as error:
        problems.add(where, f"the key {shortened(str(error))} occurs twice", fix="keep one of them")
        return None
    except RecursionError:
        problems.add(where, "broken JSON: nested too deeply")
        return None
    except ValueError:  # a number with thousands of digits
        problems.add(where, "broken JSON: a number that is too long")
        return None
    if not isinstance(fields, dict):
        problems.add(
            where,
            f"expected a JSON object, found {_kind(fields)}",
            fix='{"id": ..., "question": ..., "answer": ...}',
        )
        return None
    return fields


def _item(fields: dict[str, object], where: str, problems: Problems) -> Item | None:
    identity = fields.get("id")
    item_id = _short_id(identity) if isinstance(identity, str) else None
    before = len(problems.found)
    for key in _REQUIRED:
        if key not in fields:
            problems.add(
                where, f"the field {key!r} is missing", item=item_id, fix="required: id, question, answer"
            )
    for key, value in fields.items():
        if key not in ITEM_KEYS:
            known = f"known fields: {', '.join(ITEM_KEYS)}"
            problems.add(
                where,
                f"unknown field {shortened(key)}",
                item=item_id,
                fix=did_you_mean(key, ITEM_KEYS, otherwise=known),
            )
            continue
        if key in SECOND_NAMES and SECOND_NAMES[key] in fields:
            message = f"{key!r} and {SECOND_NAMES[key]!r} are two names of one field"
            problems.add(where, message, item=item_id, fix="keep one of them")
        # Before pydantic sees it, so that a damaged file of any size costs one short message.
        limit = MAX_CHARACTERS.get(SECOND_NAMES.get(key, key))
        if limit is not None and isinstance(value, str) and len(value) > limit:
            message = f"{key!r} has {len(value):,} characters; at most {limit:,} are allowed"
            problems.add(where, message, item=item_id)
    if len(problems.found) > before:
        return None
    try:
        return Item.model_validate(fields)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            name = ".".join(str(part) for part in detail["loc"])
            problems.add(
                where, f"{name!r} {_complaint(detail['type'], detail['msg'], detail['input'])}", item=item_id
            )
        return None


def _complaint(kind: str, message: str, value: object) -> str:
    """Pydantic's error as the end of a sentence that begins with the field's name."""
    match kind:
        case "value_error":
            return message.removeprefix("Value error, ")
        case "string_type":
            return f"must be text, not {_kind(value)}"
        case "string_unicode":
            return "contains half a character (a lone surrogate)"
        case "string_too_long":
            return f"has {len(str(value)):,} characters: {message[0].lower()}{message[1:]}"
        case "tuple_type":
            return f"must be a list, not {_kind(value)}"
        case "literal_error":
            return message.replace("Input should be", "must be")
        case "missing":
            return "is missing"
        case _:
            return f"is wrong: {message[0].lower()}{message[1:]}"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def _short_id(identity: str) -> str:
    return identity if len(identity) <= 80 and identity.isprintable() else shortened(identity, 80)
