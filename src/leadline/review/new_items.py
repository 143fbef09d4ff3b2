"""From labels to a benchmark: a folder with items, windows cut around their quotes, and the sources."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from leadline.audit.matching import match_quote
from leadline.bench.benchmark import Benchmark
from leadline.bench.header import Header
from leadline.bench.item import Item
from leadline.bench.loading import load_benchmark
from leadline.bench.opened import as_name
from leadline.bench.whole_file import whole_file
from leadline.bench.writing import write_benchmark
from leadline.documents import Sources, UnreadableDocument
from leadline.documents.index import INDEX_NAME
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import LeadlineError, UsageError
from leadline.review.labels import FILE, Label, read_labels
from leadline.review.passages import Documents, OpenDocument
from leadline.review.places import review_folder
from leadline.review.windows import GAP, window_of

README = "README.md"
_TAKEN_OVER = ("category_name", "task_name", "tasks")
WINDOW = 4_000


@dataclass(frozen=True)
class LeftOut:
    """A label that becomes no item, and why."""

    item: str
    question: str
    reason: str


@dataclass(frozen=True)
class NewItems:
    """A benchmark of labels, the labels that it was made of, what was left out, and its sources' names."""

    benchmark: Benchmark
    labels: tuple[Label, ...]
    left_out: tuple[LeftOut, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """Labels, the folder of the documents that they are about, and what their benchmark is to be called."""

    labels: Mapping[str, Label]
    sources: Path
    about: Header


def named(
    source: str,
    out: Path,
    *,
    name: str | None = None,
    version: str = "1",
    into: Path | None = None,
    sources: Path | None = None,
) -> Found:
    """What a command line means by `source`: a file of labels, or a benchmark, whose review folder has one.

    Tasks are the benchmark's. Documents are `sources`; else the benchmark's own; else those in a
    folder `sources` beside the labels, or beside their folder. Raises UsageError.
    """
    called = {"name": as_name(out.resolve().name) if name is None else name, "version": version}
    path = Path(source)
    if path.suffix == ".jsonl" and path.is_file():
        beside = [folder / FOLDER_NAME for folder in (path.parent, path.parent.parent)]
        place = sources or next((folder for folder in beside if folder.is_dir()), beside[0])
        about: dict[str, object] = {}
    else:
        benchmark = load_benchmark(source)
        path = review_folder(benchmark, into) / FILE
        origin = benchmark.origin or Path()
        place = sources or (origin if origin.is_dir() else origin.parent) / FOLDER_NAME
        about = {key: getattr(benchmark, key) for key in _TAKEN_OVER}
    labels = read_labels(path)
    if not labels:
        raise UsageError(
            "there are no labels", where=str(path), fix="leadline review serve, or --into FOLDER"
        )
    try:
        header = Header.model_validate({**about, **called})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = first["msg"].removeprefix("Value error, ")
        raise UsageError(what, where=f"--{first['loc'][0]}") from None
    return Found(labels, place, header)


def new_items(
    labels: Mapping[str, Label], documents: Documents, about: Header, window: int = WINDOW
) -> NewItems:
    """The benchmark that `labels` make; `about` says what it is called and which tasks it declares.

    Each quote must stand where its label says, in a document that is still the one that was read; else the
    label is left out, as are those that the text could not settle. `window` is the most characters that a
    window has. Raises UsageError where no item is left.
    """
    items: list[Item] = []
    used: list[Label] = []
    left_out: list[LeftOut] = []
    names: dict[str, None] = {}
    for label in labels.values():
        made = (
            f"the text cannot settle it: {label.reason}"
            if label.unsettled
            else _item(label, documents, window)
        )
        if isinstance(made, str):
            left_out.append(LeftOut(label.id, label.question, made))
            continue
        items.append(made)
        used.append(label)
        names.update(dict.fromkeys(proof.source for proof in label.evidence))
    if not items:
        why = left_out[0].reason if left_out else "there are none"
        raise UsageError("no label makes an item", where=FILE, fix=f"the first: {why}" if left_out else why)
    present = {item.task for item in items}
    tasks = tuple(task for task in about.tasks if task.name in present)
    said = {name: getattr(about, name) for name in Benchmark.model_fields if name not in ("items", "tasks")}
    said["data_statement"] = data_statement(about, used, left_out)
    benchmark = Benchmark(**said, tasks=tasks, items=tuple(items))
    return NewItems(benchmark, tuple(used), tuple(left_out), tuple(names))


def write_new_items(made: NewItems, sources: Sources, out: Path) -> None:
    """Write the folder `out`, whole or not at all: benchmark.yaml, items.jsonl, README.md, labels.jsonl (who
    labelled what, and where the quotes stand) and copies of the sources.

    Raises UsageError where something is there, LeadlineError where it cannot be written.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(
            "there is something already", where=str(out), fix="name another folder: --out FOLDER"
        )
    part = out.with_name(f".{out.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        write_benchmark(made.benchmark.replaced(data_statement=README), part)
        (part / README).write_text(made.benchmark.data_statement, encoding="utf-8", newline="\n")
        with whole_file(part / FILE) as file:
            for label in made.labels:
                file.write(label.model_dump_json(exclude_defaults=True).encode() + b"\n")
        for name in made.sources:
            place = part / FOLDER_NAME / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(sources.path(name), place)
        if (index := sources.folder / INDEX_NAME).is_file():
            shutil.copyfile(index, part / FOLDER_NAME / INDEX_NAME)
        part.rename(out)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        place = Path(str(error.filename or out))
        raise LeadlineError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def data_statement(about: Header, labels: Sequence[Label], left_out: Sequence[LeftOut]) -> str:
    """How the labels came about, as counts: a beginning for whoever releases them."""
    readers = Counter(label.reader for label in labels)
    days = sorted(label.date for label in labels)
    sources = {proof.source for label in labels for proof in label.evidence}
    by = ", ".join(f"{name} ({count:,})" for name, count in sorted(readers.items()))
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    lines = [
        f"# {about.title or about.name}",
        "",
        f"{len(labels):,} questions answered from {len(sources):,} documents, {when}, by {by}. Each answer "
        "rests on quotes that were marked in its document; where they stand is in labels.jsonl.",
    ]
    if left_out:
        lines += ["", f"Left out: {len(left_out):,}.", ""]
        lines += [f"- {' '.join(one.question.split())}: {' '.join(one.reason.split())}" for one in left_out]
    return "\n".join(lines) + "\n"


def _item(label: Label, documents: Documents, window: int) -> Item | str:
    """The item of a label, or why there is none."""
    if label.unsettled:
        return f"the text cannot settle it: {label.reason}"
    places: dict[str, list[tuple[int, int]]] = {}
    held: dict[str, OpenDocument] = {}
    for proof in label.evidence:
        number = documents.number_of(proof.source)
        if number is None:
            return f"{proof.source} is not among the sources"
        try:
            document = documents.open(number)
        except UnreadableDocument as error:
            return f"{proof.source} {error.what}"
        if document is None or document.sha256 != proof.sha256:
            return f"{proof.source} was changed since it was labelled"
        if document.text[proof.start : proof.end] != proof.quote:
            return f"a quote does not stand where its label says, in {proof.source}"
        held[proof.source] = document
        places.setdefault(proof.source, []).append((proof.start, proof.end))
    if not places:
        return "it has no quote"
    quotes = [proof.quote for proof in label.evidence]
    own = label.window
    if own is None or not all(match_quote(quote, own).found for quote in quotes):
        share = max((window - len(GAP) * (len(places) - 1)) // len(places), 1)
        own = GAP.join(window_of(held[name].text, found, share) for name, found in places.items())
    try:
        return label.as_item(own)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
