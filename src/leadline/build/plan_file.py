"""Reads PLAN.yaml: each fault becomes one line with file and line number."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import YamlFault, compose, faults, follow, plain
from leadline.build.plan import Plan
from leadline.errors import UsageError

# Characters that make a path a pattern over several files.
_PATTERN = frozenset("*?[")


def read_plan(path: Path) -> Plan:
    """The plan that `path` holds. Raises UsageError with file, line and remedy at the first fault."""
    try:
        node = compose(path)
        for fault in faults(node):
            raise fault
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
    try:
        plan = Plan.model_validate(said)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key also shows as a missing one, and only the former explains it.
        first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
        line, written = follow(node, first["loc"])
        what, fix = _sentence(first, written)
        raise UsageError(what, where=f"{path}:{line}", fix=fix) from None
    plan._file = path
    return plan


def where_in(plan: Plan, *location: Hashable) -> str:
    """The plan's file with the line of a key, such as ("articles", "dump"): for faults that show later."""
    return f"{plan.file}:{follow(compose(plan.file), location)[0]}"


def files_of(plan: Plan, section: str, key: str) -> tuple[Path, ...]:
    """The files that a key of the plan names, patterns spelt out, in the order of their names.

    Raises UsageError with the line of the key where nothing is there.
    """
    said: Sequence[str] = getattr(getattr(plan, section), key)
    found: list[Path] = []
    for name in said:
        matches = list(_matches(plan.folder, name))
        if not matches:
            what = f"{section}.{key}: no file is called {shortened(name)}"
            raise UsageError(what, where=where_in(plan, section, key), fix=f"relative to {plan.folder}")
        found += matches
    return tuple(dict.fromkeys(found))


def file_of(plan: Plan, section: str, key: str) -> Path | None:
    """The file that a key of the plan names, None where it names none. Raises UsageError as `files_of`."""
    name = getattr(getattr(plan, section), key)
    if name is None:
        return None
    path = plan.folder / Path(name).expanduser()
    if not path.exists():
        what = f"{section}.{key}: no file is called {shortened(name)}"
        raise UsageError(what, where=where_in(plan, section, key), fix=f"relative to {plan.folder}")
    return path


def _matches(folder: Path, name: str) -> Iterator[Path]:
    path = folder / Path(name).expanduser()
    if not _PATTERN & set(name):
        if path.exists():
            yield path
        return
    # Of an absolute pattern the part before the first wildcard is where to look.
    parts = path.parts
    fixed = next(number for number, part in enumerate(parts) if _PATTERN & set(part))
    yield from sorted(one for one in Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))) if one.is_file())


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
