"""The documents that people read while they label: opened aside, shown slice by slice, never as HTML.

Offsets are code points of `Document.text`, as quotes and windows are counted everywhere; the checksum is that
of the file's bytes. A document of any size costs a request no more than its slice: it is read once, on a
thread of its own, and whoever asks before that is told that it is being read.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from pathlib import Path

from leadline.audit.repair_cut import between_characters
from leadline.bench.benchmark import Benchmark
from leadline.documents import Sources, UnreadableDocument
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import LeadlineError

MAX_BYTES = 512 * 1024 * 1024
# One answer to a browser: 40 printed pages, laid out in milliseconds.
SLICE = 65_536
# A passage that is opened at an offset begins so much before it, so that a reader sees what it belongs to.
CONTEXT = 2_000
# Two documents are kept whatever their size, further ones while all of them hold no more than this.
_KEPT, _KEPT_CHARACTERS = 2, 64_000_000
# So many documents are read at once: each costs a few times its size while it is.
_READERS = 2
# A file that is written while it is read is read again, so often.
_TRIES = 3
_LONGEST_CLUSTER = 64


class NoSuchDocument(LeadlineError):  # noqa: N818  # an outcome of its own, not a fault of the program
    """A number that no document has."""


@dataclass(frozen=True, slots=True)
class Slice:
    """`text` is characters `start` to `end` of a document of `total` characters."""

    text: str
    start: int
    end: int
    total: int


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document that was read: its number and name, its text, and the checksum of its file's bytes."""

    number: int
    name: str
    text: str
    sha256: str


class Documents:
    """The documents of `sources` by number: their place in the list of names, as it was at the start.

    Safe for threads. `max_bytes` limits a file and what it unpacks to.

    >>> Documents(Sources(Path("there-is-no-such-folder"))).names
    ()
    """

    def __init__(self, sources: Sources, *, max_bytes: int = MAX_BYTES) -> None:
        """Lists the names; nothing is opened yet. Raises LeadlineError when a folder cannot be listed."""
        self.sources, self.max_bytes = sources, max_bytes
        self.names = tuple(sources.names())
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._reading: OrderedDict[int, tuple[object, Future[OpenDocument]]] = OrderedDict()
        self._lock = threading.Lock()
        self._readers = threading.Semaphore(_READERS)

    def number_of(self, pointer: str) -> int | None:
        """The number of the document that an item's pointer means (a name here, a URL that was fetched)."""
        path = self.sources.find(pointer) if pointer.strip() else None
        if path is None:
            return None
        return self._numbers.get(path.relative_to(self.sources.folder).as_posix())

    def number_named(self, name: str) -> int | None:
        """The number of the document of exactly that name, as a quote says it."""
        return self._numbers.get(name)

    def open(self, number: int, wait: float | None = None) -> OpenDocument | None:
        """The document of that number as its file is now; None where it is still being read after `wait`
        seconds (None: however long it takes).

        Raises NoSuchDocument, and UnreadableDocument where there is no text to be had.
        """
        if not 0 <= number < len(self.names):
            known = (
                f"documents are numbered from 0 to {len(self.names) - 1}" if self.names else "there are none"
            )
            raise NoSuchDocument("there is no document of that number", fix=known)
        future = self._begun(number)
        try:
            return future.result(wait)
        except NotYet:
            return None

    def _begun(self, number: int) -> Future[OpenDocument]:
        stamp = _stamp(self.sources.folder / self.names[number])
        with self._lock:
            known = self._reading.get(number)
            # A file that was changed since is another text, and offsets into the old one are none into it.
            if known is not None and (known[0] == stamp or not known[1].done()):
                self._reading.move_to_end(number)
                return known[1]
            future: Future[OpenDocument] = Future()
            self._reading[number] = (stamp, future)
            self._reading.move_to_end(number)
            self._let_go()
        threading.Thread(target=self._read, args=(number, future), daemon=True, name="document").start()
        return future

    def _read(self, number: int, future: Future[OpenDocument]) -> None:
        try:
            with self._readers:
                found = self._as_it_is(number)
        except BaseException as error:  # whoever asked is told
            # What the file is to blame for stays so until it is changed; anything else may go well next time.
            if not isinstance(error, UnreadableDocument):
                with self._lock:
                    if self._reading.get(number, (None, None))[1] is future:
                        del self._reading[number]
            future.set_exception(error)
        else:
            future.set_result(found)
            with self._lock:
                self._let_go()

    def _as_it_is(self, number: int) -> OpenDocument:
        """A document's text, and the checksum of the very file that it was read from. Raises
        UnreadableDocument."""
        name = self.names[number]
        path = self.sources.path(name)
        for _ in range(_TRIES):
            before = _stamp(path)
            text = self.sources.read(path, max_bytes=self.max_bytes).text
            digest = _sha256(path)
            if _stamp(path) == before:
                return OpenDocument(number, name, text, digest)
        raise UnreadableDocument("is being written", where=str(path), fix="open it again when it is whole")

    def _let_go(self) -> None:
        """Of what was read, forget what was not asked for longest."""
        for number in list(self._reading):
            sizes = [_size(future) for _, future in self._reading.values()]
            if len(sizes) <= _KEPT or sum(sizes) <= _KEPT_CHARACTERS:
                return
            if self._reading[number][1].done():
                del self._reading[number]


def documents_of(benchmark: Benchmark) -> Documents | None:
    """The documents that lie beside a benchmark; None where there are none."""
    origin = benchmark.origin
    if origin is None:
        return None
    found = Documents(Sources(((origin if origin.is_dir() else origin.parent) / FOLDER_NAME).resolve()))
    return found if found.names else None


def slice_at(text: str, at: int) -> Slice:
    """The slice to open a document with at character `at`: from a line's beginning somewhat before it.

    >>> slice_at("one\\ntwo\\n", 5).text
    'one\\ntwo\\n'
    """
    at = min(max(at, 0), len(text))
    first = max(at - CONTEXT, 0)
    return slice_from(text, _break_before(text, first, max(first - CONTEXT, 0)) if first else 0)


def slice_from(text: str, start: int) -> Slice:
    """The slice that goes on at character `start`, to the end of a line where one ends in its second half."""
    start = min(max(start, 0), len(text))
    end = start + SLICE
    end = len(text) if end >= len(text) else _break_before(text, end, start + SLICE // 2)
    return Slice(text[start:end], start, end, len(text))


def slice_until(text: str, end: int) -> Slice:
    """The slice that ends at character `end`, as `slice_from` the other way round."""
    end = min(max(end, 0), len(text))
    start = end - SLICE
    start = 0 if start <= 0 else _break_before(text, start, max(start - SLICE // 2, 0))
    return Slice(text[start:end], start, end, len(text))


def _break_before(text: str, at: int, least: int) -> int:
    """The last place from `least` to `at` where a line begins; else one between words; else between two
    characters as people see them."""
    if (line := text.rfind("\n", least, at)) >= 0:
        return line + 1
    near = max(least, at - CONTEXT)
    for sign in (" ", "\t", "\r"):
        if (word := text.rfind(sign, near, at)) >= 0 and between_characters(text, word + 1):
            return word + 1
    for place in range(at, max(least, at - _LONGEST_CLUSTER), -1):
        if between_characters(text, place):
            return place
    return at


def _size(future: Future[OpenDocument]) -> int:
    if not future.done() or future.exception() is not None:
        return 0
    return len(future.result().text)


def _stamp(path: Path) -> object:
    """What differs where a file was written since."""
    try:
        about = path.stat()
    except OSError as error:
        return error.errno
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnreadableDocument(f"cannot be read: {error.strerror or error}", where=str(path)) from error
