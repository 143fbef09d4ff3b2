"""An import that fails leaves nothing behind: takes back the study that it made."""

from __future__ import annotations

from pathlib import Path

from leadline.bench.header import HEADER_NAME, ITEMS_NAME
from leadline.study.config_file import STUDY_FILE
from leadline.study.database import MANIFEST
from leadline.study.new import SCHEMA_FILE
from leadline.study.store import DATABASE


def take_back(folder: Path, was_there: bool) -> None:
    """Remove a study that was made just now; the folder as well, unless it was there or holds more."""
    remove_database(folder)
    for name in (STUDY_FILE, SCHEMA_FILE, MANIFEST):
        (folder / name).unlink(missing_ok=True)
    if not was_there and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def remove_database(folder: Path) -> None:
    """Remove a database that was made just now, with all that SQLite keeps beside it."""
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", ".lock"):
        (folder / name).unlink(missing_ok=True)


def remove_benchmark(folder: Path) -> None:
    """Remove a benchmark folder that was made just now, unless somebody put more into it."""
    for name in (HEADER_NAME, ITEMS_NAME):
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
