"""A document packed with gzip or zip, unpacked within limits.

One document in one package is read, as many archives hand them out. A package of several, or a package in a
package, is refused: which document was meant is for a person to say.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from typing import IO

from leadline.documents.document import UnreadableDocument
from leadline.documents.regular_file import too_large

# Text shrinks to a tenth, tables of numbers and tagged filings to a fiftieth at most. Deflate can reach 1,032
# to 1, which is what bombs are made of.
MAX_RATIO = 200
# Below this many bytes a bomb does no harm, whatever its ratio.
_HARMLESS = 1 << 20
_CHUNK = 1 << 20

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_OFFICE = ("[Content_Types].xml", "mimetype")  # Word, Excel and their kin; OpenDocument, EPUB


def is_packed(data: bytes) -> bool:
    """Whether these bytes are a gzip or zip package."""
    return data.startswith((GZIP, ZIP, _EMPTY_ZIP))


def unpack(data: bytes, max_bytes: int, where: str) -> tuple[bytes, str]:
    """The document within a gzip or zip package, and its name there ("" where the package gives none).

    Raises UnreadableDocument when it unpacks to more than `max_bytes` or more than `MAX_RATIO` times its
    size, is damaged, locked, empty, holds several files, or holds another package.
    """
    take = _gunzip if data.startswith(GZIP) else _unzip
    unpacked, name = take(data, max_bytes, where)
    if is_packed(unpacked) or unpacked[257:262] == b"ustar":
        raise UnreadableDocument("is a package in a package", where=where, fix="unpack it once")
    return unpacked, name


def _gunzip(data: bytes, max_bytes: int, where: str) -> tuple[bytes, str]:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _within(file, len(data), max_bytes, where), ""
    except EOFError:
        raise UnreadableDocument("is a gzip file that was cut off", where=where) from None
    except (OSError, zlib.error) as error:
        raise UnreadableDocument(f"is a damaged gzip file: {error}", where=where) from error


def _unzip(data: bytes, max_bytes: int, where: str) -> tuple[bytes, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if any(entry.filename in _OFFICE for entry in entries):
                raise UnreadableDocument(
                    "is an office document or a book", where=where, fix="save it as HTML, PDF or plain text"
                )
            if len(entries) != 1:
                held = f"{len(entries):,} files" if entries else "no file"
                raise UnreadableDocument(
                    f"is a zip archive that holds {held}; one is read", where=where, fix="unpack it"
                )
            (entry,) = entries
            if entry.flag_bits & 1:
                raise UnreadableDocument("is locked with a password", where=where)
            with archive.open(entry) as file:
                # What it says of its own size is not believed: what comes out is counted.
                return _within(file, max(entry.compress_size, 1), max_bytes, where), entry.filename
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, zlib.error, ValueError) as error:
        raise UnreadableDocument(f"is a damaged or unusual zip archive: {error}", where=where) from error


def _within(file: IO[bytes] | gzip.GzipFile, packed: int, max_bytes: int, where: str) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        size += len(chunk)
        if size > max_bytes:
            raise UnreadableDocument(f"unpacked, it {too_large(size, max_bytes)}", where=where)
        if size > max(_HARMLESS, MAX_RATIO * packed):
            raise UnreadableDocument(
                f"unpacks to more than {MAX_RATIO} times its size, as no text does", where=where
            )
        chunks.append(chunk)
    return b"".join(chunks)
