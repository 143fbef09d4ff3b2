"""What a reader says to have read before deciding: a document among the sources, by name and checksum."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from leadline.bench import Benchmark
from leadline.bench.adjudications import Read
from leadline.bench.problem import did_you_mean
from leadline.documents.sources import Sources
from leadline.errors import UsageError


def text_read(
    benchmark: Benchmark, source: str, start: int | None = None, end: int | None = None
) -> tuple[Read, ...]:
    """What was read of a document among the benchmark's sources, with the document's sha256; () for "".

    `source` is a name or a URL that was fetched; `start` and `end` count characters of its text. Raises
    UsageError for a document that is not held, and for a place outside of its text.
    """
    if not source:
        if start is not None or end is not None:
            raise UsageError("--from and --to are places in a document", fix="--source NAME")
        return ()
    origin = benchmark.origin
    sources = Sources.of(origin) if origin is not None and origin.is_dir() else None
    path = sources.find(source) if sources else None
    if sources is None or path is None:
        names = sources.names() if sources else []
        held = f"held are: {', '.join(names[:5])}" if names else "the benchmark holds no sources"
        fix = did_you_mean(source, names, otherwise=held)
        raise UsageError(f"{benchmark.name} has no source {source!r}", fix=fix)
    if start is not None or end is not None:
        length = len(sources.read(path).text)
        first, last = start or 0, length if end is None else end
        if not first < last <= length:
            what = f"characters {first:,} to {last:,} are not in it: it has {length:,}"
            raise UsageError(what, where=source, fix="--from N --to M, with N below M")
    return (Read(source=source, sha256=checksum(path), start=start or 0, end=end),)


def checksum(path: Path) -> str:
    """sha256 of a file's bytes, as hexadecimal digits; at once, if asked before and not changed since.

    Raises OSError.
    """
    about = path.stat()
    return _checksum(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=256)
def _checksum(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
