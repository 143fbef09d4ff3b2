"""Reads benchmark.yaml, the header of a benchmark folder: flat, text only, every fault with its line."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from leadline.bench.problem import Problems, did_you_mean, shortened

HEADER_NAME = "benchmark.yaml"
ITEMS_NAME = "items.jsonl"
MAX_HEADER_BYTES = 1024 * 1024
_KINDS = ("facts", "general")


class Header(BaseModel):
    """What benchmark.yaml says. `items` is the name of the item file, in the same folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: str
    title: str = ""
    description: str = ""
    kind: Literal["facts", "general"] = "general"
    licence: str = ""
    category_name: str = "category"
    task_name: str = "task"
    items: str = ITEMS_NAME


def read_header(path: Path, problems: Problems) -> Header | None:
    """Read `path`; None when there was any fault, which is then in `problems`.

    Raises OSError where the file cannot be read, TooManyProblemsError when `problems` is full.
    """
    before = len(problems.found)
    if (root := _compose(path, problems)) is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        problems.add(
            f"{path}:{root.start_mark.line + 1}", "expected keys and values", fix="name: ..., version: ..."
        )
        return None
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for key_node, value_node in root.value:
        line = key_node.start_mark.line + 1
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else "?"
        where = f"{path}:{line}"
        if key not in Header.model_fields:
            known = f"known keys: {', '.join(Header.model_fields)}"
            fix = did_you_mean(key, Header.model_fields, otherwise=known)
            problems.add(where, f"unknown key {shortened(key)}", fix=fix)
        elif key in lines:
            problems.add(
                where, f"the key {key!r} occurs twice, first on line {lines[key]}", fix="keep one of them"
            )
        elif not isinstance(value_node, yaml.ScalarNode) or value_node.tag != "tag:yaml.org,2002:str":
            problems.add(where, f"{key!r} must be text", fix='put it in quotes, such as version: "1.0"')
        else:
            values[key] = value_node.value.strip()
        lines.setdefault(key, line)
    for key in ("name", "version"):
        if key not in lines:
            problems.add(f"{path}:1", f"the key {key!r} is missing", fix="required: name, version")
        elif key in values and (not values[key] or len(values[key]) > 100 or not values[key].isprintable()):
            problems.add(f"{path}:{lines[key]}", f"{key!r} must be one line of 1 to 100 characters")
    if values.get("kind", "general") not in _KINDS:
        problems.add(
            f"{path}:{lines['kind']}",
            f"unknown kind {shortened(values['kind'])}",
            fix=f"one of: {', '.join(_KINDS)}",
        )
    if "items" in values and not _is_plain_name(values["items"]):
        problems.add(
            f"{path}:{lines['items']}", "'items' must name a file in this folder", fix=f"items: {ITEMS_NAME}"
        )
    return None if len(problems.found) > before else Header.model_validate(values)


def _compose(path: Path, problems: Problems) -> yaml.Node | None:
    """The document as nodes: they carry line numbers and repeated keys, which loaded values no longer do."""
    with path.open("rb") as file:
        data = file.read(MAX_HEADER_BYTES + 1)
    if len(data) > MAX_HEADER_BYTES:
        problems.add(
            f"{path}:1",
            f"the header is longer than {MAX_HEADER_BYTES:,} bytes",
            fix=f"items belong in {ITEMS_NAME}",
        )
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} of the file"
        problems.add(f"{path}:{line}", message, fix="save the file as UTF-8")
        return None
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}:1"
        problems.add(where, f"broken YAML: {error.problem or 'cannot be parsed'}")
        return None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problems.add(f"{path}:{line}", "broken YAML: a control character", fix="remove it")
        return None
    except RecursionError:
        problems.add(f"{path}:1", "broken YAML: nested too deeply")
        return None
    if node is None:
        problems.add(f"{path}:1", "the file is empty", fix="required: name, version")
    return node


def _is_plain_name(name: str) -> bool:
    """A bare file name on every system: a benchmark from elsewhere must not reach outside its folder."""
    return (
        bool(name)
        and "\0" not in name
        and name not in (".", "..")
        and all(flavour(name).name == name for flavour in (PurePosixPath, PureWindowsPath))
    )
