"""Where an export goes: nothing that is there is replaced unless the user says so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from leadline.errors import LeadlineError, UsageError


def check_file(path: Path, force: bool) -> None:
    """Raise UsageError for a file that is there, unless `force`; its folder is made if need be."""
    if path.is_dir():
        raise UsageError("is a folder, not a file", where=str(path), fix="name the file to write")
    if path.exists() and not force:
        raise UsageError("is there already", where=str(path), fix="--force replaces it")
    path.parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def told_by_polars(path: Path) -> Iterator[None]:
    """Within it polars writes a table to `path`: what it says of a full disk ("invalid thrift: transport
    error") becomes one line that is understood."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        said = " ".join(str(error).split())[:200]
        fix = "is there room on the disk?"
        raise LeadlineError(f"cannot be written: {said}", where=str(path), fix=fix) from error


@contextmanager
def new_folder(path: Path, force: bool) -> Iterator[Path]:
    """A folder to write into, whose files appear in `path` when all went well.

    Raises UsageError where `path` is a file or a folder that is not empty; with `force` files of the same
    names are replaced there, and others stay.
    """
    if path.exists() and not path.is_dir():
        raise UsageError("is a file, not a folder", where=str(path), fix="name another folder")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise UsageError(
            "is a folder that is not empty", where=str(path), fix="--force replaces files of the same names"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name[:50]}.", dir=path.parent) as near:
        made = Path(near) / "made"
        made.mkdir()
        yield made
        for file in sorted(one for one in made.rglob("*") if one.is_file()):
            target = path / file.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, target)
