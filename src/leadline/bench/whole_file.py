"""Files and folders that are whole or not there: written under another name, then renamed."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


class _Named(io.FileIO):
    """Its errors name the file, so that a full disk is told from a source that cannot be read."""

    path = ""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.path
            raise


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its place at `path` when all went well and vanishes otherwise."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
    partial = Path(name)
    try:
        raw = _Named(handle, "wb")
        raw.path = str(path)
        with io.BufferedWriter(raw) as file:
            yield file
        partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place at `path` when all went well and vanishes otherwise.

    Nothing may be at `path` but an empty folder. Raises OSError, and what is there stays.

    >>> place = Path(tempfile.mkdtemp()) / "made"
    >>> with whole_folder(place) as folder:
    ...     _ = (folder / "a.txt").write_text("whole")
    >>> (place / "a.txt").read_text()
    'whole'
    """
    path = path.absolute()  # "." has no name of its own
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name[:50]}.", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        if path.is_dir():
            path.rmdir()
        elif path.exists() or path.is_symlink():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        partial.rename(path)
        on_disk(path.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def on_disk(folder: Path) -> None:
    """Let the system write down which files `folder` holds: a new file is safe only once its folder is."""
    if os.name != "posix":  # elsewhere folders are not opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
