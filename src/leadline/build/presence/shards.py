"""Shards of a corpus as blocks of bounded size: Dolma-style JSON lines, Parquet, plain text.

What a shard holds that is no document is counted by kind, with the first line where it occurs, and reported;
nothing of it ends a scan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.build.extra import needed
from leadline.build.presence.machine_code import loops
from leadline.build.presence.unpacking import CutShort, Damaged, packing, unpacked

Fault = Literal[
    "empty",  # a file without a byte
    "cut",  # ends in the middle of its packing; what comes before is read
    "damaged",  # its packing is broken; what comes before is read
    "unreadable",  # the file cannot be opened or read
    "warc",  # a web archive: nothing is read
    "no-text-column",  # of a Parquet file: nothing is read
    "other-packing",  # its name says another packing than it has; read as what it is
    "other-format",  # its name says another format than it has; read as what it is
    "blank",  # lines of white space
    "broken",  # lines that are no JSON, or no UTF-8
    "not-object",  # lines that are JSON, but no object
    "no-text",  # objects without a `text` that is a string
    "too-long",  # lines of more than LONGEST bytes, which are passed over
]

BLOCK = 1 << 20
"""Bytes of a block, at least, if the shard is not shorter. Smaller ones make more calls, larger ones fall out
of the caches."""
LONGEST = 32 << 20
"""Bytes of a line, at most: parsed and compared, a line takes some ten times its size."""

_PACKINGS = {".zst": "zstd", ".zstd": "zstd", ".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
_BOM = b"\xef\xbb\xbf"


@dataclass
class Faults:
    """What was wrong with a shard: how often, and the first line (from 1; 0: the shard as a whole)."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, kind: Fault, line: int = 0) -> None:
        """One more of a kind."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.first.setdefault(kind, line)


class Lines(NamedTuple):
    """Whole JSON lines, each with its line end; `first` is the number of the first, from 1."""

    data: bytes
    first: int


class Texts(NamedTuple):
    """Documents without JSON; `first` is the number of the first, from 1."""

    ids: list[str]
    texts: list[str]
    first: int


def blocks(path: Path, faults: Faults) -> Iterator[Lines | Texts]:
    """A shard's documents. Holds a few megabytes at a time, or the longest line."""
    try:
        start = _start(path)
        if not start:
            faults.add("empty")
        elif start[:4] == b"PAR1":
            if ".parquet" not in path.suffixes:
                faults.add("other-format")
            yield from _parquet(path, faults)
        else:
            yield from _unpacked(path, start, faults)
    except OSError:
        faults.add("unreadable")
    except CutShort:
        faults.add("cut")
    except Damaged:
        faults.add("damaged")


def parsed(line: bytes) -> tuple[str, str | None] | Fault:
    """A line's text and its id (None: it has none), or what is wrong with it.

    >>> parsed(b'{"id": 7, "text": "Bielefeld exists."}')
    ('Bielefeld exists.', '7')
    >>> parsed(b'[1, 2]'), parsed(b'{"id": 7}'), parsed(b'{"text": "Biele')
    ('not-object', 'no-text', 'broken')
    """
    from pydantic_core import from_json

    if not line.strip():
        return "blank"
    try:
        said = from_json(line, cache_strings=False)
    except ValueError:
        try:  # the standard library also takes halves of surrogate pairs
            said = json.loads(line)
        except (ValueError, RecursionError):
            return "broken"
    if not isinstance(said, dict):
        return "not-object"
    text, name = said.get("text"), said.get("id")
    if not isinstance(text, str):
        return "no-text"
    return text, (str(name)[:500] if isinstance(name, (str, int)) and str(name) else None)


def faulty_by_shape(data: bytes, ends: npt.NDArray[np.intp]) -> list[tuple[int, Fault]]:
    """Lines that are no documents, so far as their shape shows it: number in the block and fault.

    `ends` are the places of the line ends. A line that looks like a document is not parsed: it begins with
    {" and ends with }, and somewhere a key `text` has a string.
    """
    found: list[tuple[int, Fault]] = []
    if (loop := loops("shape_loop")) is not None:
        for number in loop.odd(np.frombuffer(data, np.uint8), ends).tolist():
            what = parsed(data[ends[number - 1] + 1 if number else 0 : ends[number]])
            if isinstance(what, str):
                found.append((number, what))
        return found
    start = 0
    key, other = b'"text": "', b'"text":"'
    for number, end in enumerate(ends.tolist()):
        if data.startswith(b'{"', start) and data[end - 1] == 0x7D:  # }
            # Most lines of a shard are written alike, with the key near the start.
            if data.find(key, start, min(start + 400, end)) >= 0:
                start = end + 1
                continue
            if data.find(other, start, min(start + 400, end)) >= 0:
                key, other = other, key
                start = end + 1
                continue
            if data.find(key, start, end) >= 0 or data.find(other, start, end) >= 0:
                start = end + 1
                continue
        what = parsed(data[start:end])
        if isinstance(what, str):
            found.append((number, what))
        start = end + 1
    return found


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(8)


def _unpacked(path: Path, start: bytes, faults: Faults) -> Iterator[Lines | Texts]:
    said = next((_PACKINGS[suffix] for suffix in path.suffixes[-1:] if suffix in _PACKINGS), "none")
    if said != packing(start):
        faults.add("other-packing")
    plain = ".txt" in path.suffixes[-2:]
    pieces = unpacked(path)
    first = next(pieces, b"")
    if first.startswith(b"WARC/"):
        faults.add("warc")
    elif not first:
        faults.add("empty")
    else:
        if first.startswith(_BOM):
            first = first[len(_BOM) :]
        content = _chain(first, pieces)
        if not plain:
            yield from _lines(content, faults)
        else:
            yield from _plain(path, content)


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _lines(content: Iterator[bytes], faults: Faults) -> Iterator[Lines]:
    held: list[bytes] = []
    size, number = 0, 1
    fault: Exception | None = None
    passing = False  # over the rest of a line that is too long
    while True:
        try:
            piece = next(content)
        except StopIteration:
            break
        except (CutShort, Damaged, OSError) as error:
            fault = error
            break
        if passing:
            end = piece.find(b"\n")
            if end < 0:
                continue
            piece, passing, number = piece[end + 1 :], False, number + 1
        held.append(piece)
        size += len(piece)
        if size < BLOCK:
            continue
        end = piece.rfind(b"\n")
        if end >= 0:
            data = b"".join([*held[:-1], piece[: end + 1]])
            held = [piece[end + 1 :]]
            size = len(held[0])
            yield Lines(data, number)
            number += _lines_in(data)
        elif size > LONGEST:
            last = b"".join(held)
            begin = last.rfind(b"\n") + 1
            if begin:
                yield Lines(last[:begin], number)
                number += _lines_in(last[:begin])
            faults.add("too-long", number)
            held, size, passing = [], 0, True
    rest = b"".join(held)
    if fault is not None:  # the line in which the file breaks off is none
        rest = rest[: rest.rfind(b"\n") + 1]
    if rest:
        yield Lines(rest if rest.endswith(b"\n") else rest + b"\n", number)
    if fault is not None:
        raise fault


def _lines_in(data: bytes) -> int:
    array = np.frombuffer(data, np.uint8)
    loop = loops("shape_loop")
    # Both are several times as fast as `bytes.count`.
    return int(loop.lines_in(array) if loop is not None else np.count_nonzero(array == 0x0A))


def _plain(path: Path, content: Iterator[bytes]) -> Iterator[Texts]:
    """A text file is one document; a long one is cut at empty lines, over which no sentence goes."""
    held = b""
    number = 1
    fault: Exception | None = None
    try:
        for piece in content:
            held += piece
            if len(held) >= 4 * BLOCK:
                end = max(held.rfind(b"\n\n") + 1, 0) or (held.rfind(b"\n") + 1) or len(held)
                if end == len(held) and len(held) < LONGEST:
                    continue
                yield Texts([_part(path, number)], [held[:end].decode("utf-8", "replace")], number)
                held, number = held[end:], number + 1
    except (CutShort, Damaged, OSError) as error:
        fault = error
    if held:
        yield Texts([_part(path, number)], [held.decode("utf-8", "replace")], number)
    if fault is not None:
        raise fault


def _part(path: Path, number: int) -> str:
    return path.name if number == 1 else f"{path.name}#{number}"


def _parquet(path: Path, faults: Faults) -> Iterator[Texts]:
    pyarrow = needed("pyarrow")
    parquet = needed("pyarrow.parquet")
    number = 1
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if "text" not in names:
                faults.add("no-text-column")
                return
            columns = [name for name in ("id", "text") if name in names]
            for batch in file.iter_batches(batch_size=256, columns=columns):
                held = batch.to_pydict()
                ids = held.get("id", [None] * batch.num_rows)
                yield _column(path, ids, held["text"], number, faults)
                number += batch.num_rows
    except (pyarrow.ArrowException, ValueError) as error:
        raise Damaged(str(error)) from None


def _column(path: Path, ids: list[object], texts: list[object], number: int, faults: Faults) -> Texts:
    block = Texts([], [], number)
    for row, (name, text) in enumerate(zip(ids, texts, strict=True), number):
        if isinstance(text, str):
            block.ids.append(str(name)[:500] if name is not None else f"{path.name}:{row}")
            block.texts.append(text)
        else:
            faults.add("no-text", row)
    return block
