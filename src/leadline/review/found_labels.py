"""Which labels a command line means, the documents that they are about, and what their benchmark is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from leadline.bench.benchmark import Benchmark
from leadline.bench.header import Header
from leadline.bench.loading import load_benchmark
from leadline.bench.opened import as_name
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import UsageError
from leadline.review.labels import FILE, Label, read_labels
from leadline.review.places import review_folder

_TAKEN_OVER = ("title", "licence", "category_name", "task_name", "tasks")
_LABELLED = re.compile(r"(.*\+(?:.*\.)?labelled\.)(\d+)")


@dataclass(frozen=True)
class FoundLabels:
    """Labels, the folder of the documents that they are about, what their benchmark is to be called, and the
    benchmark whose items it is to hold as well."""

    labels: Mapping[str, Label]
    sources: Path
    about: Header
    old: Benchmark | None = None


def find_labels(
    source: str,
    out: Path,
    *,
    name: str | None = None,
    version: str | None = None,
    with_old: bool = False,
    into: Path | None = None,
    sources: Path | None = None,
) -> FoundLabels:
    """What a command line means by `source`: a file of labels, or a benchmark, whose review folder has one.

    Title, licence and tasks are the benchmark's; with its old items (`with_old`) its name too, and the
    version is the next one. Documents are `sources`; else the benchmark's own; else those in a folder
    `sources` beside the labels, or beside their folder. Raises UsageError.
    """
    called, raised = as_name(out.resolve().name), "1"
    old: Benchmark | None = None
    path = Path(source)
    if path.suffix == ".jsonl" and path.is_file():
        if with_old:
            raise UsageError("a file of labels has no old items", where=source, fix="name the benchmark")
        beside = [folder / FOLDER_NAME for folder in (path.parent, path.parent.parent)]
        place = sources or next((folder for folder in beside if folder.is_dir()), beside[0])
        about: dict[str, object] = {}
    else:
        benchmark = load_benchmark(source)
        path = review_folder(benchmark, into) / FILE
        origin = benchmark.origin or Path()
        place = sources or (origin if origin.is_dir() else origin.parent) / FOLDER_NAME
        about = {key: getattr(benchmark, key) for key in _TAKEN_OVER}
        if with_old:
            if sources is not None:
                raise UsageError("old items need the benchmark's own documents", fix="leave --sources out")
            old = benchmark
            called, raised = old.name, next_version(old.version)
    labels = read_labels(path)
    if not labels:
        raise UsageError(
            "there are no labels", where=str(path), fix="leadline review serve, or --into FOLDER"
        )
    named = {
        "name": called if name is None else name,
        "version": raised if version is None else version,
    }
    try:
        header = Header.model_validate({**about, **named})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = first["msg"].removeprefix("Value error, ")
        raise UsageError(what, where=f"--{first['loc'][0]}") from None
    return FoundLabels(labels, place, header, old)


def next_version(version: str) -> str:
    """The version of a benchmark to which labelled items came: a local version of the one before.

    >>> next_version("1.0"), next_version("1.0+labelled.1"), next_version("2+repaired.1")
    ('1.0+labelled.1', '1.0+labelled.2', '2+repaired.1.labelled.1')
    """
    if found := _LABELLED.fullmatch(version):
        return f"{found[1]}{int(found[2]) + 1}"
    return f"{version}{'.' if '+' in version else '+'}labelled.1"
