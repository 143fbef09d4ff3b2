"""Files that are no logs of Inspect, or no longer whole: said in one line, and as what they are."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

from leadline.bench.loading import cannot_read
from leadline.errors import UsageError


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What a damaged or foreign file makes its readers raise is the file's fault, in one line."""
    import zstandard

    try:
        yield
    except OSError as error:
        raise cannot_read(error, path) from error
    except (
        ValueError,
        LookupError,
        AssertionError,
        EOFError,
        TypeError,
        BadZipFile,
        zstandard.ZstdError,
    ) as error:
        logging.getLogger("asyncio").addFilter(_is_no_echo)
        said = " ".join(str(error.__cause__ or error).split())[:200] or type(error).__name__
        if _is_damage(error):
            raise UsageError(
                f"is broken off or damaged: {said}", where=str(path), fix="copy it again, or leave it out"
            ) from error
        raise UsageError(
            f"cannot be read as a log of Inspect: {said}",
            where=str(path),
            fix="if `inspect view` opens it, it is of a version that is not known here",
        ) from error


def check_begins(path: Path) -> None:
    """Raise UsageError for a file that can be no log by how it begins."""
    with path.open("rb") as file:
        start = file.read(2_000)
    if not start:
        raise UsageError("is empty: broken off or damaged", where=str(path), fix="leave it out")
    if path.suffix == ".json" and len(start) < 2_000 and not looks_like_one(path):
        raise UsageError("is no log of Inspect", where=str(path), fix="leave it out")


def _is_damage(error: BaseException) -> bool:
    """Whether a fault is one of the file and not of its version."""
    import ijson
    import zstandard

    damages = (BadZipFile, zstandard.ZstdError, EOFError, json.JSONDecodeError, ijson.JSONError)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, damages) or "EOCD" in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _is_no_echo(record: logging.LogRecord) -> bool:
    """Inspect's readers end in the middle of a damaged archive, and asyncio then tells of each of them."""
    return "Task exception was never retrieved" not in record.getMessage()


def looks_like_one(path: Path) -> bool:
    """Whether a JSON file begins as a log does."""
    try:
        with path.open("rb") as file:
            start = file.read(2_000)
    except OSError:
        return False
    return (
        start.lstrip().startswith(b"{")
        and b'"version"' in start
        and b'"status"' in start
        and b'"eval"' in start
    )
