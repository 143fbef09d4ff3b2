"""Reads study.yaml: each fault becomes one line with file and line number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from leadline.bench.complaint import OWN, complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import YamlFault, compose, faults, follow, line_of, plain, texts
from leadline.errors import UsageError
from leadline.redaction import named_like_a_secret, written_like_a_key
from leadline.study.config import (
    LOCAL,
    SERVED,
    BeyondSection,
    Exclude,
    Items,
    ModelEntry,
    SamplingSection,
    StudyConfig,
)
from leadline.study.served_entry import Budget, ServedEntry
from leadline.study.stability_config import (
    AgainSection,
    ContrastSection,
    SelectionSection,
    StabilitySection,
    Traits,
)

STUDY_FILE = "study.yaml"
_SECTIONS: dict[str, type[BaseModel]] = {
    "": StudyConfig,
    "items": Items,
    "exclude": Exclude,
    "models": ModelEntry,
    LOCAL: ModelEntry,
    SERVED: ServedEntry,
    "budget": Budget,
    "sampling": SamplingSection,
    "beyond_sampling": BeyondSection,
    "again": AgainSection,
    "stability": StabilitySection,
    "contrasts": ContrastSection,
    "of": SelectionSection,
    "against": SelectionSection,
    "traits": Traits,
}


def read_config(path: Path) -> StudyConfig:
    """The study that `path` describes. Raises UsageError with file, line and remedy at the first fault."""
    node = _compose(path)
    try:
        config = StudyConfig.model_validate(_plain(node, path))
    except ValidationError as error:
        first = _worst(error)
        location = [
            part for part in first["loc"] if not (isinstance(part, str) and part.startswith("function-"))
        ]
        if "at" in first.get("ctx", {}):  # the fault of one entry, found by looking at all of them
            at = first["ctx"]["at"]
            location += at if isinstance(at, tuple) else [at]
        line, written = follow(node, [part for part in location if part not in (LOCAL, SERVED)])
        what, fix = _sentence(first, location, written)
        raise UsageError(what, where=f"{path}:{line}", fix=fix) from None
    for text in texts(node):
        if form := written_like_a_key(text.value):
            raise UsageError(
                f"something here is written like a key ({form})",
                where=f"{path}:{line_of(text)}",
                fix="keys come from the environment only, such as OPENAI_API_KEY",
            )
    return config


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
    if error["type"] == "extra_forbidden" and named_like_a_secret(str(location[-1])):
        what = f"{shortened(str(location[-1]))} has no place in a file"
        return what, "keys come from the environment only, such as OPENAI_API_KEY"
    if error["type"] == "extra_forbidden" and (elsewhere := _of_the_other_kind(location)):
        return elsewhere
    if error["type"] == "extra_forbidden":
        # Keys repeat in the parts of a long file: the path says in which.
        path = ".".join(str(part) for part in written[:-1] if not isinstance(part, int))
        unknown = f"unknown key {shortened(str(location[-1]))}"
        return f"{path}: {unknown}" if path else unknown, _known_keys(location)
    if error["type"] == "missing":
        inside = ".".join(str(part) for part in written if not isinstance(part, int))
        what = f"the key {str(location[-1])!r} is missing"
        return f"{inside}: {what}" if inside else what, "leadline init shows a complete example"
    what, fix = complaint(error)
    if error["type"] in OWN:
        return what, fix
    # The line says which entry of a list it is.
    place = ".".join(str(part) for part in written if not isinstance(part, int))
    return f"{place}: {what}" if place else what, fix


def _of_the_other_kind(location: Sequence[Hashable]) -> tuple[str, str] | None:
    """What to say of a key that only the other kind of models has."""
    key = str(location[-1])
    if LOCAL in location and key in ServedEntry.model_fields:
        return f"{key} is for models behind an API", "those have a ref: inspect:PROVIDER/MODEL"
    if SERVED in location and key in ModelEntry.model_fields:
        return f"{key} is for models on this machine", "leave it out: the provider alone decides it"
    return None


def _known_keys(location: Sequence[Hashable]) -> str:
    kind = next((part for part in location if part in (LOCAL, SERVED)), None)
    sections = ("traits",) if location[0] == "traits" else location[:-1]
    section = str(kind or next((part for part in reversed(sections) if isinstance(part, str)), ""))
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
