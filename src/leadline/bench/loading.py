"""Reads a benchmark into memory: its sound items, and everything that is wrong with it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from leadline.bench.benchmark import Benchmark
from leadline.bench.data_statement import data_statement
from leadline.bench.header import Header
from leadline.bench.item import Item
from leadline.bench.opened import AS_IT_SAYS, Opened, Reading, located, open_path
from leadline.bench.problem import Problem, Problems, TooManyProblemsError
from leadline.errors import UsageError

NO_ITEMS_FIX = "one JSON object a line; of a table, one row below the names"


@dataclass(frozen=True)
class Inspection:
    """What was found at a path: the benchmark (of its sound items, None without any), and what is wrong."""

    source: str  # the item file, as the user would name it
    benchmark: Benchmark | None
    problems: tuple[Problem, ...]
    positions: Mapping[str, str] = field(default_factory=dict)  # item id -> file:line
    left_out: Mapping[str, int] = field(default_factory=dict)  # why rows are no items -> how many


def inspect_benchmark(ref: str | Path, reading: Reading = AS_IT_SAYS) -> Inspection:
    """Read a benchmark and list all its faults instead of raising at the first.

    `ref` is a bundled name, or a path: of a folder (benchmark.yaml and its items), of a header in it, or of
    bare items (JSON lines, CSV, Parquet, a dataset's folder, ...), which `reading` may say how to read. A
    bundled name wins over a folder of the same name; write ./facts for the folder. Raises UsageError when
    there is nothing of the kind at `ref`.
    """
    problems = Problems()
    with ExitStack() as stack:
        path = located(ref, stack)
        try:
            opened = open_path(path, problems, reading)
            return _read(opened, path, problems)
        except TooManyProblemsError:
            return Inspection(str(path), None, tuple(problems.found))
        except OSError as error:
            raise cannot_read(error, path) from error
        except ValueError as error:  # a path with a NUL character
            raise not_a_path(error) from error


def load_benchmark(ref: str | Path, reading: Reading = AS_IT_SAYS) -> Benchmark:
    """The benchmark at `ref` (see `inspect_benchmark`), or one UsageError that shows its first fault.

    >>> load_benchmark("facts").kind
    'facts'
    """
    inspection = inspect_benchmark(ref, reading)
    if inspection.problems or inspection.benchmark is None:
        first, more = inspection.problems[0], len(inspection.problems) - 1
        item = f"item {first.item}: " if first.item else ""
        rest = (
            f"; and {more} more, listed by: leadline bench validate {shlex.quote(str(ref))}" if more else ""
        )
        raise UsageError(
            f"{item}{first.message}", where=first.where, fix=f"{first.fix}{rest}".removeprefix("; ")
        )
    return inspection.benchmark


def cannot_read(error: OSError, path: Path) -> UsageError:
    """The error of the operating system as the user's."""
    return UsageError(f"cannot be read: {error.strerror or error}", where=str(error.filename or path))


def not_a_path(error: ValueError) -> UsageError:
    """A text that no path can be."""
    return UsageError(f"not a path: {error}", fix="a bundled name, a folder or a file of items")


def _read(opened: Opened | None, path: Path, problems: Problems) -> Inspection:
    if opened is None:
        return Inspection(str(path), None, tuple(problems.found))
    items: list[Item] = []
    positions: dict[str, str] = {}
    for placed in opened.read(problems):
        items.append(placed.item)
        positions[placed.item.id] = placed.where
    if not items and not problems.found:
        problems.add(f"{opened.items}:1", "the file holds no items", fix=NO_ITEMS_FIX)
    benchmark = None
    if opened.header is not None and items:
        benchmark = _benchmark(opened.header, tuple(items), opened)
    return Inspection(str(opened.items), benchmark, tuple(problems.found), positions, dict(problems.left_out))


def _benchmark(header: Header, items: tuple[Item, ...], opened: Opened) -> Benchmark:
    said = {name: getattr(header, name) for name in Benchmark.model_fields if name != "items"}
    # Its faults were noted when the folder was opened.
    if opened.header_file is not None:
        said["data_statement"] = data_statement(header, opened.header_file, Problems())
    return Benchmark(**said, items=items).from_origin(opened.origin)
