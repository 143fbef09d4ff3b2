"""What kind of document a file is: by what is in it, not by what it is called."""

from __future__ import annotations

import re

from leadline.documents.document import Kind, UnreadableDocument

# Files that are not text begin with these. The name is what a person calls them.
_BINARY = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"{\\rtf", "a rich text (RTF) document"),
    (b"%!PS", "a PostScript document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstandard file"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\0", "a database"),
    (b"\x00asm", "a program"),
    (b"RIFF", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound"),
)
# A PDF may have a few bytes before its mark; readers look for it in the first kilobyte.
_PDF, _PDF_WITHIN = b"%PDF-", 1024

_LEADING = re.compile(r"\s*(?:<\?(?!xml)[^>]*>\s*|<!--.*?-->\s*)*", re.S)
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|p|span|table|h[1-6]|center|font|br|hr"
    r"|article|section|main|ul|ol|pre)\b",
    re.I,
)
_XML_DECLARATION = re.compile(r"<\?xml\b[^>]*\?>")
_ROOT = re.compile(r"<(?:[\w.-]+:)?(\w[\w.-]*)")
_HTML_SUFFIXES = frozenset((".htm", ".html", ".xhtml"))
_XML_SUFFIXES = frozenset((".xml", ".xbrl", ".xsd", ".rss", ".atom", ".svg"))
_ROOT_WITHIN = 65_536
# Controls that no text has, among the first characters; a few may be damage.
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_LOOKED_AT = 65_536
_TOO_MANY = 0.02


def is_pdf(data: bytes) -> bool:
    """Whether these bytes are a PDF document."""
    before, mark, _ = data[:_PDF_WITHIN].partition(_PDF)
    return bool(mark) and b"<" not in before  # a page that speaks of PDF is none


def refuse_binary(data: bytes, where: str) -> None:
    """Raises UnreadableDocument when `data` begin as a picture, an archive or another file without text."""
    for mark, name in _BINARY:
        if data.startswith(mark):
            raise UnreadableDocument(f"is {name}, not text", where=where)


def refuse_noise(text: str, where: str) -> None:
    """Raises UnreadableDocument when `text`, as decoded, is full of control characters: it was no text."""
    head = text[:_LOOKED_AT]
    coded = head.encode("utf-8", "surrogatepass")  # in which a control is one byte, and no other's part
    if len(coded) - len(coded.translate(None, _CONTROLS)) > _TOO_MANY * len(head):
        raise UnreadableDocument("is a binary file, not text", where=where)


def kind_of(text: str, suffix: str) -> Kind:
    """Whether decoded `text` is HTML, XML or plain text; `suffix` (".htm") decides only where it may be any.

    >>> kind_of("<!DOCTYPE html><p>One", ".txt"), kind_of("One < two", ".html"), kind_of("One", ".txt")
    ('html', 'html', 'text')
    """
    start = _after(_LEADING, text)
    declaration = _XML_DECLARATION.match(text, start)
    if declaration or suffix in _XML_SUFFIXES:
        if _is_html_root(text, declaration.end() if declaration else start):
            return "html"
        return "xml" if declaration or text.startswith("<", start) else "text"
    if suffix in _HTML_SUFFIXES or _HTML.match(text, start):
        return "html"
    if text.startswith("<!DOCTYPE", start):
        return "html" if _is_html_root(text, start) else "xml"
    return "text"


def _is_html_root(text: str, start: int) -> bool:
    root = _ROOT.search(text, start, start + _ROOT_WITHIN)
    return root is not None and root[1].lower() == "html"


def _after(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
