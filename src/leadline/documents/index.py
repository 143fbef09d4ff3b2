"""`sources/index.jsonl`: which URL was fetched when, and which file holds what came of it.

One JSON object a line, appended, never changed: of several lines for one URL the last counts. A line that a
kill or a full disk cut off is left alone and ends at the next line's beginning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from leadline.errors import LeadlineError
from leadline.ordinary_file import opened

INDEX_NAME = "index.jsonl"
_NAMES: frozenset[str]
# Of a line, which holds a few URLs and a sentence.
_LONGEST = 1024 * 1024


@dataclass(frozen=True)
class IndexEntry:
    """What is known of one fetched URL.

    `url` is what the items say, `final_url` where redirects led, `file` the name within the folder of
    sources, `media_type` the server's Content-Type with its charset, `fetched` the time in ISO 8601, UTC, of
    the last answer (a 304 included), `status` that answer's code. A failure has an `error` and no `file`; it
    never takes the place of a document that is held.
    """

    url: str
    fetched: str
    status: int = 0
    final_url: str = ""
    file: str = ""
    sha256: str = ""
    size: int = 0
    media_type: str = ""
    etag: str = ""
    last_modified: str = ""
    error: str = ""

    @property
    def charset(self) -> str:
        """The encoding that the server named, or ""."""
        for part in self.media_type.split(";")[1:]:
            key, _, value = part.partition("=")
            if key.strip().lower() == "charset":
                return value.strip().strip("\"'")
        return ""


_NAMES = frozenset(field.name for field in fields(IndexEntry))


def read_index(folder: Path) -> dict[str, IndexEntry]:
    """The entries of a folder of sources by URL: the last document of each URL, else its last failure.

    Lines that are no entries (cut off, or of a later version's kind) are skipped: what they name can be
    fetched again.
    """
    entries: dict[str, IndexEntry] = {}
    for entry in _entries(folder / INDEX_NAME):
        held = entries.get(entry.url)
        if entry.file or held is None or not held.file:
            entries[entry.url] = entry
    return entries


def _entries(path: Path) -> Iterator[IndexEntry]:
    try:
        file = opened(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise LeadlineError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    with file:
        while line := file.readline(_LONGEST + 1):
            if len(line) > _LONGEST:
                what = f"a line has more than {_LONGEST:,} bytes"
                raise LeadlineError(what, where=str(path), fix="restore it, or fetch the sources anew")
            try:
                data = json.loads(line)
                entry = IndexEntry(**{key: value for key, value in data.items() if key in _NAMES})
            except (ValueError, TypeError, AttributeError, RecursionError):
                continue
            texts = (entry.url, entry.fetched, entry.final_url, entry.file, entry.sha256, entry.media_type)
            numbers = isinstance(entry.status, int) and isinstance(entry.size, int)
            if numbers and all(
                isinstance(text, str) for text in (*texts, entry.etag, entry.last_modified, entry.error)
            ):
                yield entry


class IndexWriter:
    """Appends entries, each whole and on the disk before the next. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / INDEX_NAME

    def __enter__(self) -> IndexWriter:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._handle = os.open(self._path, flags, 0o666)
        # A line that was cut off is closed, so that the next one stands alone.
        if os.lseek(self._handle, 0, os.SEEK_END):
            os.lseek(self._handle, -1, os.SEEK_END)
            if os.read(self._handle, 1) != b"\n":
                os.write(self._handle, b"\n")
        return self

    def append(self, entry: IndexEntry) -> None:
        """Add one entry: one write of one line, then fsync."""
        filled = {key: value for key, value in asdict(entry).items() if value}
        os.write(self._handle, json.dumps(filled, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        os.fsync(self._handle)

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
