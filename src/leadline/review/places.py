"""Where the work of people lies: the folder of drafts and readings, and the file of decisions."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from leadline.bench.adjudications import FILE as ADJUDICATIONS
from leadline.bench.benchmark import Benchmark
from leadline.bench.header import HEADER_NAME

FOLDER = "review"
# In the review folder: drafts with their history.
DRAFTS = "review.sqlite"


def review_folder(benchmark: Benchmark, into: Path | None = None) -> Path:
    """The folder for what people write about a benchmark; it need not be there yet.

    `into` where somebody chose one; `review/` in the benchmark's own folder; `NAME-review` in the working
    folder for a benchmark that comes with the package, is a bare file or a dataset of another tool.
    """
    if into is not None:
        return into
    own = own_folder(benchmark)
    return own / FOLDER if own is not None else Path(f"{as_file_name(benchmark.name)}-review")


def adjudications_file(benchmark: Benchmark, folder: Path) -> Path:
    """The file of decisions: beside benchmark.yaml where the benchmark is a folder of the user's, else in
    `folder`, its review folder."""
    own = own_folder(benchmark)
    return (own if own is not None else folder) / ADJUDICATIONS


def pack_review_folder(pack: Path, into: Path | None = None) -> Path:
    """The folder for drafts of a pack that is answered without its benchmark: `into`, or `review/` in it."""
    return into if into is not None else pack / FOLDER


def own_folder(benchmark: Benchmark) -> Path | None:
    """The folder that a benchmark was read from, where it is one of the user's with a header in it."""
    origin = benchmark.origin
    if origin is None or not (origin / HEADER_NAME).is_file():
        return None
    package = Path(str(files("leadline"))).resolve()
    return None if origin.resolve().is_relative_to(package) else origin


def as_file_name(name: str) -> str:
    """A name as part of a path: letters, digits and . _ - stay, a run of anything else is one hyphen.

    >>> as_file_name("Ana María / 2"), as_file_name("../x"), as_file_name("??")
    ('Ana-María-2', 'x', 'unnamed')
    """
    return re.sub(r"[^\w.-]+", "-", name).strip("-._")[:80] or "unnamed"
