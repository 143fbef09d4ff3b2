"""Reads study.yaml: each fault becomes one line with file and line number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from leadline.bench.complaint import OWN, complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import YamlFault, compose, faults, follow, plain
from leadline.errors import UsageError
from leadline.study.config import (
    BeyondSection,
    Exclude,
    Items,
    ModelEntry,
    SamplingSection,
    StudyConfig,
)

STUDY_FILE = "study.yaml"
_SECTIONS: dict[str, type[BaseModel]] = {
    "": StudyConfig,
    "items": Items,
    "exclude": Exclude,
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
        line, written = follow(node, location)
        what, fix = _sentence(first, location, written)
        raise UsageError(what, where=f"{path}:{line}", fix=fix) from None


def where_in(path: Path, *location: Hashable) -> str:
    """`path` with the line of a key, such as ("techniques", 1, "paths"): for faults that show only later."""
    return f"{path}:{follow(_compose(path), location)[0]}"


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
        return compose(path)
    except FileNotFoundError:
        raise UsageError("no study here", where=str(path), fix=f"leadline init {path.parent}") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except YamlFault as fault:
        raise _refused(fault, path) from None


def _plain(node: yaml.Node, path: Path) -> Any:
    """Plain data of a node, by YAML's safe rules; repeated keys, anchors and odd numbers are refused."""
    for fault in faults(node):
        raise _refused(fault, path)
    try:
        return plain(node)
    except YamlFault as fault:
        raise _refused(fault, path) from None


def _refused(fault: YamlFault, path: Path) -> UsageError:
    fixes = {
        "the file is empty": f"leadline init {path.parent}",
        "expected keys and values": "name: my-study",
    }
    return UsageError(fault.message, where=fault.where(path), fix=fault.fix or fixes.get(fault.message))
