"""YAML files that people write, read with the line of every part: for faults that say where they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from leadline.bench.problem import shortened
from leadline.ordinary_file import opened

# Ten seconds' reading at most, as this parser goes; a study with ten thousand items named has a third of it.
MAX_BYTES = 512 * 1024
_MAX_DEPTH = 20  # a study needs four, a benchmark seven
_TEXT = "tag:yaml.org,2002:str"
_PLAIN = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(0|[1-9][0-9]*)"),
    "tag:yaml.org,2002:float": re.compile(
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", re.IGNORECASE
    ),
}


class YamlFault(Exception):  # noqa: N818 - one fault of a file, told to its reader; not always raised
    """What is wrong with a YAML file: `place` is "line" or "line:column" from 1, "" for the whole file."""

    def __init__(self, message: str, place: str = "", fix: str = "", *, goes_on: bool = False) -> None:
        """`fix` is what to do about it; `goes_on` says that the rest of the file can still be looked at."""
        self.message, self.place, self.fix, self.goes_on = message, place, fix, goes_on
        super().__init__(message)

    def where(self, path: Path) -> str:
        """`path`, with the line where it is known."""
        return f"{path}:{self.place}" if self.place else str(path)


def compose(path: Path) -> yaml.MappingNode:
    """The file as nodes: they carry line numbers and repeated keys, which loaded values no longer do.

    Raises YamlFault where it is not a mapping in UTF-8, and OSError.
    """
    return compose_bytes(read_whole(path))


def read_whole(path: Path) -> bytes:
    """The file's bytes, for `compose_bytes`: no more than show that it is too large. Raises OSError."""
    with opened(path) as file:
        return file.read(MAX_BYTES + 1)


def compose_bytes(data: bytes) -> yaml.MappingNode:
    """The same, of a file's bytes. Raises YamlFault."""
    if len(data) > MAX_BYTES:
        raise YamlFault(f"is larger than {MAX_BYTES:,} bytes", "1")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlFault("the file is UTF-16", "1", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise YamlFault(message, str(line), "save the file as UTF-8") from None
    return compose_text(text)


def compose_text(text: str) -> yaml.MappingNode:
    """The same, of what a file holds. Raises YamlFault."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{mark.line + 1}:{mark.column + 1}" if mark else "1"
        raise YamlFault(f"broken YAML: {error.problem or 'cannot be parsed'}", place) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault("broken YAML: a control character", str(line), "remove it") from None
    except RecursionError:
        raise YamlFault("broken YAML: nested too deeply", "1", f"at most {_MAX_DEPTH} levels") from None
    if node is None:
        raise YamlFault("the file is empty", "1")
    if not isinstance(node, yaml.MappingNode):
        raise YamlFault("expected keys and values", str(line_of(node)))
    return node


def faults(node: yaml.Node) -> Iterator[YamlFault]:
    """Repeated keys, anchors, odd numbers, and what is nested too deeply: each means something unintended."""
    seen: set[int] = set()

    def check(part: yaml.Node, depth: int) -> Iterator[YamlFault]:
        place = str(line_of(part))
        if id(part) in seen:
            yield YamlFault("YAML anchors are not used here", place, "write it out")
            return
        seen.add(id(part))
        if depth > _MAX_DEPTH:
            yield YamlFault("broken YAML: nested too deeply", place, f"at most {_MAX_DEPTH} levels")
            return
        if isinstance(part, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in part.value:
                line = line_of(key)
                name = key.value if isinstance(key, yaml.ScalarNode) else "?"
                if name in first:
                    message = f"the key {shortened(name)} occurs twice, first on line {first[name]}"
                    yield YamlFault(message, str(line), "keep one of them", goes_on=True)
                first.setdefault(name, line)
                yield from check(value, depth + 1)
        elif isinstance(part, yaml.SequenceNode):
            for value in part.value:
                yield from check(value, depth + 1)
        elif part.tag in _PLAIN and not _PLAIN[part.tag].fullmatch(part.value):
            # YAML 1.1 takes 010 for 8, 1:30 for 90 and 0x2 for 2; other readers of the file do not.
            yield YamlFault(
                f"{shortened(part.value)} is not a plain number",
                place,
                "write digits only, such as 48 or 0.7; in quotes if it is a text",
                goes_on=True,
            )

    yield from check(node, 0)


def texts(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Every key and value of a node without `faults`, in the order of the file."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.MappingNode):
        for pair in node.value:
            for part in pair:
                yield from texts(part)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            yield from texts(part)


def plain(node: yaml.Node) -> Any:
    """Plain data of a node without `faults`, by the safe rules. Raises YamlFault where a tag forbids it."""
    constructor = yaml.constructor.SafeConstructor()
    try:
        return constructor.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        raise YamlFault(f"broken YAML: {problem}", str(mark.line + 1) if mark else "") from None


def take_as_written(node: yaml.Node, is_text: Callable[[tuple[Hashable, ...]], bool]) -> None:
    """Let scalars be the text that they are written as, wherever `is_text` says so of their place.

    So `vocabulary: [yes, no]` is two words, not two truth values, and 0.10 keeps its nought. Changes `node`.
    """

    seen: set[int] = set()

    def walk(part: yaml.Node, place: tuple[Hashable, ...]) -> None:
        # An anchor stands in several places; nine of them in each of thirty would be walked for ever.
        if id(part) in seen:
            return
        seen.add(id(part))
        if isinstance(part, yaml.MappingNode):
            for key, value in part.value:
                name = key.value if isinstance(key, yaml.ScalarNode) else None
                if isinstance(key, yaml.ScalarNode) and is_text((*place, name)):
                    key.tag = _TEXT
                walk(value, (*place, name))
        elif isinstance(part, yaml.SequenceNode):
            for number, value in enumerate(part.value):
                walk(value, (*place, number))
        elif is_text(place) and part.tag.startswith("tag:yaml.org,2002:") and part.value:
            part.tag = _TEXT

    walk(node, ())


def follow(node: yaml.Node, location: Sequence[Hashable]) -> tuple[int, list[Hashable]]:
    """Line of the deepest part of `location` that is in the file, and the parts down to it.

    `location` is as pydantic has it: keys, and numbers of entries from 0.
    """
    line, written = line_of(node), list[Hashable]()
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if getattr(k, "value", None) == str(part)), None)
            if pair is None and isinstance(part, int):
                continue  # one entry, written without the list
            if pair is None:
                break
            line, node = line_of(pair[0]), pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = line_of(node)
        elif isinstance(part, int):
            continue
        else:
            break  # a short form: a number for items, a name for a model
        written.append(part)
    return line, written


def line_of(node: yaml.Node) -> int:
    """The line that a node begins on, from 1."""
    return int(node.start_mark.line) + 1
