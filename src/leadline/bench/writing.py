"""Writes a benchmark folder. What was read and not changed keeps its bytes, line by line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from leadline.bench.benchmark import Benchmark
from leadline.bench.data_statement import data_statement, statement_file
from leadline.bench.header import HEADER_NAME, ITEMS_NAME, Header
from leadline.bench.item import Item
from leadline.bench.opened import Opened, open_path
from leadline.bench.patched_header import patched
from leadline.bench.problem import Problems, TooManyProblemsError
from leadline.bench.task import TAKEN_OVER, TaskDeclaration
from leadline.bench.whole_file import whole_file
from leadline.bench.window_file import WindowFiles
from leadline.errors import UsageError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class _Origin:
    """The lines of the file that the items came from: id -> where the bytes of its line lie."""

    path: Path | None = None
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    windows: dict[str, str] = field(default_factory=dict)  # id -> window_file
    last: str | None = None  # the id on the last line
    end: int = 0
    line_end: bytes = b"\n"


def write_benchmark(benchmark: Benchmark, folder: Path) -> None:
    """Write `folder`/benchmark.yaml and its items, in the order of the items; makes the folder if need be.

    Reading it back gives an equal benchmark. An item that still is what its line in `benchmark.origin` says
    is written as that line, byte for byte, with the window file that it names; of the header, only what is
    said otherwise is changed. Other items are written with their window inline, without fields at their
    default or as their task declares them; category and task as `domain` and `relation` where the benchmark
    calls them that. Sources are not copied. Each file is whole or not there. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    before = _opened(benchmark)
    header = _header(benchmark, before)
    origin = _origin(benchmark, header, before)
    with whole_file(folder / header.items) as file, ExitStack() as stack:
        source = stack.enter_context(origin.path.open("rb")) if origin.path else None
        for piece in _pieces(benchmark, origin, source):
            file.write(piece)
    if before is not None and before.folder.resolve() != folder.resolve():
        _copy_windows(before.folder, folder, {origin.windows[name] for name in origin.windows})
        if _same_statement(benchmark, before) and before.header is not None:
            statement = statement_file(before.header, before.folder)
            if statement is not None and statement.is_file():
                shutil.copyfile(statement, folder / statement.name)
    _write_header(header, folder, before)


def item_line(item: Item, task: TaskDeclaration | None = None, names: Mapping[str, str] | None = None) -> str:
    """An item as a line of items.jsonl, without its end: what its `task` declares is left out.

    `names` are other keys for fields, such as {"category": "domain"}.
    """
    entry = item.model_dump(mode="json", exclude_defaults=True)
    for name in TAKEN_OVER if task else ():
        declared = getattr(task, name)
        if declared in (None, ()):
            continue
        if getattr(item, name) == declared:
            entry.pop(name, None)
        else:  # said even where it is the default, else the task would be asked
            entry[name] = item.model_dump(mode="json", include={name})[name]
    if item.precision is not None and "precision" in entry:
        entry["precision"] = str(item.precision)
    names = names or {}
    return json.dumps({names.get(key, key): value for key, value in entry.items()}, ensure_ascii=False)


def header_text(header: Header) -> str:
    """A header as benchmark.yaml holds it: what is at its default is left out."""
    values = header.model_dump(mode="json", exclude_defaults=True)
    values["items"] = header.items
    if header.tasks:
        values["tasks"] = [_short(task) for task in values.pop("tasks")]
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)


def _opened(benchmark: Benchmark) -> Opened | None:
    """Where it came from, if that is still there and sound."""
    if benchmark.origin is None:
        return None
    try:
        opened = open_path(benchmark.origin, Problems())
    except (OSError, UsageError, TooManyProblemsError):
        return None
    return opened if opened is not None and opened.header is not None else None


def _header(benchmark: Benchmark, before: Opened | None) -> Header:
    said = {name: getattr(benchmark, name) for name in Benchmark.model_fields if name != "items"}
    items = ITEMS_NAME
    if before is not None and before.header_file is not None and before.header is not None:
        if _same_statement(benchmark, before):
            said["data_statement"] = before.header.data_statement
        if before.is_lines:
            items = before.header.items
            said["format"] = before.header.format
    return Header(**said, items=items)


def _same_statement(benchmark: Benchmark, before: Opened) -> bool:
    if before.header_file is None or before.header is None:
        return False
    return data_statement(before.header, before.header_file, Problems()) == benchmark.data_statement


def _origin(benchmark: Benchmark, header: Header, before: Opened | None) -> _Origin:
    """The lines of the origin that, under the new header, say what the benchmark's items are."""
    if before is None or not before.is_lines:
        return _Origin()
    origin = _Origin(before.items)
    problems = Problems()
    end = 0
    try:
        for placed in replace(before, header=header).read(problems):
            if not origin.lines and _ends_in_carriage_return(before.items, placed.start, placed.size):
                origin.line_end = b"\r\n"
            # Blank lines before it go with it; a faulty line does not.
            start = placed.start if problems.found else end
            end = placed.start + placed.size
            origin.last = placed.item.id
            if benchmark.by_id.get(placed.item.id) == placed.item:
                origin.lines[placed.item.id] = (start, end - start)
                if placed.window_file is not None:
                    origin.windows[placed.item.id] = placed.window_file
    except (OSError, TooManyProblemsError):
        return _Origin()
    origin.end = end
    return origin


def _pieces(benchmark: Benchmark, origin: _Origin, source: BinaryIO | None) -> Iterator[bytes]:
    names = {
        "category": "domain" if benchmark.category_name == "domain" else "category",
        "task": "relation" if benchmark.task_name == "relation" else "task",
    }
    tasks = {task.name: task for task in benchmark.tasks}
    final = len(benchmark.items) - 1
    for number, item in enumerate(benchmark.items):
        if source is None or item.id not in origin.lines:
            line = item_line(item, tasks.get(item.task), names)
            yield line.encode() + origin.line_end
            continue
        start, size = origin.lines[item.id]
        source.seek(start)
        piece = source.read(size)
        if number and start == 0:
            piece = piece.removeprefix(_BYTE_ORDER_MARK)
        if not piece.endswith(b"\n") and number != final:
            piece += origin.line_end
        yield piece
        if number == final and item.id == origin.last:
            source.seek(origin.end)
            if not (rest := source.read(1024)).strip():
                yield rest


def _write_header(header: Header, folder: Path, before: Opened | None) -> None:
    text = None
    if before is not None and before.header_file is not None and before.header is not None:
        text = before.header_file.read_bytes().decode()  # with its byte order mark and line ends
        if before.header != header:
            text = patched(text, before.header, header)
    data = (header_text(header) if text is None else text).encode()
    with whole_file(folder / HEADER_NAME) as file:
        file.write(data)


def _copy_windows(source: Path, target: Path, names: set[str]) -> None:
    files = WindowFiles(source)
    for name in sorted(names):
        found = files.find(name)
        place = target / found.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, place)


def _ends_in_carriage_return(path: Path, start: int, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(start + max(size - 2, 0))
        return file.read(2) == b"\r\n"


def _short(values: dict[str, Any]) -> dict[str, Any]:
    """A declaration with its vocabulary in the short form that people write."""
    short = dict(values)
    if terms := short.get("vocabulary"):
        plain = not any(term.get("synonyms") for term in terms)
        short["vocabulary"] = (
            [term["value"] for term in terms]
            if plain
            else {term["value"]: term.get("synonyms", []) for term in terms}
        )
    if "fields" in short:
        short["fields"] = [_short(part) for part in short["fields"]]
    return short
