"""What a fetched document's file is called: what a person recognises, and what tells its content."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import unquote

_SUFFIXES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/xml": "xml",
    "application/xml": "xml",
}
_SUFFIX = re.compile(r"[A-Za-z][A-Za-z0-9]{0,4}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_STEM_LETTERS = 80
_HASH_LETTERS = 16


def file_name(path: str, media_type: str, sha256: str) -> str:
    """A name for the content at a URL's `path`: the end of the path, the content's hash, an ending.

    No character of it is special to any file system; it is never hidden, and never a path.

    >>> file_name("/d/ex 10.htm", "text/html", "3f2a9c01d2e4b5a6" * 4)
    'ex-10-3f2a9c01d2e4b5a6.htm'
    """
    last = PurePosixPath(unquote(path)).name
    stem, _, suffix = last.rpartition(".")
    if not stem or not _SUFFIX.fullmatch(suffix):
        stem, suffix = last, _SUFFIXES.get(media_type.partition(";")[0].strip().lower(), "")
    stem = _UNSAFE.sub("-", stem).strip(".-_")[:_STEM_LETTERS] or "document"
    return f"{stem}-{sha256[:_HASH_LETTERS]}" + (f".{suffix.lower()}" if suffix else "")
