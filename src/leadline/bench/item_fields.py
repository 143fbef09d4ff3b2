"""From the fields of one line or row to an item: short forms, window files, and what its task declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic import ValidationError

from leadline.bench.header import FILE_KEYS
from leadline.bench.item import MAX_CHARACTERS, SECOND_NAMES, Item
from leadline.bench.json_text import as_text, kind
from leadline.bench.problem import Problems, did_you_mean, shortened
from leadline.bench.task import TaskDeclaration, filled
from leadline.bench.window_file import WindowFault, WindowFiles

REQUIRED = ("id", "question", "answer")


@dataclass(frozen=True)
class Surroundings:
    """What an item in a file leans on: the tasks that the header declares, and the folder of its windows."""

    windows: WindowFiles
    tasks: Mapping[str, TaskDeclaration] = field(default_factory=dict)


def read_item(
    fields: Mapping[str, object],
    where: str,
    problems: Problems,
    around: Surroundings,
    written: Callable[[], Mapping[str, str]] | None = None,
) -> Item | None:
    """The item that `fields` (keys of a file, values as JSON has them) describe, or None and its problems.

    `written` gives the text that values are written as: an answer such as 0.10 is kept as that.
    """
    identity = fields.get("id")
    item_id = short_id(identity) if isinstance(identity, str) else None
    before = len(problems.found)

    def fault(message: str, fix: str = "") -> None:
        problems.add(where, message, item=item_id, fix=fix)

    own = _canonical(fields, fault)
    _take_evidence(own, fault)
    _take_window(own, around.windows, fault)
    answer = own.get("answer")
    if isinstance(answer, (bool, int, float, Decimal, dict)):
        own["answer"] = written()["answer"] if written else as_text(answer)
    for name, value in own.items():
        # Before pydantic sees it, so that a damaged file of any size costs one short message.
        limit = MAX_CHARACTERS.get(name)
        if limit is not None and isinstance(value, str) and len(value) > limit:
            fault(f"{name!r} has {len(value):,} characters; at most {limit:,} are allowed")
    task = own.get("task")
    if isinstance(task, str) and task in around.tasks:
        own = filled(own, around.tasks[task])
    own = {name: value for name, value in own.items() if value is not None or name in REQUIRED}
    for name in REQUIRED:
        if name not in own:
            fault(f"the field {name!r} is missing", "required: id, question, answer")
    if len(problems.found) > before:
        return None
    try:
        item = Item.model_validate(own)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            name = ".".join(str(part) for part in detail["loc"])
            fault(f"{name!r} {_complaint(detail['type'], detail['msg'], detail['input'])}")
        return None
    _check_parts(item, isinstance(answer, dict), fault)
    return None if len(problems.found) > before else item


def short_id(identity: str) -> str:
    """An id for a message: as it is, or escaped and cut."""
    return identity if len(identity) <= 80 and identity.isprintable() else shortened(identity, 80)


def _canonical(fields: Mapping[str, object], fault: Callable[[str, str], None]) -> dict[str, object]:
    """The known fields under their first names."""
    own: dict[str, object] = {}
    for key, value in fields.items():
        name = SECOND_NAMES.get(key, key)
        if key not in FILE_KEYS:
            known = f"known fields: {', '.join(FILE_KEYS)}"
            fault(f"unknown field {shortened(key)}", did_you_mean(key, FILE_KEYS, otherwise=known))
        elif name != key and name in fields:
            fault(f"{key!r} and {name!r} are two names of one field", "keep one of them")
        else:
            own[name] = value
    return own


def _take_evidence(own: dict[str, object], fault: Callable[[str, str], None]) -> None:
    """One piece of evidence instead of a list, a bare quote, `quote` beside `source`: all become the list."""
    name = "evidence"
    if "quote" in own:
        if name in own:
            fault("'quote' is a short form of 'evidence'", "keep one of them")
        name = "quote"
    if (value := own.pop(name, ())) is None:
        return
    if name == "quote" and not isinstance(value, (str, list)):
        fault(f"'quote' must be text or a list of texts, not {kind(value)}", "")
        return
    if isinstance(value, (str, dict)):
        value = [value]
    if isinstance(value, list):
        value = [{"quote": entry} if isinstance(entry, str) else entry for entry in value]
    own["evidence"] = value


def _take_window(own: dict[str, object], windows: WindowFiles, fault: Callable[[str, str], None]) -> None:
    if "window_file" not in own:
        return
    name = own.pop("window_file")
    if own.get("window") is not None:
        fault("has both 'window' and 'window_file'", "keep one of them")
    elif isinstance(name, str):
        try:
            own["window"] = windows.read(name)
        except WindowFault as error:
            fault(f"'window_file' {error.what}", error.fix)
    elif name is not None:
        fault(f"'window_file' must be text, not {kind(name)}", "")


def _check_parts(item: Item, from_object: bool, fault: Callable[[str, str], None]) -> None:
    """An answer in parts is a JSON object with the names of its fields, and no other answer is an object."""
    if item.answer_type != "parts":
        if from_object:
            fault("'answer' is an object, but 'answer_type' is not 'parts'", "text, a number, true or false")
        if item.fields:
            fault("'fields' belong to answers of type 'parts'", "answer_type: parts")
        return
    names = [part.name for part in item.fields]
    if not names or len(set(names)) < len(names):
        fault("answers of type 'parts' need 'fields', each with a name of its own", "")
        return
    try:
        parts = json.loads(item.answer)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, dict):
        fault("'answer' must be an object with the fields of the answer", f"fields: {', '.join(names)}")
        return
    for name in parts:
        if name not in names:
            known = f"fields: {', '.join(names)}"
            fault(
                f"'answer' has an unknown field {shortened(name)}", did_you_mean(name, names, otherwise=known)
            )
    for name in names:
        if name not in parts:
            fault(f"'answer' lacks the field {shortened(name)}", f"fields: {', '.join(names)}")


def _complaint(sort: str, message: str, value: object) -> str:
    """Pydantic's error as the end of a sentence that begins with the field's name."""
    match sort:
        case "value_error":
            return message.removeprefix("Value error, ")
        case "string_type":
            return f"must be text, not {kind(value)}"
        case "string_unicode":
            return "contains half a character (a lone surrogate)"
        case "string_too_long":
            return f"has {len(str(value)):,} characters: {message[0].lower()}{message[1:]}"
        case "tuple_type":
            return f"must be a list, not {kind(value)}"
        case "literal_error":
            return message.replace("Input should be", "must be")
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a known field"
        case _:
            return f"is wrong: {message[0].lower()}{message[1:]}"
