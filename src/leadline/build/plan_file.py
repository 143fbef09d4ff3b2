"""Reads PLAN.yaml: each fault becomes one line with file and line number."""

from __future__ import annotations

import re
import stat
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import (
    YamlFault,
    compose_bytes,
    faults,
    follow,
    plain,
    read_whole,
    take_as_written,
)
from leadline.build.plan import Plan
from leadline.errors import UsageError

# Characters that make a path a pattern over several files.
_PATTERN = frozenset("*?[")
# Dates are text: YAML refuses the 13th month as a whole file that is broken, without a line.
_DATES = frozenset((("articles", "date"), ("wikidata", "date"), ("frequency", "start"), ("frequency", "end")))
_SURROGATE = re.compile("[\ud800-\udfff]")
_HOME = "write the path in full, or ./~NAME for a file of that name"


def read_plan(path: Path) -> Plan:
    """The plan that `path` holds. Raises UsageError with file, line and remedy at the first fault."""
    try:
        source = read_whole(path)
        node = compose_bytes(source)
        for fault in faults(node):
            raise fault
        take_as_written(node, _DATES.__contains__)
        said = plain(node)
    except FileNotFoundError:
        raise UsageError(
            "no plan here", where=str(path), fix="docs/building.md shows a complete one"
        ) from None
    except IsADirectoryError:
        raise UsageError("is a folder", where=str(path), fix=f"name its plan: {path / 'plan.yaml'}") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(path), fix=fault.fix or None) from None
    _check_texts(said, (), path, node)
    try:
        plan = Plan.model_validate(said)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key also shows as a missing one, and only the former explains it.
        first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
        line, written = follow(node, first["loc"])
        what, fix = _sentence(first, written)
        raise UsageError(what, where=f"{path}:{line}", fix=fix) from None
    plan._file, plan._source = path, source
    try:
        plan.work.absolute()
    except RuntimeError:
        what = f"out: {shortened(plan.out or '')} names the home of a user who is not known"
        raise UsageError(what, where=where_in(plan, "out"), fix=_HOME) from None
    return plan


def where_in(plan: Plan, *location: Hashable) -> str:
    """The plan's file with the line of a key, such as ("articles", "dump"): for faults that show later.

    Lines are those of the file as it was read, which may have been changed or deleted since.
    """
    if plan.source is None:
        return str(plan.file)
    return f"{plan.file}:{follow(compose_bytes(plan.source), location)[0]}"


def files_of(plan: Plan, section: str, key: str) -> tuple[Path, ...]:
    """The files that a key of the plan names, patterns spelt out, in the order of their names.

    Raises UsageError with the line of the key where nothing is there, or something that is no file: a folder,
    or a pipe or device, whose end may never come.
    """
    said: Sequence[str] = getattr(getattr(plan, section), key)
    found: list[Path] = []
    for name in said:
        with _told(plan, section, key, name):
            matches = [path for path in _matches(plan.folder, name) if _is_there(path, name)]
        if not matches:
            raise _nothing(plan, section, key, name)
        found += matches
    return tuple(dict.fromkeys(found))


def file_of(plan: Plan, section: str, key: str) -> Path | None:
    """The file that a key of the plan names, None where it names none. Raises UsageError as `files_of`."""
    name = getattr(getattr(plan, section), key)
    if name is None:
        return None
    with _told(plan, section, key, name):
        path = plan.folder / Path(name).expanduser()
        if not _is_there(path, name, several=False):
            raise _nothing(plan, section, key, name)
    return path


def _nothing(plan: Plan, section: str, key: str, name: str) -> UsageError:
    what = f"{section}.{key}: no file is called {shortened(name)}"
    return UsageError(what, where=where_in(plan, section, key), fix=f"relative to {plan.folder}")


class _NoFile(Exception):  # noqa: N818 - told to the plan's reader as a UsageError
    """What stands in the place of a file, and the remedy."""


def _is_there(path: Path, name: str, several: bool = True) -> bool:
    """Whether a file is at `path`. Raises _NoFile where it is something else, and OSError."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISDIR(mode):
        raise _NoFile("is a folder", f"its files: {name.rstrip('/')}/*" if several else "name a file in it")
    if not stat.S_ISREG(mode):
        raise _NoFile("is no regular file", "a pipe or a device has no size and no checksum: write a file")
    return True


@contextmanager
def _told(plan: Plan, section: str, key: str, name: str) -> Iterator[None]:
    """Within it, a name of the plan is looked up: what it cannot be becomes a UsageError with its line."""
    said = f"{section}.{key}: {shortened(name)}"
    try:
        yield
    except _NoFile as error:
        raise UsageError(
            f"{said} {error.args[0]}", where=where_in(plan, section, key), fix=error.args[1]
        ) from None
    except RuntimeError:
        what = f"{said} names the home of a user who is not known"
        raise UsageError(what, where=where_in(plan, section, key), fix=_HOME) from None
    except (ValueError, NotImplementedError) as error:
        what = f"{said} is no pattern of file names: {error}"
        raise UsageError(
            what, where=where_in(plan, section, key), fix="** stands for folders, between slashes"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{said} cannot be looked up: {error.strerror}", where=where_in(plan, section, key)
        ) from None


def _matches(folder: Path, name: str) -> Iterator[Path]:
    path = folder / Path(name).expanduser()
    if not _PATTERN & set(name):
        yield path
        return
    # Of an absolute pattern the part before the first wildcard is where to look.
    parts = path.parts
    fixed = next(number for number, part in enumerate(parts) if _PATTERN & set(part))
    yield from sorted(one for one in Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))) if one.is_file())


def _check_texts(said: Any, location: tuple[Hashable, ...], path: Path, node: yaml.MappingNode) -> None:
    """Raises UsageError for a text that no file, database or page can hold."""
    if isinstance(said, dict):
        for key, value in said.items():
            _check_texts(value, (*location, key), path, node)
    elif isinstance(said, list):
        for number, value in enumerate(said):
            _check_texts(value, (*location, number), path, node)
    elif isinstance(said, str):
        fault = "half of a surrogate pair" if _SURROGATE.search(said) else "a NUL" if "\0" in said else ""
        if fault:
            line, written = follow(node, location)
            place = ".".join(str(part) for part in written)
            raise UsageError(f"{place}: the text holds {fault}", where=f"{path}:{line}", fix="leave it out")


def _sentence(error: Any, written: Sequence[Hashable]) -> tuple[str, str | None]:
    """What is wrong and what to do; `written` is the part of its place that stands in the file."""
    location = error["loc"]
    place = ".".join(str(part) for part in written if not isinstance(part, int))
    if error["type"] == "extra_forbidden":
        inside = ".".join(str(part) for part in location[:-1] if not isinstance(part, int))
        fields = _fields(location[:-1])
        what = f"unknown key {shortened(str(location[-1]))}"
        known = did_you_mean(str(location[-1]), fields, otherwise=f"known keys: {', '.join(fields)}")
        return f"{inside}: {what}" if inside else what, known
    if error["type"] == "missing":
        what = f"the key {str(location[-1])!r} is missing"
        return f"{place}: {what}" if place else what, "docs/building.md shows a complete plan"
    what, fix = complaint(error)
    return f"{place}: {what}" if place else what, fix


def _fields(location: Sequence[Hashable]) -> list[str]:
    """The keys that the part of a plan at `location` knows."""
    model: type[BaseModel] = Plan
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None:
            continue
        kinds = [field.annotation, *get_args(field.annotation)]
        model = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), model)
    return list(model.model_fields)
