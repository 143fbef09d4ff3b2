"""The text of a PDF document, by pypdf; kept in the cache, for it takes a thousand times as long as HTML."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from pathlib import Path

from leadline.documents.document import Document, UnreadableDocument
from leadline.places import cache_home

# Raised when what is made of a PDF changes. pypdf's version is part of the name as well.
_VERSION = 1
_FEW = 8  # pages named in a note


def read_pdf(data: bytes, max_characters: int, where: str) -> Document:
    """The text of all pages, in order, a line break between them.

    Raises UnreadableDocument when the document is locked, damaged, has no text (a scan), or more text than
    `max_characters`.
    """
    try:
        import pypdf
    except ImportError:
        raise UnreadableDocument(
            "is a PDF, and pypdf is missing", where=where, fix="pip install pypdf"
        ) from None
    key = hashlib.sha256(data).hexdigest()
    kept = cache_home() / "documents" / f"pdf-{_VERSION}-{pypdf.__version__}" / key[:2] / f"{key}.json"
    document = _from_cache(kept)
    if document is None:
        document = _extract(data, max_characters, where)
        _to_cache(kept, document)
    if len(document.text) > max_characters:
        raise UnreadableDocument(f"has more text than the {max_characters:,} characters allowed", where=where)
    return document


def _extract(data: bytes, max_characters: int, where: str) -> Document:
    import logging

    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it finds odd is not for the terminal
    pages: list[str] = []
    empty: list[int] = []
    size = 0
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        # Many are locked against printing only, with an empty password.
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("is locked with a password", where=where)
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text()
            size += len(text)
            if size > max_characters:
                raise UnreadableDocument(
                    f"has more text than the {max_characters:,} characters allowed", where=where
                )
            if not text.strip():
                empty.append(number)
            pages.append(text)
    except UnreadableDocument:
        raise
    except DependencyError:
        raise UnreadableDocument(
            "is an encrypted PDF", where=where, fix="save it without, or pip install cryptography"
        ) from None
    # A damaged file can end in any exception of the library's inner workings; which one says nothing.
    except (PyPdfError, RecursionError, Exception) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnreadableDocument(f"is a damaged PDF: {reason}", where=where) from error
    if len(empty) == len(pages):
        raise UnreadableDocument(
            "is a PDF without text: its pages are pictures", where=where, fix="run OCR on it"
        )
    notes = (f"no text on {_pages(empty)}",) if empty else ()
    return Document("\n".join(pages), "pdf", encoding="", notes=notes)


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_FEW]))
    if len(numbers) == 1:
        return f"page {shown}"
    return f"pages {shown}" + (f" and {len(numbers) - _FEW} more" if len(numbers) > _FEW else "")


def _from_cache(path: Path) -> Document | None:
    try:
        kept = json.loads(path.read_bytes())
        return Document(str(kept["text"]), "pdf", encoding="", notes=tuple(map(str, kept["notes"])))
    except (OSError, ValueError, LookupError, TypeError):
        return None  # not there, or damaged: it can be made again


def _to_cache(path: Path, document: Document) -> None:
    """Written aside and renamed: other processes see all of it or nothing. A full disk only costs time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            json.dump({"text": document.text, "notes": document.notes}, file)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
