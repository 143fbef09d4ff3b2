"""Reads study.yaml: each fault becomes one line with file and line number."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.study.complaint import OWN, complaint
from leadline.study.config import (
    BeyondSection,
    Items,
    ModelEntry,
    SamplingSection,
    StudyConfig,
)

STUDY_FILE = "study.yaml"
_MAX_BYTES = 1024 * 1024
_MAX_DEPTH = 20  # a study needs four
_PLAIN = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(0|[1-9][0-9]*)"),
    "tag:yaml.org,2002:float": re.compile(
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", re.IGNORECASE
    ),
}
_SECTIONS: dict[str, type[BaseModel]] = {
    "": StudyConfig,
    "items": Items,
    "models": ModelEntry,
    "sampling": SamplingSection,
    "beyond_sampling": BeyondSection,
}


def read_config(path: Path) -> StudyConfig:
    """The study that `path` describes. Raises UsageError with file, line and remedy at the first fault."""
    node = _compose(path)
    try:
        return StudyConfig.model_validate(_plain(node, path))
    except ValidationError as error:
        first = _worst(error)
        location = [
            part for part in first["loc"] if not (isinstance(part, str) and part.startswith("function-"))
        ]
        if "at" in first.get("ctx", {}):  # the fault of one entry, found by looking at all of them
            location.append(first["ctx"]["at"])
        line, written = _follow(node, location)
        what, fix = _sentence(first, location, written)
        raise UsageError(what, where=f"{path}:{line}", fix=fix) from None


def where_in(path: Path, *location: Hashable) -> str:
    """`path` with the line of a key, such as ("techniques", 1, "paths"): for faults that show only later."""
    return f"{path}:{_follow(_compose(path), location)[0]}"


def _worst(error: ValidationError) -> Any:
    """Unknown keys first: a misspelt key also shows as a missing one, and only the former explains it."""
    errors = error.errors(include_url=False)
    return next((found for found in errors if found["type"] == "extra_forbidden"), errors[0])


def _sentence(
    error: Any, location: Sequence[Hashable], written: Sequence[Hashable]
) -> tuple[str, str | None]:
    """What is wrong and what to do. `written` is the part of `location` that stands in the file."""
    if error["type"] == "extra_forbidden":
        return f"unknown key {shortened(str(location[-1]))}", _known_keys(location)
    if error["type"] == "missing":
        return f"the key {str(location[-1])!r} is missing", "leadline init shows a complete example"
    what, fix = complaint(error)
    if error["type"] in OWN:
        return what, fix
    # The line says which entry of a list it is.
    place = ".".join(str(part) for part in written if not isinstance(part, int))
    return f"{place}: {what}" if place else what, fix


def _known_keys(location: Sequence[Hashable]) -> str:
    section = next((str(part) for part in location[:-1] if isinstance(part, str)), "")
    fields = _SECTIONS[section].model_fields if section in _SECTIONS else {}
    return did_you_mean(str(location[-1]), fields, otherwise=f"known keys: {', '.join(fields)}")


def _compose(path: Path) -> yaml.Node:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError("no study here", where=str(path), fix=f"leadline init {path.parent}") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"is larger than {_MAX_BYTES:,} bytes: not a study file", where=str(path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            where=f"{path}:{line}",
            fix="save the file as UTF-8",
        ) from None
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError(f"broken YAML: {error.problem}", where=where) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(
            "broken YAML: a control character", where=f"{path}:{line}", fix="remove it"
        ) from None
    except RecursionError:
        raise UsageError(
            "broken YAML: nested too deeply", where=str(path), fix=f"at most {_MAX_DEPTH} levels"
        ) from None
    if node is None:
        raise UsageError("the file is empty", where=f"{path}:1", fix=f"leadline init {path.parent}")
    if not isinstance(node, yaml.MappingNode):
        raise UsageError("expected keys and values", where=f"{path}:1", fix="name: my-study")
    return node


def _plain(node: yaml.Node, path: Path) -> Any:
    """Plain data of a node, by YAML's safe rules; repeated keys, anchors and odd numbers are refused."""
    seen: set[int] = set()

    def check(part: yaml.Node, depth: int = 0) -> None:
        where = f"{path}:{part.start_mark.line + 1}"
        if id(part) in seen:
            raise UsageError("YAML anchors are not used here", where=where)
        seen.add(id(part))
        if depth > _MAX_DEPTH:
            fix = f"at most {_MAX_DEPTH} levels"
            raise UsageError("broken YAML: nested too deeply", where=where, fix=fix)
        if isinstance(part, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in part.value:
                line = key.start_mark.line + 1
                name = key.value if isinstance(key, yaml.ScalarNode) else "?"
                if name in first:
                    raise UsageError(
                        f"the key {name!r} occurs twice, first on line {first[name]}",
                        where=f"{path}:{line}",
                        fix="keep one of them",
                    )
                first[name] = line
                check(value, depth + 1)
        elif isinstance(part, yaml.SequenceNode):
            for value in part.value:
                check(value, depth + 1)
        elif part.tag in _PLAIN and not _PLAIN[part.tag].fullmatch(part.value):
            # YAML 1.1 takes 010 for 8, 1:30 for 90 and 0x2 for 2; other readers of the file do not.
            raise UsageError(
                f"{shortened(part.value)} is not a plain number",
                where=where,
                fix="write digits only, such as 48 or 0.7; in quotes if it is a text",
            )

    check(node)
    constructor = yaml.constructor.SafeConstructor()
    try:
        return constructor.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        problem = getattr(error, "problem", None) or error
        raise UsageError(f"broken YAML: {problem}", where=str(path)) from None


def _follow(node: yaml.Node, location: Sequence[Hashable]) -> tuple[int, list[Hashable]]:
    """Line of the deepest part of `location` that is in the file, and the parts down to it."""
    line, written = node.start_mark.line + 1, list[Hashable]()
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if getattr(k, "value", None) == str(part)), None)
            if pair is None and isinstance(part, int):
                continue  # one entry, written without the list
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        elif isinstance(part, int):
            continue
        else:
            break  # a short form: a number for items, a name for a model
        written.append(part)
    return line, written
