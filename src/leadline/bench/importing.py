"""Makes a benchmark folder of a table or a dataset in another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from leadline.bench.columns import Columns
from leadline.bench.data_statement import README_NAME
from leadline.bench.dataset_card import Card
from leadline.bench.dataset_folder import dataset_files, holds_data
from leadline.bench.header import HEADER_NAME, ITEMS_NAME, Format, Header
from leadline.bench.item_fields import Surroundings
from leadline.bench.loading import cannot_read
from leadline.bench.opened import Reading, as_name, only_of_datasets
from leadline.bench.problem import MAX_PROBLEMS, Problem, Problems
from leadline.bench.table import format_of, read_table
from leadline.bench.whole_file import whole_file
from leadline.bench.window_file import WindowFiles
from leadline.bench.writing import header_text, item_line
from leadline.errors import UsageError

_OLD_README = "README.old.md"


@dataclass
class AllProblems(Problems):
    """Counts every problem of a row and keeps the first thousand; a file that cannot be read on ends it.

    `rows` counts the rows that have any: those of one row come one after the other.
    """

    count: int = 0
    rows: int = 0
    last: Problem | None = None

    def add(self, where: str, message: str, *, item: str | None = None, fix: str = "") -> None:
        """Note a problem."""
        before, self.last = self.last, Problem(where, message, item, fix)
        self.count += 1
        self.rows += before is None or (before.where, before.item) != (where, item)
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(self.last)

    def cut_short(self) -> None:
        """Raise UsageError: half of a file is not to be taken for the whole."""
        if self.last is not None:
            raise UsageError(self.last.message, where=self.last.where, fix=self.last.fix)


@dataclass(frozen=True)
class Imported:
    """What became of a file: `left_out` says why rows are no items and `notes` what else was seen, counted.

    `problems` are the faults of the `faulty` rows that could not be read (the first thousand of `faults`).
    """

    folder: Path
    items: int
    left_out: Mapping[str, int]
    notes: Mapping[str, int]
    problems: tuple[Problem, ...]
    faults: int
    faulty: int
    files: tuple[Path, ...] = field(default=())


def import_benchmark(
    source: Path,
    folder: Path,
    *,
    name: str | None = None,
    version: str = "1",
    licence: str | None = None,
    reading: Reading | None = None,
    force: bool = False,
) -> Imported:
    """Write what `source` (a file, or the folder of a dataset) holds as a benchmark to `folder`.

    Row after row, in constant memory. Rows without an id get `name` and their number. Title, licence and
    data statement are taken from a dataset's card where it says them. Raises UsageError where columns are
    missing, where the file cannot be read to its end, where no item is left, and where `folder` holds
    something, unless `force`: then the files of the benchmark that is there are replaced. A README.md that is
    there is kept as README.old.md, since it would be taken for the new benchmark's data statement.
    """
    reading = reading or Reading()
    try:
        files, sort, card = _find(source, reading)
        if folder.exists() and not folder.is_dir():
            raise UsageError("is a file, not a folder", where=str(folder), fix="--out names a folder")
        if not force and folder.exists() and any(folder.iterdir()):
            raise UsageError("there is something already", where=str(folder), fix="--force replaces it")
        name = as_name(source.resolve().stem) if name is None else name
        header = _header(name, version, licence, card)
        problems = AllProblems()
        around = Surroundings(WindowFiles(source if source.is_dir() else source.parent))
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undo:
            undo.callback(_remove_if_empty, folder)
            count = 0
            with whole_file(folder / ITEMS_NAME) as file:
                rows = read_table(
                    files, sort, Columns(reading.columns), problems, around, numbered=f"{name}-"
                )
                for placed in rows:
                    file.write(item_line(placed.item).encode() + b"\n")
                    count += 1
                if not count:
                    raise _nothing(source, problems)
        if _set_aside(folder / README_NAME, card.text):
            problems.notes[f"the {README_NAME} that was there is now {_OLD_README}"] += 1
        if card.text:
            with whole_file(folder / README_NAME) as file:
                file.write(card.text.encode() + b"\n")
        with whole_file(folder / HEADER_NAME) as file:
            file.write(header_text(header).encode())
    except OSError as error:
        raise _failed(error, source, folder) from error
    return Imported(
        folder, count, Counter(problems.left_out), Counter(problems.notes), tuple(problems.found),
        problems.count, problems.rows, files,
    )  # fmt: skip


def _set_aside(readme: Path, text: str) -> bool:
    """Give an earlier benchmark's README.md another name, unless it says the same."""
    if not readme.is_file() or readme.read_bytes() == text.encode() + b"\n":
        return False
    readme.replace(readme.with_name(_OLD_README))
    return True


def _failed(error: OSError, source: Path, folder: Path) -> UsageError:
    """The error of the operating system as the user's: what was written is told from what was read."""
    place = Path(str(error.filename or source)).absolute()
    target = folder.absolute()
    is_above = target.is_relative_to(place) and not place.is_relative_to(source.absolute())
    if is_above or place.is_relative_to(target):
        fix = "a folder that you may write to, on a disk with room"
        return UsageError(f"cannot be written: {error.strerror or error}", where=str(folder), fix=fix)
    return cannot_read(error, source)


def _find(source: Path, reading: Reading) -> tuple[tuple[Path, ...], Format, Card]:
    if source.is_dir():
        if (source / HEADER_NAME).is_file():
            raise UsageError("is a benchmark already", where=str(source), fix="use it as it is")
        if not holds_data(source):
            raise UsageError("the folder holds no data that is known", where=str(source), fix="name a file")
        dataset = dataset_files(source, reading.split, reading.config)
        return dataset.files, reading.format or dataset.format, dataset.card
    if not source.is_file():
        what = "is no ordinary file" if source.exists() else "there is no such file"
        raise UsageError(what, where=str(source), fix="a file, or the folder of a dataset")
    only_of_datasets(source, reading)
    sort = reading.format or format_of(source)
    if sort is None:
        raise UsageError("the format is not known from the name", where=str(source), fix="--format csv, ...")
    return (source,), sort, Card()


def _header(name: str, version: str, licence: str | None, card: Card) -> Header:
    try:
        return Header(
            name=name,
            version=version,
            title=card.title or name,
            licence=card.licence if licence is None else licence,
            data_statement=README_NAME if card.text else "",
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(f"--{first['loc'][0]} {what}", fix="such as --name rivers --version 1") from None


def _nothing(source: Path, problems: AllProblems) -> UsageError:
    if problems.found:
        first = problems.found[0]
        more = f"; {problems.count - 1:,} more" if problems.count > 1 else ""
        return UsageError(first.message, where=first.where, fix=f"{first.fix}{more}".removeprefix("; "))
    reasons = "; ".join(f"{count:,} rows: {reason}" for reason, count in problems.left_out.items())
    return UsageError(f"no items are left{': ' * bool(reasons)}{reasons}", where=str(source))


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
