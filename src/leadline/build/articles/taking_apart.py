"""Large files that can only be read from their beginning, cut once into pieces that workers read apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from leadline.bench.whole_file import whole_file
from leadline.build.articles.blocks import PLAIN_BYTES, Block, Form
from leadline.build.articles.dump import header_of, raw_pages
from leadline.build.articles.json_lines import raw_lines
from leadline.build.articles.page import Fault
from leadline.build.extra import needed
from leadline.build.workspace import write_json

_WHOLE = "whole.json"


def taken_apart(
    path: Path, form: Form, folder: Path, most: int | None = None, piece: int = PLAIN_BYTES
) -> tuple[list[Block], list[Fault]]:
    """Pieces of a dump or of JSON lines in `folder`, each about `piece` bytes of text, and the file's faults.

    Pieces that are all there are not made again. Reads at the speed of unpacking, some 25 MB of text a second
    from bz2 and several hundred from zstd; the pieces take about the room of the file. Raises OSError.
    """
    said = _taken(folder)
    if said is None:
        said = _cut(path, form, folder, most, piece)
        write_json(folder / _WHOLE, said)
    blocks = [
        Block(form, folder / name, origin=str(path), line=line)
        for name, line in zip(*said["pieces"], strict=True)
    ]
    return blocks, [Fault(where, what, page=False) for where, what in said["faults"]]


def _taken(folder: Path) -> dict[str, Any] | None:
    """What was written when all pieces were there; None where nothing was, or something else wrote it."""
    try:
        said = json.loads((folder / _WHOLE).read_bytes())
        names, lines = said["pieces"]
        pieces = [
            isinstance(line, int) and (folder / name).is_file() and Path(name).name == name
            for name, line in zip(names, lines, strict=True)
        ]
        faults = [isinstance(where, str) and isinstance(what, str) for where, what in said["faults"]]
    except (FileNotFoundError, IsADirectoryError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return said if all(pieces) and all(faults) else None


def _cut(path: Path, form: Form, folder: Path, most: int | None, piece: int) -> dict[str, Any]:
    whole = Block(form, path, most=most)
    header = header_of(path) if form == "xml" else b""
    faults: list[tuple[str, str]] = []
    names: list[str] = []
    lines: list[int] = []
    folder.mkdir(parents=True, exist_ok=True)
    for first, texts in _pieces(_texts(whole, faults), piece):
        name = f"{len(names):05d}.{form}.zst"
        with whole_file(folder / name) as file:
            packed = needed("zstandard").ZstdCompressor(level=3).stream_writer(file, closefd=False)
            packed.write(header)
            for text in texts:
                packed.write(text)
            packed.write(b"</mediawiki>\n" if form == "xml" else b"")
            packed.close()
        names.append(name)
        lines.append(first - header.count(b"\n"))
    return {"pieces": [names, lines], "faults": faults}


def _texts(whole: Block, faults: list[tuple[str, str]]) -> Iterator[tuple[int, bytes]]:
    """Pages or lines, each with the number of lines before it."""
    if whole.form == "xml":
        for raw in raw_pages(whole):
            if isinstance(raw, Fault):
                faults.append((raw.where, raw.what))
            else:
                yield raw.line or 0, raw.data + b"\n"
        return
    for number, line in raw_lines(whole):
        if isinstance(line, Fault):
            faults.append((line.where, line.what))
        else:
            yield (number or 1) - 1, line


def _pieces(texts: Iterable[tuple[int, bytes]], piece: int) -> Iterator[tuple[int, list[bytes]]]:
    first, size, found = 0, 0, list[bytes]()
    expected = 0
    for line, text in texts:
        if not found:
            first = expected = line
        # Lines that were passed over (empty ones) keep their place, so that messages name the right line.
        found.append(b"\n" * max(0, line - expected) + text)
        expected = max(line, expected) + text.count(b"\n")
        size += len(text)
        if size >= piece:
            yield first, found
            size, found = 0, []
    if found:
        yield first, found
