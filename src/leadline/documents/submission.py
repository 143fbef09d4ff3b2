"""Full submissions of SEC EDGAR: several documents in one text file, told apart by tags of SGML's kind.

A submission (`0001234567-24-000001.txt`) is a header and then, per document, a few lines such as
`<TYPE>10-K` and the document itself between `<TEXT>` and `</TEXT>`: plain text, HTML, XML, or a picture or
PDF as letters (uuencode). (SEC, "EDGAR Public Dissemination Service Technical Specification".)
"""

from __future__ import annotations

import re

from leadline.documents.document import Document, UnreadableDocument
from leadline.documents.kinds import kind_of
from leadline.documents.markup import html_text, xml_text

_BEGINS = re.compile(
    r"\s*(?:-----BEGIN PRIVACY-ENHANCED MESSAGE-----|<SEC-DOCUMENT>|<SUBMISSION>|<DOCUMENT>\s*<TYPE>)"
)
_BODY = re.compile(r"<TEXT>(.*?)(?:</TEXT>|\Z)", re.S)
# A document's body is in one of these as well where it is not plain.
_WRAPPER = re.compile(r"\s*<(XML|XBRL|PDF|JSON)>(.*?)(?:</\1>\s*|\Z)", re.S)
_UUENCODED = re.compile(r"\s*begin [0-7]{3} \S")
# `<TABLE>` is not among them: plain text has it too.
_HTML = re.compile(r"<(?:html|body|p|div|td|br|span|font)\b", re.I)
# A table in old plain-text filings: `<TABLE> <S> <C>` say where its columns are, and print nothing.
_LAYOUT = re.compile(r"</?(?:TABLE|CAPTION|S|C|F\d*|FN|PAGE)>")


def is_submission(text: str) -> bool:
    """Whether this text is a full submission, or one document of it with its tags."""
    return _BEGINS.match(text) is not None


def read_submission(text: str, encoding: str, notes: tuple[str, ...]) -> Document:
    """The header as it is, then each document as its kind is read. `markup` is the whole file.

    Pictures and other files that were packed as letters are left out, and counted in a note.
    """
    parts: list[str] = []
    found: list[str] = []
    left_out = 0
    end = 0
    for body in _BODY.finditer(text):
        parts.append(text[end : body.start()])
        end = body.end()
        wrapper = _WRAPPER.fullmatch(body[1])
        content = wrapper[2] if wrapper else body[1]
        if _UUENCODED.match(content):
            left_out += 1
            continue
        read, odd = _read(content)
        parts.append(read)
        found += [f"document {len(parts) // 2}: {note}" for note in odd]
    parts.append(text[end:])
    if left_out:
        found.append(f"{left_out} {'file that is' if left_out == 1 else 'files that are'} not text left out")
    return Document("\n".join(parts), "html", text, encoding, (*notes, *found))


def _read(content: str) -> tuple[str, tuple[str, ...]]:
    stripped = content.lstrip()
    if kind_of(stripped, "") == "xml":
        try:
            return xml_text(stripped)
        except UnreadableDocument as refused:
            return content, (str(refused),)
    if _HTML.search(content):
        return html_text(stripped), ()
    return _LAYOUT.sub("", content), ()
