"""Pages of MediaWiki XML exports, plain or compressed, whatever the version of their schema.

The file is cut at <page> and </page>, which cannot stand in a page's text (there, < is written &lt;), and
each page is read by mwxml: a page that is broken XML is lost alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leadline.build.articles.blocks import Block
from leadline.build.articles.page import Fault, Page
from leadline.build.articles.unpacked import DamagedError, unpacked
from leadline.build.articles.wikitext import NAMESPACES
from leadline.build.extra import needed

_OPEN: Final = b"<page>"
_CLOSE: Final = b"</page>"
_END: Final = b"</mediawiki>"
_HEADER: Final = 1 << 20  # bytes in which a dump has said what its namespaces are
LARGEST: Final = 1 << 28
"""Bytes of a page with all its revisions; larger ones (histories of busy pages) are dropped as broken."""


@dataclass(frozen=True)
class RawPage:
    """A page's XML and where it stands: lines before it, or None where the block is not read from line 1."""

    data: bytes
    line: int | None


def pages(block: Block) -> Iterator[Page | Fault]:
    """The pages of a block in order; of several revisions of a page the last. Raises OSError."""
    header = header_of(block.path)
    namespaces = _namespaces(header)
    if b"<mediawiki" not in header and block.start == 0:
        yield Fault(block.name, "is no MediaWiki export: no <mediawiki> at its beginning", page=False)
    for raw in raw_pages(block):
        yield raw if isinstance(raw, Fault) else _page(raw, block, namespaces)


def raw_pages(block: Block) -> Iterator[RawPage | Fault]:
    """The pages of a block, unread, at most `block.most`."""
    cut = _Cutter(block)
    try:
        for data, owned in unpacked(block.path, block.start, block.stop):
            yield from cut.feed(data, owned)
            if cut.over:
                return
        fault = cut.end()
    except DamagedError as damage:
        fault = Fault(cut.where(), str(damage), page=False)
        if not cut.owning:
            return  # the damage is in a later block, which says so
    if fault is not None:
        yield fault


class _Cutter:
    """Takes bytes and gives pages."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._buffer = bytearray()
        self._base = 0  # of the buffer, in bytes from the block's beginning
        self._bound: int | None = None  # where the block's own bytes end
        self._line: int | None = block.line if block.start == 0 else None
        self._left = block.most
        self._tail = b""
        self.over = False

    @property
    def owning(self) -> bool:
        """Whether what is read is still the block's own."""
        return self._bound is None

    def where(self) -> str:
        """File and line of the first byte that was not given out."""
        if self._line is not None:
            return f"{self._block.name}:{self._line + 1}"
        return f"{self._block.name}: byte {self._block.start:,} and after"

    def feed(self, data: bytes, owned: bool) -> Iterator[RawPage | Fault]:
        """Pages that are whole with these bytes."""
        if not owned and self._bound is None:
            self._bound = self._base + len(self._buffer)
        searched = max(0, len(self._buffer) - len(_CLOSE))
        self._buffer += data
        self._tail = (self._tail + data[-64:])[-64:]
        while not self.over:
            start = 0 if self._buffer.startswith(_OPEN) else self._buffer.find(_OPEN)
            edge = len(self._buffer) - len(_OPEN) + 1 if start < 0 else start
            if self._bound is not None and self._base + edge >= self._bound:
                self.over = True
                return
            self._drop(max(0, edge))
            if start < 0:
                return
            searched = max(0, searched - edge)
            end = self._buffer.find(_CLOSE, searched)
            if end < 0:
                if len(self._buffer) > LARGEST:
                    yield Fault(self.where(), f"a page of more than {LARGEST >> 20} MiB")
                    self._drop(len(_OPEN))
                return
            end += len(_CLOSE)
            page = RawPage(bytes(self._buffer[:end]), self._line)
            self._drop(end)
            searched = 0
            yield page
            if self._left is not None:
                self._left -= 1
                self.over = self._left <= 0

    def end(self) -> Fault | None:
        """What is wrong with how the file ends."""
        if self._buffer.startswith(_OPEN):
            return Fault(self.where(), "the file ends in the midst of a page", page=False)
        if self._block.stop is None and _END not in self._tail:
            return Fault(self.where(), "the file ends without </mediawiki>: pages may be lacking", page=False)
        return None

    def _drop(self, count: int) -> None:
        if count > 0:
            if self._line is not None:
                self._line += self._buffer.count(b"\n", 0, count)
            del self._buffer[:count]
            self._base += count


def header_of(path: Path) -> bytes:
    """What a dump says before its first page; as much as was found where it is damaged."""
    found = bytearray()
    try:
        for data, _ in unpacked(path):
            found += data
            at = found.find(_OPEN)
            if at >= 0 or len(found) > _HEADER:
                return bytes(found[: at if at >= 0 else _HEADER])
    except DamagedError:
        pass  # whoever reads the pages says so
    return bytes(found)


def _namespaces(header: bytes) -> Mapping[str, int]:
    """Names of namespaces in small letters: the wiki's own and the English ones, which always hold."""
    from xml.etree.ElementTree import ParseError

    names = dict(NAMESPACES)
    start, end = header.find(b"<siteinfo"), header.find(b"</siteinfo>")
    if 0 <= start < end:
        from xml.etree import ElementTree

        try:
            info = ElementTree.fromstring(header[start : end + len(b"</siteinfo>")])
        except (ParseError, ValueError, LookupError):  # or an encoding that is none
            return names
        for space in info.iter("namespace"):
            if space.text and re.fullmatch(r"-?[0-9]{1,9}", key := space.get("key", "")):
                names[space.text.lower()] = int(key)
    return names


def _page(raw: RawPage, block: Block, namespaces: Mapping[str, int]) -> Page | Fault:
    from xml.etree.ElementTree import ParseError

    where = f"{block.name}:{raw.line + 1}" if raw.line is not None else _byte(block)
    needed("mwxml")
    from mwxml.element_iterator import ElementIterator
    from mwxml.errors import MalformedXML
    from mwxml.iteration.page import Page as MediaWikiPage

    try:
        element = ElementIterator.from_string(raw.data.decode("utf-8"))
        page = MediaWikiPage.from_element(element)
        last: Any = None
        for revision in page:
            if last is None or revision.timestamp >= last.timestamp:
                last = revision
        if last is None:
            return Fault(where, f"page {page.id}, {page.title!r}: has no revision")
        main = last.slots.contents["main"]
        namespace = int(page.namespace)
        if b"<ns>" not in raw.data:  # exports before version 0.6 say it in the title alone
            prefix, colon, _ = str(page.title).partition(":")
            namespace = namespaces.get(prefix.strip().lower(), 0) if colon else 0
        return Page(
            id=str(page.id),
            title=str(page.title),
            text=main.text or "",
            namespace=namespace,
            redirect=page.redirect is not None,
            revision=str(last.id),
            timestamp=str(last.timestamp),
            wikitext=True,
            namespaces=namespaces,
        )
    # mwxml meets a lacking or odd element with whatever exception lies on its way.
    except (ParseError, MalformedXML, ValueError, TypeError, AttributeError, KeyError) as error:
        return Fault(where, f"a page that cannot be read: {str(error)[:200]}")


def _byte(block: Block) -> str:
    return f"{block.name}: byte {block.start:,} and after"
