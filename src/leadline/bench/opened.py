"""What lies at a path: the header, and the item file that belongs to it, before any item is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from leadline.bench.header import HEADER_NAME, ITEMS_NAME, Header, is_plain_name, line_in_header, read_header
from leadline.bench.item_fields import Surroundings
from leadline.bench.items_file import Placed, read_lines
from leadline.bench.problem import Problems, did_you_mean
from leadline.bench.window_file import WindowFiles
from leadline.errors import UsageError

README_NAME = "README.md"
SOURCES_NAME = "sources"
_MAX_STATEMENT_BYTES = 1024 * 1024
_HEADER_SUFFIXES = (".yaml", ".yml")
_STATEMENT_SUFFIXES = (".md", ".txt", ".rst", ".html")


@dataclass(frozen=True)
class Opened:
    """A benchmark whose items are about to be read. `header` is None where it has faults.

    `folder` holds windows and sources; `origin` is what to open again: the folder, another header in it, or
    a bare item file.
    """

    header: Header | None
    items: Path
    folder: Path
    origin: Path

    @property
    def is_folder(self) -> bool:
        """A folder with a header, not a bare file of items."""
        return self.origin != self.items

    @property
    def header_file(self) -> Path:
        """The header's file; only a folder has one."""
        return self.folder / HEADER_NAME if self.origin == self.folder else self.origin

    @property
    def is_lines(self) -> bool:
        """The items are lines of JSON in our own format: what is not changed can be kept as it is."""
        return True

    def read(self, problems: Problems) -> Iterator[Placed]:
        """The items, in the order of the file; faults go to `problems`. Raises OSError."""
        tasks = {task.name: task for task in self.header.tasks} if self.header else {}
        around = Surroundings(WindowFiles(self.folder), tasks)
        yield from read_lines(self.items, problems, around)


def bundled_names() -> tuple[str, ...]:
    """The benchmarks that come with the package."""
    data = files("leadline.bench").joinpath("data")
    if not data.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in data.iterdir() if entry.joinpath(HEADER_NAME).is_file()))


def located(ref: str | Path, stack: ExitStack) -> Path:
    """The path of a bundled name, or `ref` itself. A bundled name wins; write ./facts for a folder.

    "licences/planted" is another header in a bundled folder: planted.yaml beside benchmark.yaml.
    """
    if not isinstance(ref, str):
        return ref
    name, slash, other = ref.partition("/")
    if name not in bundled_names():
        return Path(ref)
    folder = files("leadline.bench").joinpath("data", name)
    if not slash:
        return stack.enter_context(as_file(folder))
    if is_plain_name(other) and folder.joinpath(f"{other}.yaml").is_file():
        return stack.enter_context(as_file(folder)) / f"{other}.yaml"
    return Path(ref)


def open_path(path: Path, problems: Problems) -> Opened | None:
    """The benchmark at `path`; None when there is no item file to be read, which is then a problem.

    Raises UsageError when there is nothing of the kind at `path`, OSError where it cannot be read.
    """
    # A folder may hold several sets of items, each with a header of its own, over the same sources.
    name = HEADER_NAME
    if path.is_file() and path.suffix in _HEADER_SUFFIXES:
        path, name = path.parent, path.name
    if path.is_dir():
        if not (path / name).is_file():
            fix = f"a benchmark folder holds {HEADER_NAME} and {ITEMS_NAME}"
            raise UsageError(f"the folder holds no {HEADER_NAME}", where=str(path), fix=fix)
        header = read_header(path / name, problems)
        if header is not None:
            data_statement(header, path, problems)
        items = path / (header.items if header else ITEMS_NAME)
        if not items.is_file():
            what = "is a folder, not a file" if items.is_dir() else "does not exist"
            problems.add(str(items), what, fix=f"'items' in {name} names the item file")
            return None
        return Opened(header, items, path, path if name == HEADER_NAME else path / name)
    if path.is_file():
        if path.suffix != ".jsonl":
            raise UsageError("not a benchmark", where=str(path), fix="a folder or a .jsonl file")
        bare = Header(name=path.stem, version="unversioned", title=path.stem)
        return Opened(bare, path, path.parent, path)
    bundled = bundled_names()
    known = f"bundled: {', '.join(bundled) or 'none'}; or the path of a folder or a .jsonl file"
    fix = did_you_mean(str(path), bundled, otherwise=known)
    raise UsageError(f"there is no benchmark {str(path)!r}", fix=fix)


def statement_file(header: Header, folder: Path) -> Path | None:
    """The file that holds the data statement: the one that is named, or README.md where nothing is said."""
    named = header.data_statement or README_NAME
    if not is_plain_name(named) or "\n" in named:
        return None
    path = folder / named
    must_be = bool(header.data_statement) and path.suffix in _STATEMENT_SUFFIXES and " " not in named
    return path if must_be or path.is_file() else None


def data_statement(header: Header, folder: Path, problems: Problems) -> str:
    """The text of the data statement; a file that is named and cannot be read is a problem."""
    if (path := statement_file(header, folder)) is None:
        return header.data_statement
    where = line_in_header(folder / HEADER_NAME, "data_statement")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_STATEMENT_BYTES + 1)
    except OSError as error:
        problems.add(where, f"'data_statement': {path.name} cannot be read: {error.strerror}")
        return ""
    if len(data) > _MAX_STATEMENT_BYTES:
        problems.add(where, f"'data_statement': {path.name} is larger than {_MAX_STATEMENT_BYTES:,} bytes")
        return ""
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        problems.add(where, f"'data_statement': {path.name} is not UTF-8: {byte}", fix="save it as UTF-8")
        return ""
