"""A benchmark: a named, versioned, content-hashed set of items; its folder, read and written."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from leadline.bench.answer_form import AnswerForm
from leadline.bench.header import HEADER_NAME, ITEMS_NAME, Header, read_header
from leadline.bench.item import Item
from leadline.bench.items_file import read_items
from leadline.bench.problem import Problem, Problems, TooManyProblemsError, did_you_mean
from leadline.bench.subset import draw
from leadline.errors import UsageError


class Benchmark(BaseModel):
    """Items, and what they are called; `category_name` and `task_name` are this field's words for the groups.

    Never empty, ids unique: pydantic's ValidationError otherwise.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: str
    title: str = ""
    description: str = ""
    kind: Literal["facts", "general"] = "general"
    licence: str = ""
    category_name: str = "category"
    task_name: str = "task"
    items: tuple[Item, ...]

    @model_validator(mode="after")
    def _items_are_a_set(self) -> Self:
        if not self.items:
            raise ValueError("a benchmark has at least one item")
        if len({item.id for item in self.items}) != len(self.items):
            raise ValueError("two items have the same id")
        return self

    @cached_property
    def content_hash(self) -> str:
        """See `content_hash`, the function."""
        return content_hash(self.items)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """Items by their id."""
        return {item.id: item for item in self.items}

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The categories that occur, sorted; "" for items without one."""
        return tuple(sorted({item.category for item in self.items}))

    def subset(
        self, limit: int | None = None, seed: int = 0, categories: Collection[str] | None = None
    ) -> Benchmark:
        """At most `limit` items, only of `categories` if given: see `leadline.bench.subset.draw`.

        Independent of the order of the file; a larger limit only adds items. Sorted by id. Raises UsageError
        for a limit below 1 and for a category that does not occur.
        """
        for category in categories or ():
            if category not in self.categories:
                known = f"in this benchmark: {', '.join(name or '(none)' for name in self.categories)}"
                raise UsageError(
                    f"{self.name}: no {self.category_name} is called {category!r}",
                    fix=did_you_mean(category, self.categories, otherwise=known),
                )
        if limit is not None and limit < 1:
            raise UsageError(f"a limit of {limit} items leaves nothing to ask", fix="at least 1")
        chosen = [item for item in self.items if categories is None or item.category in categories]
        if not chosen:
            raise UsageError(f"{self.name}: no categories were named", fix="leave them out to take all")
        return self.with_items(draw(chosen, limit or len(chosen), seed))

    def with_items(self, items: tuple[Item, ...]) -> Benchmark:
        """The same benchmark with other items."""
        # A copy of the fields, not model_copy: the cached hash and index belong to the old items.
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return Benchmark(**{**kept, "items": items})


def content_hash(items: Iterable[Item]) -> str:
    """sha256 over what decides how items are asked and judged, as "sha256:<hex>".

    That is id, question, window, prompt, answer, aliases (as a set), answer type and how answers are read, as
    canonical JSON, sorted by id.
    Fields at their default are left out, so that an optional field that a later version adds changes no
    hash. Grouping, subject and evidence are not part of it: they move no answer and no verdict.
    """
    canonical = []
    for item in sorted(items, key=lambda item: item.id):
        entry: dict[str, object] = {"id": item.id, "question": item.question, "answer": item.answer}
        if aliases := sorted(set(item.aliases) - {item.answer}):
            entry["aliases"] = aliases
        if item.answer_type != "text":
            entry["answer_type"] = item.answer_type
        if item.window is not None:
            entry["window"] = item.window
        # How it is asked and read, where anything is declared about that.
        for name in (*AnswerForm.model_fields, "fields", "prompt"):
            if getattr(item, name) not in (None, ()):
                entry[name] = item.model_dump(mode="json", include={name}, exclude_defaults=True)[name]
        canonical.append(entry)
    text = json.dumps(canonical, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True)
class Inspection:
    """What was found at a path: the benchmark (of its sound items, None without any), and what is wrong."""

    source: str  # the item file, as the user would name it
    benchmark: Benchmark | None
    problems: tuple[Problem, ...]
    positions: Mapping[str, str] = field(default_factory=dict)  # item id -> file:line


def bundled_names() -> tuple[str, ...]:
    """The benchmarks that come with the package."""
    data = files("leadline.bench").joinpath("data")
    if not data.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in data.iterdir() if entry.joinpath(HEADER_NAME).is_file()))


def inspect_benchmark(ref: str | Path) -> Inspection:
    """Read a benchmark and list all its faults instead of raising at the first.

    `ref` is a bundled name, or a path of a folder (benchmark.yaml and its items) or of a bare .jsonl file.
    A bundled name wins over a folder of the same name; write ./facts for the folder. Raises UsageError when
    there is nothing of the kind at `ref`.
    """
    problems = Problems()
    with ExitStack() as stack:
        if isinstance(ref, str) and ref in bundled_names():
            path = stack.enter_context(as_file(files("leadline.bench").joinpath("data", ref)))
        else:
            path = Path(ref)
        try:
            return _inspect(path, problems)
        except TooManyProblemsError:
            return Inspection(str(path), None, tuple(problems.found))
        except OSError as error:
            where = str(error.filename or path)
            raise UsageError(f"cannot be read: {error.strerror or error}", where=where) from error
        except ValueError as error:  # a path with a NUL character
            raise UsageError(
                f"not a path: {error}", fix="a bundled name, a folder or a .jsonl file"
            ) from error


def _inspect(path: Path, problems: Problems) -> Inspection:
    if path.is_file() and path.name == HEADER_NAME:
        path = path.parent
    header: Header | None
    if path.is_dir():
        if not (path / HEADER_NAME).is_file():
            fix = f"a benchmark folder holds {HEADER_NAME} and {ITEMS_NAME}"
            raise UsageError(f"the folder holds no {HEADER_NAME}", where=str(path), fix=fix)
        header = read_header(path / HEADER_NAME, problems)
        items_path = path / (header.items if header else ITEMS_NAME)
        if not items_path.is_file():
            what = "is a folder, not a file" if items_path.is_dir() else "does not exist"
            problems.add(str(items_path), what, fix=f"'items' in {HEADER_NAME} names the item file")
            return Inspection(str(items_path), None, tuple(problems.found))
    elif path.is_file():
        if path.suffix != ".jsonl":
            raise UsageError("not a benchmark", where=str(path), fix="a folder or a .jsonl file")
        header, items_path = Header(name=path.stem, version="unversioned", title=path.stem), path
    else:
        bundled = bundled_names()
        known = f"bundled: {', '.join(bundled) or 'none'}; or the path of a folder or a .jsonl file"
        fix = did_you_mean(str(path), bundled, otherwise=known)
        raise UsageError(f"there is no benchmark {str(path)!r}", fix=fix)
    found = read_items(items_path, problems)
    if not found and not problems.found:
        problems.add(f"{items_path}:1", "the file holds no items", fix="one JSON object a line")
    items = tuple(item for item, _ in found.values())
    benchmark = Benchmark(**header.model_dump(exclude={"items"}), items=items) if header and items else None
    positions = {identity: f"{items_path}:{line}" for identity, (_, line) in found.items()}
    return Inspection(str(items_path), benchmark, tuple(problems.found), positions)


def load_benchmark(ref: str | Path) -> Benchmark:
    """The benchmark at `ref` (see `inspect_benchmark`), or one UsageError that shows its first fault.

    >>> load_benchmark("facts").kind
    'facts'
    """
    inspection = inspect_benchmark(ref)
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


def write_benchmark(benchmark: Benchmark, folder: Path) -> None:
    """Write `folder`/benchmark.yaml and items.jsonl, in the order of the items; makes the folder if need be.

    Reading it back gives an equal benchmark. Fields at their default are left out; category and task are
    written as `domain` and `relation` where the benchmark calls them that.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = Header(**benchmark.model_dump(exclude={"items"})).model_dump()
    names = {
        "category": "domain" if benchmark.category_name == "domain" else "category",
        "task": "relation" if benchmark.task_name == "relation" else "task",
    }
    lines = []
    for item in benchmark.items:
        entry = item.model_dump(mode="json", exclude_defaults=True)
        lines.append(
            json.dumps({names.get(key, key): value for key, value in entry.items()}, ensure_ascii=False)
        )
    (folder / ITEMS_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
    (folder / HEADER_NAME).write_text(text, encoding="utf-8", newline="\n")
