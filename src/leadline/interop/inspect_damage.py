"""Files that are no logs of Inspect, or no longer whole: said in one line, and as what they are."""

from __future__ import annotations

import json
import logging
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

from leadline.bench.loading import cannot_read
from leadline.errors import UsageError
from leadline.ordinary_file import opened

_BLOCK = 1 << 22
# Digits become 1, all else 0. Python's own limit is 4,300 digits.
_DIGITS = bytes(sign in b"0123456789" for sign in range(256))
_TOO_LONG = b"\1" * 4_000
# Unpacked: one sample, and the lists that are read whole.
_LARGEST, _LARGEST_LIST = 1 << 29, 1 << 28


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
        AttributeError,
        BadZipFile,
        zlib.error,
        lzma.LZMAError,
        RuntimeError,  # nested too deep, encrypted, packed in a way that is not known
        OverflowError,
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
    with opened(path) as file:
        start = file.read(2_000)
    if not start:
        raise UsageError("is empty: broken off or damaged", where=str(path), fix="leave it out")
    is_object = start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if path.suffix == ".json" and not (is_object and (len(start) == 2_000 or looks_like_one(path))):
        raise UsageError("is no log of Inspect", where=str(path), fix="leave it out")


def check_numbers(path: Path) -> None:
    """Raise UsageError for a log with a number so long that Python refuses it: the parser that Inspect reads
    logs with (ijson's in C, as of 3.6.0) ends the whole process over one. And for an archive with an entry
    that no log has the size of. Raises whatever a damaged archive makes its readers raise, too.

    Reads the file once, some hundred megabytes a second.
    """
    if path.suffix == ".json":
        with opened(path) as file:
            _check_digits(file, str(path))
        return
    with ZipFile(path) as archive:
        for entry in archive.infolist():
            most = _LARGEST if entry.filename.startswith("samples/") else _LARGEST_LIST
            if entry.file_size > most:
                raise UsageError(
                    f"is no log of Inspect: an entry of {entry.file_size:,} bytes, unpacked",
                    where=str(path),
                    fix=f"entries have up to {most:,}",
                )
            with archive.open(entry) as file:
                _check_digits(file, str(path))


def _check_digits(file: IO[bytes], where: str) -> None:
    rest = b""
    while block := file.read(_BLOCK):
        signs = rest + block.translate(_DIGITS)
        if _TOO_LONG in signs:
            raise UsageError(
                f"is broken off or damaged: a number of {len(_TOO_LONG):,} digits and more",
                where=where,
                fix="copy it again, or leave it out",
            )
        rest = signs[1 - len(_TOO_LONG) :]


def _is_damage(error: BaseException) -> bool:
    """Whether a fault is one of the file and not of its version."""
    import ijson
    import zstandard

    damages = (
        BadZipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError, json.JSONDecodeError,
        ijson.JSONError,
    )  # fmt: skip
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
        with opened(path) as file:
            start = file.read(2_000)
    except OSError:
        return False
    return (
        start.lstrip().startswith(b"{")
        and b'"version"' in start
        and b'"status"' in start
        and b'"eval"' in start
    )
