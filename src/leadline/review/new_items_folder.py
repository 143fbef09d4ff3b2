"""The folder of a benchmark that was made of labels: items, labels, and the documents that they rest on."""

from __future__ import annotations

import shutil
from pathlib import Path

from leadline.bench.adjudications import FILE as DECISIONS
from leadline.bench.lines_file import lines_of
from leadline.bench.whole_file import whole_file, whole_folder
from leadline.bench.writing import write_benchmark
from leadline.documents import Sources
from leadline.documents.index import INDEX_NAME
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import content
from leadline.review.labels import FILE
from leadline.review.new_items import NewItems

README = "README.md"


def write_new_items(made: NewItems, sources: Sources, out: Path) -> None:
    """Write the folder `out`, whole or not at all: benchmark.yaml, items.jsonl, README.md, labels.jsonl (who
    labelled what, and where the quotes stand) and copies of the sources. Where old items are among them, what
    lies beside those comes along: labels that they were made of, and decisions on them.

    Raises UsageError where something is there, LeadlineError where it cannot be written.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(
            "there is something already", where=str(out), fix="name another folder: --out FOLDER"
        )
    try:
        with whole_folder(out) as part:
            _fill(part, made, sources)
    except OSError as error:
        place = Path(str(error.filename or out))
        raise LeadlineError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def _fill(part: Path, made: NewItems, sources: Sources) -> None:
    write_benchmark(made.benchmark.replaced(data_statement=README), part)
    (part / README).write_text(made.benchmark.data_statement, encoding="utf-8", newline="\n")
    origin = made.benchmark.origin
    beside = origin if origin is not None and origin.is_dir() else None
    if beside is not None and (beside / DECISIONS).is_file():
        shutil.copyfile(beside / DECISIONS, part / DECISIONS)
    with whole_file(part / FILE) as file:
        if beside is not None and (beside / FILE).is_file():
            for _, line in lines_of(content(beside / FILE)):
                file.write(line + b"\n")
        for label in made.labels:
            file.write(label.model_dump_json(exclude_defaults=True).encode() + b"\n")
    for name in made.sources:
        place = part / FOLDER_NAME / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(sources.path(name), place)
    if (index := sources.folder / INDEX_NAME).is_file():
        shutil.copyfile(index, part / FOLDER_NAME / INDEX_NAME)
