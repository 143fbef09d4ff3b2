"""Reads benchmark.yaml, the header of a benchmark folder: every fault with its line, all faults in one go."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from leadline.bench.answer_form import Part, Term
from leadline.bench.complaint import complaint
from leadline.bench.item import ITEM_KEYS
from leadline.bench.problem import Problems, did_you_mean, shortened
from leadline.bench.task import TaskDeclaration
from leadline.bench.yaml_lines import YamlFault, compose, compose_text, faults, follow, plain, take_as_written

HEADER_NAME = "benchmark.yaml"
ITEMS_NAME = "items.jsonl"
Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "squad"]
FORMATS: tuple[str, ...] = get_args(Format)
# Keys of an item in a file: its fields, and short forms that stand for one.
FILE_KEYS = (*ITEM_KEYS, "window_file", "quote")
_REQUIRED = "required: name, version"
_FIXES = {
    "the file is empty": _REQUIRED,
    "expected keys and values": "name: ..., version: ...",
    "'version' must be text": 'put it in quotes, such as version: "1.0"',
}


def _one_line(name: str) -> str:
    if not name or len(name) > 100 or not name.isprintable():
        raise ValueError("must be one line of 1 to 100 characters")
    return name


def _in_this_folder(name: str) -> str:
    if not is_plain_name(name):
        raise ValueError(f"must name a file in this folder, such as {ITEMS_NAME}")
    return name


class Header(BaseModel):
    """What benchmark.yaml says. `items` is the name of the item file, in the same folder.

    `columns` says which column of that file holds which field of an item, where they have other names, and
    `format` what the file is, where its name does not tell. `data_statement` is text, or the name of a file
    in the folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    name: Annotated[str, AfterValidator(_one_line)]
    version: Annotated[str, AfterValidator(_one_line)]
    title: str = ""
    description: str = ""
    kind: Literal["facts", "general"] = "general"
    licence: str = ""
    data_statement: str = ""
    category_name: str = "category"
    task_name: str = "task"
    items: Annotated[str, AfterValidator(_in_this_folder)] = ITEMS_NAME
    format: Format | None = None
    columns: Mapping[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    tasks: tuple[TaskDeclaration, ...] = ()


def read_header(path: Path, problems: Problems) -> Header | None:
    """Read `path`; None when there was any fault, which is then in `problems`.

    Raises OSError where the file cannot be read, TooManyProblemsError when `problems` is full.
    """
    before = len(problems.found)
    try:
        node = compose(path)
        take_as_written(node, _is_written)
        for fault in faults(node):
            _add(fault, path, problems)
            if not fault.goes_on:
                return None
        values = plain(node)
    except YamlFault as fault:
        _add(fault, path, problems)
        return None
    try:
        header = Header.model_validate(values)
    except ValidationError as error:
        placed = [(*follow(node, found["loc"]), found) for found in error.errors(include_url=False)]
        # In the order of the file; missing keys last, for a misspelt one also shows as a missing one.
        placed.sort(key=lambda entry: (entry[2]["type"] == "missing", entry[0]))
        for line, written, found in placed:
            message, fix = _sentence(found, written)
            problems.add(f"{path}:{line}", message, fix=fix)
        return None
    _check_columns(header, path, node, problems)
    _check_tasks(header, path, node, problems)
    return None if len(problems.found) > before else header


def header_of(text: str) -> Header:
    """The header that a sound file holds. Raises YamlFault or pydantic's ValidationError for another."""
    node = compose_text(text)
    take_as_written(node, _is_written)
    return Header.model_validate(plain(node))


def line_in_header(path: Path, *location: Hashable) -> str:
    """`path` with the line of a key, such as ("columns", "answer"): for faults that show only later."""
    try:
        return f"{path}:{follow(compose(path), location)[0]}"
    except (YamlFault, OSError):
        return str(path)


def is_plain_name(name: str) -> bool:
    """A bare file name on every system: a benchmark from elsewhere must not reach outside its folder."""
    return (
        bool(name)
        and "\0" not in name
        and name not in (".", "..")
        and all(flavour(name).name == name for flavour in (PurePosixPath, PureWindowsPath))
    )


def _is_written(place: tuple[Hashable, ...]) -> bool:
    """Words, names of columns and precisions are what stands there: `no` is a word, 0.10 has two digits."""
    if place[0] == "columns":
        return len(place) > 1
    return place[0] == "tasks" and ("vocabulary" in place[:-1] or place[-1] == "precision")


def _add(fault: YamlFault, path: Path, problems: Problems) -> None:
    problems.add(fault.where(path), fault.message, fix=fault.fix or _FIXES.get(fault.message, ""))


def _sentence(found: Any, written: Sequence[Hashable]) -> tuple[str, str]:
    """One fault as pydantic found it, in words, and what to do about it."""
    location = found["loc"]
    if found["type"] == "extra_forbidden":
        model = _section(location)
        known = f"known keys: {', '.join(model.model_fields)}"
        fix = did_you_mean(str(location[-1]), model.model_fields, otherwise=known)
        return f"unknown key {shortened(str(location[-1]))}", fix
    if found["type"] == "missing":
        fix = _REQUIRED if len(location) == 1 else f"required here: {location[-1]}"
        return f"the key {str(location[-1])!r} is missing", fix
    what, remedy = complaint(found)
    place = ".".join(str(part) for part in written if isinstance(part, str))
    return f"{place!r} {what}" if place else what, remedy or _FIXES.get(f"{place!r} {what}", "")


def _section(location: Sequence[Hashable]) -> type[BaseModel]:
    names = [part for part in location[:-1] if isinstance(part, str)]
    if "vocabulary" in names:
        return Term
    if "fields" in names:
        return Part
    return TaskDeclaration if "tasks" in names else Header


def _check_columns(header: Header, path: Path, node: yaml.Node, problems: Problems) -> None:
    for key in header.columns:
        if key not in FILE_KEYS:
            known = f"known fields: {', '.join(FILE_KEYS)}"
            where = f"{path}:{follow(node, ('columns', key))[0]}"
            fix = did_you_mean(key, FILE_KEYS, otherwise=known)
            problems.add(where, f"'columns': an item has no field {shortened(key)}", fix=fix)


def _check_tasks(header: Header, path: Path, node: yaml.Node, problems: Problems) -> None:
    first: dict[str, int] = {}
    for number, task in enumerate(header.tasks):
        line = follow(node, ("tasks", number, "name"))[0]
        where = f"{path}:{line}"
        if task.name in first:
            message = f"the task {shortened(task.name)} is declared twice, first on line {first[task.name]}"
            problems.add(where, message, fix="keep one of them")
        first.setdefault(task.name, line)
        if task.answer_type == "parts" and not task.fields:
            message = f"task {shortened(task.name)}: answers of type 'parts' need 'fields'"
            problems.add(where, message, fix="fields: [{name: ..., answer_type: ...}, ...]")
        if task.fields and task.answer_type != "parts":
            message = f"task {shortened(task.name)} has 'fields', but its answers are not of type 'parts'"
            problems.add(where, message, fix="answer_type: parts")
        names = [part.name for part in task.fields]
        for name in sorted({name for name in names if names.count(name) > 1}):
            problems.add(where, f"task {shortened(task.name)}: two fields are called {shortened(name)}")
