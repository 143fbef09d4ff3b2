"""Writes a repaired benchmark: a folder of its own beside the old one, whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

from leadline.audit.repair import Repair
from leadline.bench.whole_file import whole_folder
from leadline.bench.writing import write_benchmark
from leadline.errors import LeadlineError, UsageError

DOCUMENT = "repair.json"
REPAIRED_IDS = "repaired.txt"
SOURCES = "sources"


def check_place(original: Path | None, out: Path) -> None:
    """Raise UsageError where a repaired benchmark cannot go: over something, or into the benchmark itself."""
    if out.exists() or out.is_symlink():
        raise UsageError(
            "there is something already", where=str(out), fix="name another folder: --out FOLDER"
        )
    if original is not None and out.resolve().is_relative_to(original.resolve()):
        raise UsageError("lies within the benchmark that is repaired", where=str(out), fix="--out FOLDER")


def write_repair(repair: Repair, original: Path, out: Path, pairing: str) -> None:
    """Write the repaired benchmark to the folder `out`, with copies of the sources.

    Beside the benchmark's own files there are repair.json (what was done), pairing.csv (the text `pairing`)
    and repaired.txt (the ids of the repaired items, one a line). Items that were not repaired keep their
    bytes. Raises UsageError when `out` exists, LeadlineError when it cannot be written.
    """
    if repair.benchmark is None:
        raise ValueError("nothing was repaired")
    check_place(original, out)
    try:
        with whole_folder(out) as made:
            write_benchmark(repair.benchmark, made)
            if (original / SOURCES).is_dir():
                # Copied, not linked: a version must not change when another one is edited.
                shutil.copytree(original / SOURCES, made / SOURCES, symlinks=True, dirs_exist_ok=True)
            document = repair.document.model_dump_json(by_alias=True, indent=1, exclude_none=True)
            (made / DOCUMENT).write_text(document + "\n", encoding="utf-8", newline="\n")
            ids = "".join(f"{item.item}\n" for item in repair.document.done)
            (made / REPAIRED_IDS).write_text(ids, encoding="utf-8", newline="\n")
            (made / "pairing.csv").write_text(pairing, encoding="utf-8", newline="")
    except OSError as error:
        place = error.filename or out
        raise LeadlineError(f"cannot be written: {error.strerror or error}", where=str(place)) from error
