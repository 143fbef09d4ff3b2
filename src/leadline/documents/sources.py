"""The documents that a benchmark holds: `sources/` beside its items."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from leadline.documents.document import Document, UnreadableDocument
from leadline.documents.index import INDEX_NAME, read_index
from leadline.documents.read import MAX_BYTES, read_document
from leadline.errors import LeadlineError

FOLDER_NAME = "sources"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(pointer: str) -> bool:
    """Whether a pointer is a URL, and not a name within the folder of sources.

    >>> is_url("https://example.org/a.htm"), is_url("a.htm")
    (True, False)
    """
    return _SCHEME.match(pointer) is not None


@dataclass(frozen=True)
class Sources:
    """The documents in one folder and the folders below it. Nothing outside it is ever named or opened.

    Names are relative, with slashes. Hidden files and folders (`.part`, `.git`) and `index.jsonl` are no
    documents; links are followed where they stay within the folder, and links to folders are not. A folder
    that is not there holds no documents.

    No text is kept: a process holds the folder's path and, once a URL is asked for, which URL is which file.
    A copy sent to another process is the path alone.

    >>> Sources(Path("there-is-no-such-folder")).names()
    []
    """

    folder: Path

    @classmethod
    def of(cls, benchmark: Path) -> Sources:
        """The sources of the benchmark in the folder `benchmark`."""
        return cls(benchmark / FOLDER_NAME)

    def names(self) -> list[str]:
        """The names of all documents, sorted. Raises LeadlineError when a folder cannot be listed."""
        return sorted(self._walk(self.folder, ""))

    def find(self, pointer: str) -> Path | None:
        """The file that a pointer of an item means, or None: a name here, or a URL that was fetched.

        A name may begin with `sources/`. Part of a URL after `#` does not count. What is in the file is for
        the caller to look at: names prove nothing.
        """
        pointer = pointer.strip()
        if is_url(pointer):
            name = self._fetched.get(pointer.partition("#")[0], ("", ""))[0]
            return self._within(name) if name else None
        return self._within(pointer) or self._within(pointer.removeprefix(f"{FOLDER_NAME}/"))

    def path(self, name: str) -> Path:
        """The file of one of `names()`. Raises UnreadableDocument when there is none of that name here."""
        if (path := self._within(name)) is None:
            raise UnreadableDocument("is not among the sources", where=name)
        return path

    def read(self, path: Path, *, max_bytes: int = MAX_BYTES) -> Document:
        """`read_document` of one of these files, with the encoding that its server named, if it did."""
        return read_document(path, max_bytes=max_bytes, charset=self._charsets.get(self._name(path), ""))

    def copy_to(self, folder: Path) -> int:
        """Copy the documents, and what is known of their origin, into `folder`, which is made; how many.

        Of a link the document that it leads to is copied. Raises OSError.
        """
        names = self.names()
        for name in (*names, *([INDEX_NAME] if (self.folder / INDEX_NAME).is_file() else [])):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / name, target)
        return len(names)

    @cached_property
    def _fetched(self) -> dict[str, tuple[str, str]]:
        """URL → file and charset; where redirects led counts too, where no other item means it otherwise."""
        entries = [entry for entry in read_index(self.folder).values() if entry.file]
        found = {entry.final_url: (entry.file, entry.charset) for entry in entries if entry.final_url}
        return found | {entry.url: (entry.file, entry.charset) for entry in entries}

    @cached_property
    def _charsets(self) -> dict[str, str]:
        return {name: charset for name, charset in self._fetched.values() if charset}

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder}

    def _name(self, path: Path) -> str:
        try:
            return path.relative_to(self.folder).as_posix()
        except ValueError:
            return ""

    def _within(self, name: str) -> Path | None:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or any(part.startswith(".") for part in parts):
            return None  # absolute, hidden, or ".."
        if parts == (INDEX_NAME,):
            return None
        path = self.folder.joinpath(*parts)
        try:
            return path if path.is_file() and self._holds(path) else None
        except (OSError, ValueError):  # a name too long, a NUL in it, a folder that may not be entered
            return None

    def _holds(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self._real)

    @cached_property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.folder))

    def _walk(self, folder: Path, prefix: str) -> Iterator[str]:
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            return
        except OSError as error:
            raise LeadlineError(
                f"cannot be listed: {error.strerror or error}", where=str(folder), fix="check its permissions"
            ) from error
        for entry in entries:
            name = prefix + entry.name
            if entry.name.startswith(".") or name == INDEX_NAME:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(folder / entry.name, f"{name}/")
            elif _is_file(entry) and (not entry.is_symlink() or self._holds(folder / entry.name)):
                yield name


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself: as one that leads nowhere, it is none of the documents
        return False
