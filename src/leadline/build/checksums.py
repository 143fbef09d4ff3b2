"""sha256 of input files, computed once: a file of the same size and time is not read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leadline.build.workspace import write_json
from leadline.errors import UsageError


class Checksums:
    """Remembers checksums in a file of the build's folder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            known = json.loads(file.read_bytes())
        except (FileNotFoundError, ValueError):
            known = {}
        self._known: dict[str, list[Any]] = known if isinstance(known, dict) else {}

    def of(self, paths: Iterable[Path]) -> dict[str, str]:
        """File name to sha256. Raises UsageError where a file is not there."""
        sums: dict[str, str] = {}
        changed = False
        for path in paths:
            try:
                now = path.stat()
            except OSError as error:
                raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
            name, stamp = str(path), [now.st_size, now.st_mtime_ns]
            known = self._known.get(name)
            if not known or known[:2] != stamp:
                with path.open("rb") as file:
                    known = [*stamp, hashlib.file_digest(file, "sha256").hexdigest()]
                self._known[name], changed = known, True
            sums[name] = known[2]
        if changed:
            write_json(self._file, self._known)
        return sums
