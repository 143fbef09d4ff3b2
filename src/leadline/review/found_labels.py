"""Which labels a command line means, the documents that they are about, and what their benchmark is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from leadline.bench.header import Header
from leadline.bench.loading import load_benchmark
from leadline.bench.opened import as_name
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import UsageError
from leadline.review.labels import FILE, Label, read_labels
from leadline.review.places import review_folder

_TAKEN_OVER = ("category_name", "task_name", "tasks")


@dataclass(frozen=True)
class FoundLabels:
    """Labels, the folder of the documents that they are about, and what their benchmark is to be called."""

    labels: Mapping[str, Label]
    sources: Path
    about: Header


def find_labels(
    source: str,
    out: Path,
    *,
    name: str | None = None,
    version: str = "1",
    into: Path | None = None,
    sources: Path | None = None,
) -> FoundLabels:
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
    return FoundLabels(labels, place, header)
