"""What lies in the files that a tool or a study wrote."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import zstandard


def answers_under(folder: Path, name: str) -> dict[tuple[str, int], tuple[str, str, int]]:
    """Of a configuration: (item, sample) → text, why it ended, its tokens."""
    told = json.loads((folder / "manifest.json").read_text("utf-8"))["configurations"]
    (identity,) = (one["id"] for key, one in told.items() if key.endswith(f"/{name}"))
    with sqlite3.connect(folder / "responses.sqlite") as database:
        found = database.execute(
            "SELECT item, sample, text, finish, tokens_out FROM responses WHERE configuration = ?", [identity]
        ).fetchall()
    database.close()
    return {(item, sample): tuple(rest) for item, sample, *rest in found}


def stored(folder: Path) -> int:
    """How many answers a study holds."""
    with sqlite3.connect(folder / "responses.sqlite") as database:
        (number,) = database.execute("SELECT count(*) FROM responses").fetchone()
    database.close()
    return int(number)


def entries(log: Path) -> dict[str, bytes]:
    """The entries of one of Inspect's archives, unpacked without Inspect: its method 93 is zstd."""
    found = {}
    with zipfile.ZipFile(log) as archive, log.open("rb") as file:
        for each in archive.infolist():
            if each.compress_type != 93:
                found[each.filename] = archive.read(each)
                continue
            file.seek(each.header_offset + 26)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            file.seek(name + extra, 1)
            packed = file.read(each.compress_size)
            found[each.filename] = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    return found


def answers_in_inspect_log(log: Path) -> dict[tuple[str, int], str]:
    """(sample, epoch from 0) → the answer, whole."""
    samples = [json.loads(data) for name, data in entries(log).items() if name.startswith("samples/")]
    return {(one["id"], one["epoch"] - 1): one["output"]["completion"] for one in samples}


def answers_in_lm_eval_samples(file: Path) -> dict[tuple[str, int], str]:
    """(item, repeat from 0) → the answer, whole."""
    found = {}
    for line in file.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        (repeats,) = row["resps"]
        for number, text in enumerate(repeats):
            found[json.loads(row["doc"]["leadline"])["id"], number] = text
    return found


def files_with(text: str, *folders: Path) -> list[Path]:
    """Files that hold `text`, archives unpacked."""
    found = []
    for path in (each for folder in folders for each in folder.rglob("*") if each.is_file()):
        parts = entries(path).values() if path.suffix == ".eval" else [path.read_bytes()]
        if any(text.encode() in part for part in parts):
            found.append(path)
    return found
