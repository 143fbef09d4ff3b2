"""Reads `pageview_complete` dumps: one row a page and way of access, of a day or of a month.

    en.wikipedia Obergesteln 7082401 desktop 2 C1W1

wiki, title, page id ("null" where it is not known; absent before 2015), access, views, and what hours (or
days) they fell in. Desktop, mobile-web and mobile-app rows of a page are summed. A page's views are those of
the title that was asked for: views of a redirect are counted under the redirect's own title.
Source: https://dumps.wikimedia.org/other/pageview_complete/readme.html
"""

from __future__ import annotations

import bz2
import gzip
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from leadline.errors import LeadlineError

_ACCESS = frozenset((b"desktop", b"mobile-web", b"mobile-app"))
_BLOCK = 1 << 22
_LONGEST = 1 << 26  # bytes of what ends without a line end
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Wanted:
    """Whose views are kept: the wiki ("en.wikipedia"), entities by title (a `title_key`) and by page id."""

    project: str
    titles: Mapping[str, str]
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Counted:
    """Views by entity; an entity without a row is absent. `rows` and `broken` are lines of the project."""

    views: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    broken: int = 0


def count_views(path: Path, wanted: Wanted, advance: Callable[[int], None] | None = None) -> Counted:
    """The views in one file (.bz2, .gz, .zst or plain) of those wanted; nothing else is kept in memory.

    A row counts by its title; where that is not wanted, by its page id (a page that was moved since). Lines
    of the project that are no rows are counted as broken. `advance` is told of uncompressed bytes. Raises
    LeadlineError where the file cannot be read to its end: a sum without the rest would be wrong.
    """
    lead = wanted.project.encode() + b" "
    titles = {title.encode(): entity for title, entity in wanted.titles.items()}
    ids = {number.encode(): entity for number, entity in wanted.ids.items()}
    counted = Counted()
    for block in _blocks(path, advance):
        # Rows of one wiki stand together: most blocks hold none of this one.
        if lead in block:
            for line in block.split(b"\n"):
                if line.startswith(lead):
                    _count(line, titles, ids, counted)
    return counted


def title_key(title: str) -> str:
    """A title as the dumps spell it: NFC, underscores, first letter large.

    >>> title_key("obergesteln railway station")
    'Obergesteln_railway_station'
    """
    text = "_".join(unicodedata.normalize("NFC", title).replace("_", " ").split())
    return text[:1].upper() + text[1:]


def _count(line: bytes, titles: Mapping[bytes, str], ids: Mapping[bytes, str], counted: Counted) -> None:
    parts = line.rstrip(b"\r").split(b" ")
    # Spaces within a title are rare and wrong, but they are there: the row is read from its end.
    access = next((at for at in (-3, -2) if len(parts) + at > 1 and parts[at] in _ACCESS), 0)
    views = parts[access + 1] if access else b""
    if not views.isdigit() or len(views) > _MOST_DIGITS or not parts[1:access]:
        counted.broken += 1
        return
    counted.rows += 1
    before = parts[1:access]
    number = before.pop() if len(before) > 1 and (before[-1].isdigit() or before[-1] == b"null") else b""
    title = before[0] if len(before) == 1 else b"_".join(before)
    entity = titles.get(title)
    if entity is None and (len(before) > 1 or b"%" in title or not title[:1].isupper()):
        entity = titles.get(title_key(unquote_to_bytes(title).decode("utf-8", "replace")).encode())
    if entity is None:
        entity = ids.get(number)
    if entity is not None:
        counted.views[entity] += int(views)


def _blocks(path: Path, advance: Callable[[int], None] | None) -> Iterator[bytes]:
    """The file's content in blocks of whole lines."""
    rest = b""
    try:
        for block in _unpacked(path):
            if advance is not None:
                advance(len(block))
            end = block.rfind(b"\n") + 1
            if end:
                yield rest + block[:end]
                rest = block[end:]
            else:
                rest += block
                if len(rest) > _LONGEST:
                    raise OSError(f"a line of more than {_LONGEST >> 20} MiB")
    except (OSError, EOFError, zlib.error) as error:
        what = f"cannot be read to its end: {str(error)[:100]}"
        raise LeadlineError(what, where=str(path), fix="fetch it again") from None
    if rest:
        yield rest


def _unpacked(path: Path) -> Iterator[bytes]:
    if path.suffix == ".zst":
        yield from _unpacked_zstd(path)
        return
    opened: Mapping[str, Callable[[Path, str], Any]] = {".bz2": bz2.open, ".gz": gzip.open}
    with opened.get(path.suffix, open)(path, "rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _unpacked_zstd(path: Path) -> Iterator[bytes]:
    """Frame by frame, since zstandard's own reader takes a file that is cut short for one that ends."""
    import zstandard

    with path.open("rb") as file:
        frame, packed = zstandard.ZstdDecompressor().decompressobj(), b""
        begun = False
        while packed := packed or file.read(_BLOCK):
            try:
                block = frame.decompress(packed)
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from None
            begun, packed = not frame.eof, frame.unused_data
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            if block:
                yield block
        if begun:
            raise EOFError("the last frame is cut short")
