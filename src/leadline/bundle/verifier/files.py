"""The files of a bundle: their checksums, and JSON line by line."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.bundle.verifier.faults import Book

CHECKSUMS = "CHECKSUMS.sha256"
# A line holds one answer with its text; packed files of answers are some ten times smaller.
_LONGEST_LINE = 64 * 2**20
_MOST_UNPACKED, _MOST_TIMES = 2**30, 200


def holds_only_files(folder: Path, book: Book) -> bool:
    """Whether there is nothing but folders and files. What a link leads to lies outside of the bundle, and
    what is wrong with it would be told with words out of it."""
    odd = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not (path.is_file() or path.is_dir())
    ]
    for name in odd:
        book.fault("structure", f"{name} is a link, or no file: a bundle holds files and folders alone")
    return not odd


def check_checksums(folder: Path, book: Book) -> None:
    """Every file is listed with the sha256 that it has, and every listed file is there."""
    listing = folder / CHECKSUMS
    if not listing.is_file():
        book.fault("checksum", f"{CHECKSUMS} is missing")
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(listing.read_text(encoding="utf-8").splitlines(), 1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            book.fault("checksum", f"{CHECKSUMS}:{number} is not 'sha256  name'")
            continue
        listed[name] = digest
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for name in sorted(there - set(listed) - {CHECKSUMS}):
        book.fault("checksum", f"{name} is not listed in {CHECKSUMS}")
    for name, digest in sorted(listed.items()):
        if name not in there:
            book.fault("checksum", f"{name} is listed and not there")
        elif sha256_of(folder / name) != digest:
            book.fault("checksum", f"{name} is not the file that {CHECKSUMS} lists")
    book.facts["files"] = len(listed)


def check_forms(folder: Path, book: Book) -> None:
    """Files that this program cannot read are at least what their names say."""
    parquet, page, evidence = (
        folder / name for name in ("responses.parquet", "report.html", "evidence.html")
    )
    for path in (parquet, page):
        if not path.is_file():
            book.fault("structure", f"{path.name} is missing")
    if parquet.is_file():
        with parquet.open("rb") as file:
            first = file.read(4)
            file.seek(-min(4, parquet.stat().st_size), 2)
            last = file.read(4)
        if (first, last) != (b"PAR1", b"PAR1"):
            book.fault("structure", "responses.parquet is no Parquet file")
    for path in (page, evidence):  # the second one where the report leads to it
        if path.is_file() and not path.read_bytes()[:200].lstrip().lower().startswith(b"<!doctype html"):
            book.fault("structure", f"{path.name} is no HTML page")


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def parsed(text: Any) -> Any:
    """JSON, in which no name stands twice in one object: programs would disagree about which one counts."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("is nested deeper than any file of a bundle") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def read_json(folder: Path, name: str, book: Book) -> Any:
    """What a JSON file holds; None, and a fault, where it cannot be read."""
    try:
        return parsed((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        book.fault("structure", f"{name} is missing")
    except (OSError, ValueError) as error:
        book.fault("structure", f"{name} is not JSON: {error}")
    return None


def read_lines(folder: Path, name: str, book: Book) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file (or of the same with .gz) with their line numbers."""
    path = folder / name
    packed = folder / (name + ".gz")
    if not path.is_file() and not packed.is_file():
        book.fault("structure", f"{name} is missing")
        return
    is_plain = path.is_file()
    most = path.stat().st_size if is_plain else max(_MOST_UNPACKED, _MOST_TIMES * packed.stat().st_size)
    with path.open("rb") if is_plain else gzip.open(packed, "rb") as file:
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            most -= len(line)
            if len(line) > _LONGEST_LINE or most < 0:
                book.fault("structure", f"{name}:{number}: more than any bundle holds; the rest was not read")
                return
            try:
                found = parsed(line)
                if not isinstance(found, dict):
                    raise ValueError("not an object")
            except ValueError as error:
                book.fault("structure", f"{name}:{number}: {error}")
                continue
            yield number, found
