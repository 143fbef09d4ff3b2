"""Writing a file so that a reader sees either the old one or the whole new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from leadline.errors import LeadlineError


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, as `write_bytes` does."""
    # Lone surrogates can come out of a broken decoder; they have no UTF-8 form and are shown as "?".
    write_bytes(path, text.encode("utf-8", "replace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` by way of a temporary file in the same folder and a rename.

    Raises LeadlineError when the folder cannot be written or the disk is full; `path` is then untouched.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes private files; these are ordinary ones
        temporary.replace(path)
    except OSError as error:
        raise LeadlineError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            fix="check free space and permissions of the folder",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
