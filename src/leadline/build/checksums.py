"""sha256 of input files, computed once: a file of the same size and time is not read again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from leadline.build.workspace import write_json
from leadline.errors import UsageError

# Bytes of a file that is read where only a glance is wanted.
_SMALL = 64 << 20


class Checksums:
    """Remembers checksums in a file of the build's folder.

    Files are named relative to `base`, the plan's folder: a build that is moved together with its inputs
    reads none of them again.
    """

    def __init__(self, file: Path, base: Path | None = None) -> None:
        self._file, self._base = file, base or file.parent
        try:
            known = json.loads(file.read_bytes())
        except (FileNotFoundError, IsADirectoryError, ValueError):
            known = {}  # not there, or made by something else: all is read again
        self._known: dict[str, Any] = known if isinstance(known, dict) else {}

    def of(self, paths: Iterable[Path]) -> dict[str, str]:
        """File name to sha256, in the order of `paths`. Raises UsageError where a file cannot be read."""
        found = self._of(paths, None)
        assert found is not None
        sums, changed = found
        if changed:
            write_json(self._file, self._known)
        return sums

    def glance(self, paths: Iterable[Path]) -> dict[str, str] | None:
        """The same, but None where a large file has changed since; nothing is remembered."""
        found = self._of(paths, _SMALL)
        return found[0] if found is not None else None

    def _of(self, paths: Iterable[Path], largest: int | None) -> tuple[dict[str, str], bool] | None:
        sums: dict[str, str] = {}
        changed = False
        for path in paths:
            name = Path(os.path.relpath(path, self._base)).as_posix()
            try:
                now = path.stat()
                stamp = [now.st_size, now.st_mtime_ns]
                known = self._known.get(name)
                if not (isinstance(known, list) and len(known) == 3 and known[:2] == stamp):
                    if largest is not None and now.st_size > largest:
                        return None
                    with path.open("rb") as file:
                        known = [*stamp, hashlib.file_digest(file, "sha256").hexdigest()]
                    self._known[name], changed = known, True
            except OSError as error:
                raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
            sums[name] = str(known[2])
        return sums, changed


def in_key(sums: dict[str, str]) -> list[tuple[str, str]]:
    """What of checksums decides a stage's output: the order, the files' own names, and the content.

    Not where they lie: a corpus on another disk is the same corpus.
    """
    return [(PurePosixPath(name).name, value) for name, value in sums.items()]
