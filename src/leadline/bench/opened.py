"""What lies at a path: the header, and the item file that belongs to it, before any item is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from leadline.bench.columns import Columns
from leadline.bench.data_statement import data_statement
from leadline.bench.dataset_folder import dataset_files, is_dataset
from leadline.bench.header import (
    HEADER_NAME,
    ITEMS_NAME,
    Format,
    Header,
    is_plain_name,
    line_in_header,
    read_header,
)
from leadline.bench.item_fields import REQUIRED, Surroundings
from leadline.bench.items_file import Placed, read_lines
from leadline.bench.problem import Problems, did_you_mean
from leadline.bench.table import format_of, read_table
from leadline.bench.window_file import WindowFiles
from leadline.errors import UsageError

SOURCES_NAME = "sources"
_HEADER_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Reading:
    """How bare files and datasets are read, where they do not say it themselves: see `Columns`, `Header`."""

    columns: Mapping[str, str] = field(default_factory=dict)
    format: Format | None = None
    split: str | None = None
    config: str | None = None


AS_IT_SAYS = Reading()


@dataclass(frozen=True)
class Opened:
    """A benchmark whose items are about to be read. `header` is None where it has faults.

    `files` are its item files: several only where a dataset comes in parts. `folder` holds windows and
    sources; `origin` is what to open again: the folder, another header in it, or bare items.
    """

    header: Header | None
    files: tuple[Path, ...]
    format: Format
    folder: Path
    origin: Path
    header_file: Path | None = None
    columns: Columns = field(default_factory=Columns)

    @property
    def items(self) -> Path:
        """The item file; of several, what holds them."""
        return self.files[0] if len(self.files) == 1 else self.origin

    @property
    def is_lines(self) -> bool:
        """The items are lines of JSON in our own format: what is not changed can be kept as it is."""
        return self.format == "jsonl" and len(self.files) == 1 and not self.columns.by_field

    def read(self, problems: Problems) -> Iterator[Placed]:
        """The items, in the order of the file; faults go to `problems`. Raises OSError."""
        tasks = {task.name: task for task in self.header.tasks} if self.header else {}
        around = Surroundings(WindowFiles(self.folder), tasks)
        if self.is_lines:
            yield from read_lines(self.items, problems, around)
            return
        # A question may also come from the task.
        asked = any(task.question for task in tasks.values())
        required = [name for name in REQUIRED if name != "question" or not asked]
        yield from read_table(self.files, self.format, self.columns, problems, around, required=required)


def bundled_names() -> tuple[str, ...]:
    """The benchmarks that come with the package."""
    data = files("leadline.bench").joinpath("data")
    if not data.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in data.iterdir() if entry.joinpath(HEADER_NAME).is_file()))


def is_bundled(ref: str) -> bool:
    """Whether a reference means a benchmark of the package: its name, or another header in its folder.

    >>> [is_bundled(ref) for ref in ("licences", "licences/planted", "licences/other", "./licences")]
    [True, True, False, False]
    """
    name, slash, other = ref.partition("/")
    if name not in bundled_names():
        return False
    folder = files("leadline.bench").joinpath("data", name)
    return not slash or (is_plain_name(other) and folder.joinpath(f"{other}.yaml").is_file())


def located(ref: str | Path, stack: ExitStack) -> Path:
    """The path of a bundled name, or `ref` itself. A bundled name wins; write ./facts for a folder.

    "licences/planted" is another header in a bundled folder: planted.yaml beside benchmark.yaml.
    """
    if not isinstance(ref, str) or not is_bundled(ref):
        return Path(ref)
    name, slash, other = ref.partition("/")
    folder = stack.enter_context(as_file(files("leadline.bench").joinpath("data", name)))
    return folder / f"{other}.yaml" if slash else folder


def open_path(path: Path, problems: Problems, reading: Reading = AS_IT_SAYS) -> Opened | None:
    """The benchmark at `path`; None when there is no item file to be read, which is then a problem.

    `reading` says how bare files and datasets are read; a header speaks for itself. Raises UsageError when
    there is nothing of the kind at `path`, OSError where it cannot be read.
    """
    # A folder may hold several sets of items, each with a header of its own, over the same sources.
    if path.suffix in _HEADER_SUFFIXES and path.is_file():
        return _with_header(path, path.parent if path.name == HEADER_NAME else path, problems, reading)
    if path.is_dir():
        if (path / HEADER_NAME).is_file():
            return _with_header(path / HEADER_NAME, path, problems, reading)
        if is_dataset(path):
            dataset = dataset_files(path, reading.split, reading.config)
            return _bare(path.resolve().name, dataset.files, reading.format or dataset.format, path, reading)
        fix = f"a benchmark folder holds {HEADER_NAME} and {ITEMS_NAME}"
        raise UsageError(f"the folder holds no {HEADER_NAME}", where=str(path), fix=fix)
    if path.is_file():
        only_of_datasets(path, reading)
        if (sort := reading.format or format_of(path)) is None:
            raise UsageError("not a benchmark", where=str(path), fix="a folder, or a file of items: --format")
        return _bare(path.stem, (path,), sort, path, reading)
    if path.exists():
        raise UsageError("is no ordinary file", where=str(path), fix="a folder, or a file of items")
    bundled = bundled_names()
    known = f"bundled: {', '.join(bundled) or 'none'}; or the path of a folder or a file of items"
    fix = did_you_mean(str(path), bundled, otherwise=known)
    raise UsageError(f"there is no benchmark {str(path)!r}", fix=fix)


def only_of_datasets(path: Path, reading: Reading) -> None:
    """Raise UsageError where a split or a configuration is asked of a file, which has none."""
    for name in ("split", "config"):
        if getattr(reading, name) is not None:
            fix = f"leave it out, or name the folder: {path.parent}"
            raise UsageError(
                f"--{name} is for the folder of a dataset, and this is a file", where=str(path), fix=fix
            )


def as_name(text: str) -> str:
    """A name that a header can hold, from one that a file has."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:100].strip() or "items"


def _with_header(header_file: Path, origin: Path, problems: Problems, reading: Reading) -> Opened | None:
    if reading != AS_IT_SAYS:
        fix = f"{header_file.name} says how its items are read"
        raise UsageError("columns, format and split are for bare files", where=str(origin), fix=fix)
    folder = header_file.parent
    header = read_header(header_file, problems)
    if header is not None:
        data_statement(header, header_file, problems)  # for its faults
    items = folder / (header.items if header else ITEMS_NAME)
    if not items.is_file():
        what = "is a folder, not a file" if items.is_dir() else "does not exist"
        problems.add(str(items), what, fix=f"'items' in {header_file.name} names the item file")
        return None
    sort = (header.format if header else None) or format_of(items) or "jsonl"
    columns = Columns()
    if header is not None and header.columns:
        columns = Columns(header.columns, partial(line_in_header, header_file, "columns"))
    return Opened(header, (items,), sort, folder, origin, header_file, columns)


def _bare(name: str, found: tuple[Path, ...], sort: Format, origin: Path, reading: Reading) -> Opened:
    header = Header(name=as_name(name), version="unversioned", title=as_name(name))
    folder = origin if origin.is_dir() else origin.parent
    return Opened(header, found, sort, folder, origin, columns=Columns(reading.columns))
