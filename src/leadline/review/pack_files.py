"""A pack as a folder: what it holds, how it is written whole or not at all, how it is read back and checked.

    pack.json       what it was drawn from, the seed, the strata, its rows' tokens and checksums
    rows.jsonl      what the reader of each row is shown, a line each
    sheet.csv       the sheet to fill in
    index.html      the questions on one page, each linked to its own
    pages/NNN.html  a question with its text
    PROTOCOL.md     how to answer, and what becomes of the answers

Nothing in it names an item, an answer, an alias or a quote.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.whole_file import whole_folder
from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import content
from leadline.review.pack import FORMAT, Pack, PackHead, PackRow, shown, shown_sha256, view_of
from leadline.review.pack_pages import index_page, protocol, row_page
from leadline.review.sheet import SHEET, sheet_text

HEAD, ROWS, PROTOCOL, INDEX = "pack.json", "rows.jsonl", "PROTOCOL.md", "index.html"


def write_pack(pack: Pack, folder: Path) -> Pack:
    """Write `pack` to `folder`, which must be new or empty; the pack as written, with its pages' checksums.

    The folder appears whole or not at all. Raises UsageError where it holds something, LeadlineError where
    it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(what, where=str(folder), fix="name a new folder: packs that were handed out stay")
    texts = {row.page: row_page(pack, row) for row in pack.rows}
    texts |= {INDEX: index_page(pack), PROTOCOL: protocol(pack)}
    texts[ROWS] = "".join(f"{shown(row.view)}\n" for row in pack.rows)
    files = {name: _sha256(text.encode()) for name, text in sorted(texts.items())}
    written = Pack(pack.head.model_copy(update={"files": files}), pack.rows)
    texts[SHEET] = sheet_text(written, {})
    texts[HEAD] = json.dumps(written.head.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    _write_whole(texts, folder)
    return written


def read_pack(folder: Path) -> Pack:
    """The pack in `folder`, checked against its own checksums; the sheet is not looked at.

    Raises UsageError, with the file, for what is no pack, for a file that is not there, and for one that was
    changed since the pack was drawn: its reader saw something else than the benchmark asks.
    """
    head_file = folder / HEAD
    if not folder.is_dir():
        raise UsageError("there is no such pack", where=str(folder), fix="the folder that review pack wrote")
    try:
        head = PackHead.model_validate_json(_bytes(head_file))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what, fix = complaint(first)
        if first["type"] == "json_invalid":
            what, fix = "is no JSON", f"pack.json of a {FORMAT} folder"
        raise UsageError(f"{place} {what}".strip(), where=str(head_file), fix=fix) from None
    for name, digest in head.files.items():
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(f"names a file outside of the pack: {name!r}", where=str(head_file))
        if _sha256(_bytes(folder / path)) != digest:
            what = "was changed after the pack was drawn: its reader was shown something else"
            raise UsageError(what, where=str(folder / path), fix="restore the file, or draw the pack again")
    return Pack(head, tuple(_rows(head, folder / ROWS)))


def _rows(head: PackHead, path: Path) -> list[PackRow]:
    lines = _bytes(path).decode("utf-8", "replace").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if len(lines) != len(head.rows):
        what = f"holds {len(lines):,} rows, {HEAD} names {len(head.rows):,}"
        raise UsageError(what, where=str(path), fix="restore the file, or draw the pack again")
    if len({entry.token for entry in head.rows}) < len(head.rows):
        raise UsageError("two rows have one token", where=str(path.parent / HEAD), fix="draw the pack again")
    rows = []
    for number, (entry, line) in enumerate(zip(head.rows, lines, strict=True), 1):
        where = f"{path}:{number}"
        try:
            view = view_of(line)
        except ValidationError:
            raise UsageError("is no row of a pack", where=where, fix="restore the file") from None
        if shown_sha256(view) != entry.sha256:
            what = f"is not what was drawn: its checksum differs from {HEAD}"
            raise UsageError(what, where=where, fix="restore the file, or draw the pack again")
        rows.append(PackRow(number, entry.token, view))
    return rows


def _write_whole(texts: Mapping[str, str], folder: Path) -> None:
    try:
        with whole_folder(folder) as made:
            for name, text in texts.items():
                (made / name).parent.mkdir(exist_ok=True)
                with (made / name).open("wb") as file:
                    file.write(text.encode())
                    file.flush()
                    os.fsync(file.fileno())
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise LeadlineError(what, where=str(folder), fix="check free space and permissions") from error


def _bytes(path: Path) -> bytes:
    try:
        return content(path)
    except FileNotFoundError:
        raise UsageError("is not there", where=str(path), fix="the folder that review pack wrote") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
