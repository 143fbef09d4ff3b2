"""Files that are whole or not there: written under another name, then renamed."""

from __future__ import annotations

import io
import os
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
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
