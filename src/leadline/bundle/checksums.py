"""CHECKSUMS.sha256, as `sha256sum -c` reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

CHECKSUMS = "CHECKSUMS.sha256"


def write_checksums(folder: Path) -> None:
    """List every file in `folder` with its sha256, sorted by name. Raises OSError."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name != CHECKSUMS:
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
