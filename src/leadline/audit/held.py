"""The documents that a benchmark holds, opened for the audit: their texts in normal form, a few at a time."""

from __future__ import annotations

import os
import re
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from leadline.audit.matching import Match, Matcher
from leadline.audit.normal import Normal
from leadline.documents import Document, Sources, UnreadableDocument

# Items of one document tend to stand together in a benchmark, so the last few documents are kept: no more of
# them than this, and no more characters.
_KEPT, _KEPT_CHARACTERS, _MATCHES_KEPT = 8, 16_000_000, 64
# Normal forms of plain text wait on disk for the second look: so many bytes of each process, beside the texts
# taken out of pages, and only while that leaves most of the disk's room free.
_WAITING_BYTES, _ROOM = 1 << 30, 8


# Ends of elements, attributes, elements without content. `<year>` alone is a placeholder in a licence.
_TAG = re.compile(
    r"(?:<|&lt;?)(?:/[A-Za-z]|[A-Za-z][\w:-]*(?:\s+[\w:-]+\s*=\s*[\"'&]|\s*/\s*(?:>|&gt))|br\b)"
)


def has_markup(text: str) -> bool:
    """Whether a text may be one of markup.

    >>> has_markup("<item>06b</item>"), has_markup("Copyright <year> by <owner>, if a < b")
    (True, False)
    """
    return _TAG.search(text) is not None


@dataclass(slots=True)
class HeldDocument:
    """One document: what a person reads in it, and, where it is HTML or XML, the markup itself.

    Both can be quoted; the text is tried first, and the markup is only looked at where the text does not do.
    """

    name: str
    document: Document
    _text: Normal | None = field(default=None, init=False)
    _markup: Normal | None = field(default=None, init=False)
    _matches: dict[str, tuple[Match, bool]] = field(default_factory=dict, init=False)

    @property
    def text(self) -> Normal:
        """The text in normal form."""
        if self._text is None:
            self._text = Normal(self.document.text)
        return self._text

    @property
    def markup(self) -> Normal | None:
        """The markup in normal form; None for plain text and PDF."""
        if self._markup is None and self.document.markup is not None:
            self._markup = Normal(self.document.markup)
        return self._markup

    def forms(self, *, markup: bool) -> Iterator[Normal]:
        """The text, then the markup if there is one and it is wanted."""
        yield self.text
        if markup and self.markup is not None:
            yield self.markup

    def match(self, quote: str, matcher: Matcher) -> tuple[Match, bool]:
        """The match in the text, else in the markup; and whether the places are those of the markup."""
        # Asked for when the document is resolved, and again when the quote is checked.
        if (known := self._matches.get(quote)) is None:
            if len(self._matches) >= _MATCHES_KEPT:
                self._matches.clear()
            known = self._matches[quote] = self._match(quote, matcher)
        return known

    def _match(self, quote: str, matcher: Matcher) -> tuple[Match, bool]:
        first = matcher(quote, self.text)
        if first.found or not has_markup(quote) or self.markup is None:
            return first, False
        second = matcher(quote, self.markup)
        return (second, True) if second.found else (first, False)

    @property
    def size(self) -> int:
        """Characters, of text and markup together."""
        return len(self.document.text) + len(self.document.markup or "")


class HeldDocuments:
    """Opens the documents of `sources`, and keeps the last few. Not shared between processes.

    Every document may be wanted twice: by its items, and when a text is sought in all of them. Taking an HTML
    page or a PDF apart costs much more than reading text, so what was taken out of it waits in the folder
    `scratch`, which processes may share; the normal forms of plain texts wait there as far as there is room.
    """

    def __init__(self, sources: Sources, scratch: Path | None = None) -> None:
        """Nothing is opened yet."""
        self._sources, self._scratch = sources, scratch
        self._room: int | None = None
        self._kept: OrderedDict[str, HeldDocument | UnreadableDocument] = OrderedDict()

    def find(self, pointer: str) -> str | None:
        """The name of the document that a pointer means, if it is held."""
        path = self._sources.find(pointer) if pointer.strip() else None
        return None if path is None else self._name(path)

    def open(self, name: str) -> HeldDocument:
        """The document of that name. Raises UnreadableDocument."""
        if name in self._kept:
            self._kept.move_to_end(name)
        else:
            self._kept[name] = self._read(name)
            while len(self._kept) > 1 and (len(self._kept) > _KEPT or self._size() > _KEPT_CHARACTERS):
                self._kept.popitem(last=False)
        held = self._kept[name]
        if isinstance(held, UnreadableDocument):
            raise held
        return held

    def normal_texts(self, name: str, *, markup: bool) -> Iterator[str]:
        """The normal forms of a document's text and, if wanted, of its markup. Raises UnreadableDocument."""
        waiting = self._waiting(name)
        if name not in self._kept and not markup and waiting is not None and waiting.is_file():
            yield waiting.read_bytes().decode("utf-8", "surrogatepass")
            return
        yield from (form.text for form in self.open(name).forms(markup=markup))

    def _waiting(self, name: str) -> Path | None:
        return None if self._scratch is None else self._scratch / sha256(name.encode()).hexdigest()

    def _keep_text(self, held: HeldDocument) -> None:
        waiting = self._waiting(held.name)
        if waiting is None or waiting.exists():
            return
        normal = held.text.text.encode("utf-8", "surrogatepass")
        if held.document.kind == "text":
            if self._room is None:
                self._room = min(_WAITING_BYTES, shutil.disk_usage(waiting.parent).free // _ROOM)
            if self._room < len(normal):
                return
            self._room -= len(normal)
        # Another process may write the same; each does so under a name of its own.
        own = waiting.with_suffix(f".{os.getpid()}")
        own.write_bytes(normal)
        own.replace(waiting)

    def _read(self, name: str) -> HeldDocument | UnreadableDocument:
        try:
            held = HeldDocument(name, self._sources.read(self._sources.path(name)))
        except UnreadableDocument as error:
            return error
        self._keep_text(held)
        return held

    def _size(self) -> int:
        return sum(held.size for held in self._kept.values() if isinstance(held, HeldDocument))

    def _name(self, path: Path) -> str:
        try:
            return path.relative_to(self._sources.folder).as_posix()
        except ValueError:
            return path.name
