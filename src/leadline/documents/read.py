"""Files of many kinds as text: plain text in any encoding, HTML, XML, PDF, and one of these packed."""

from __future__ import annotations

from pathlib import Path, PurePath

from leadline.documents.document import Document, UnreadableDocument
from leadline.documents.encoding import Decoded, decode
from leadline.documents.kinds import is_pdf, kind_of, refuse_binary, refuse_noise
from leadline.documents.markup import html_text, xml_text
from leadline.documents.packed import is_packed, unpack
from leadline.documents.pdf import read_pdf
from leadline.documents.regular_file import read_bytes
from leadline.documents.submission import is_submission, read_submission

# Large enough for the largest filings, small enough that a document, decoded to four bytes a character at
# worst, stays well below a gigabyte.
MAX_BYTES = 128 * 1024 * 1024


def read_document(path: Path, *, max_bytes: int = MAX_BYTES, charset: str = "") -> Document:
    """What the file at `path` says.

    What it is, is seen from its content: plain text, HTML, XML, PDF, a full submission of SEC EDGAR, or one
    of these in a gzip or zip package. `max_bytes` limits the file and what it unpacks to. `charset` is what
    somebody else says of its encoding, such as an HTTP header; the file's own word is believed before that.

    Raises UnreadableDocument, in one line: not there, no regular file, too large, an archive of several
    files or a bomb, locked, damaged, binary, without any text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "page.htm")
    ...     _ = page.write_text("<p>Caf&eacute; <b>o</b>ne</p>", encoding="ascii")
    ...     read_document(page).text
    'Café one'
    """
    where = str(path)
    data = read_bytes(path, max_bytes)
    suffix = path.suffix.lower()
    if is_packed(data):
        data, name = unpack(data, max_bytes, where)
        suffix = PurePath(name or path.stem).suffix.lower()
    if is_pdf(data):
        return read_pdf(data, max_bytes, where)
    refuse_binary(data, where)
    decoded = decode(data, charset)
    del data  # of 100 MB there is one copy less
    refuse_noise(decoded.text, where)
    document = _read_text(decoded, suffix, where)
    if not document.text.strip():
        reason = "has no text in it" if decoded.text.strip() else "is empty"
        raise UnreadableDocument(reason, where=where)
    return document


def _read_text(decoded: Decoded, suffix: str, where: str) -> Document:
    text, encoding, notes = decoded.text, decoded.encoding, decoded.notes
    if is_submission(text):
        return read_submission(text, encoding, notes)
    kind = kind_of(text, suffix)
    if kind == "html":
        return Document(html_text(text), "html", text, encoding, notes)
    if kind == "xml":
        extracted, odd = xml_text(text, where)
        return Document(extracted, "xml", text, encoding, (*notes, *odd))
    return Document(text, "text", None, encoding, notes)
