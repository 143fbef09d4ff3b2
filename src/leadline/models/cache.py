"""The folder where converted models are kept: whole entries or none, made by one process at a time.

    <cache>/models/<key>/                    an entry: the model's files and `leadline-model.json`
    <cache>/models/.making-<key>~xxxxxxxx/   work in progress, or what a killed process left
    <cache>/models/.<key>.lock               held while <key> is made or removed
    <cache>/remembered/                      hashes of big files, by path, size and modification time

An entry is written in a work folder, its manifest last, flushed to disk, and then renamed into place. A
process killed at any moment leaves a work folder behind, which the next maker of the same entry clears.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from leadline.errors import LeadlineError
from leadline.models.progress import Progress
from leadline.places import cache_home

MANIFEST = "leadline-model.json"
# Raised when a newer Leadline would convert differently, so that older entries are made again.
FORMAT = 1
_ELSEWHERE = "set LEADLINE_CACHE to a folder that you can write to, with room"


class About(BaseModel):
    """What the maker of an entry knows about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    licence: str | None
    revision: str | None
    source: str
    digest: str
    made_with: dict[str, str]


class FileRecord(BaseModel):
    """One file of an entry, as it was written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    sha256: str


class Manifest(BaseModel):
    """`leadline-model.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    about: About
    files: dict[str, FileRecord]


@dataclass(frozen=True)
class Entry:
    """A model in the cache, whole as far as its files' sizes tell."""

    key: str
    folder: Path
    manifest: Manifest

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(record.size for record in self.manifest.files.values())


class DamagedError(Exception):
    """An entry that is not what its manifest says; the message says in what."""


def _models() -> Path:
    return cache_home() / "models"


def look_up(key: str) -> Entry | None:
    """The entry, or None if there is none; raises DamagedError if its files are not as they were written."""
    folder = _models() / key
    if not folder.is_dir():
        return None
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise DamagedError(f"no {MANIFEST}") from None
    except (ValidationError, UnicodeDecodeError):
        raise DamagedError(f"unreadable {MANIFEST}") from None
    if manifest.format != FORMAT:
        raise DamagedError(f"made in format {manifest.format}, this version writes format {FORMAT}")
    for name, record in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise DamagedError(f"{name} is missing")
        if path.stat().st_size != record.size:
            raise DamagedError(f"{name} has {path.stat().st_size:,} bytes instead of {record.size:,}")
    return Entry(key, folder, manifest)


def entries() -> tuple[list[Entry], dict[str, str]]:
    """All whole entries, and the damaged ones as {key: what is wrong}."""
    whole: list[Entry] = []
    damaged: dict[str, str] = {}
    folders = sorted(_models().iterdir()) if _models().is_dir() else []
    for folder in folders:
        if folder.name.startswith("."):
            continue
        try:
            entry = look_up(folder.name)
        except DamagedError as reason:
            damaged[folder.name] = str(reason)
        else:
            if entry:
                whole.append(entry)
    return whole, damaged


def make_once(key: str, make: Callable[[Path, Path], About], *, needs: int, progress: Progress) -> Entry:
    """The entry `key`, made by `make(scratch, model)` unless another process has made it meanwhile.

    `make` writes the model's files into the folder `model`, may use `scratch` for what it needs on the way,
    and returns what it knows about them. `needs` is the free space in bytes to insist on beforehand.
    Raises LeadlineError, in one line, when the cache cannot be written or the disk is full.
    """
    with _explained(), _locked(key, progress):
        with contextlib.suppress(DamagedError):
            if entry := look_up(key):
                return entry
        _clear_leftovers(key)
        _check_space(needs)
        work = Path(tempfile.mkdtemp(prefix=f".making-{key}~", dir=_models()))
        try:
            scratch, model = work / "scratch", work / "model"
            scratch.mkdir()
            model.mkdir()
            about = make(scratch, model)
            _write_manifest(model, about)
            final = _models() / key
            if final.exists():  # damaged: out of the way, and deleted with the work folder
                final.rename(work / "damaged")
            model.rename(final)
            _flush(_models())
        finally:
            shutil.rmtree(work, ignore_errors=True)
        entry = look_up(key)
        if entry is None:
            raise LeadlineError(f"{key} vanished from the cache while it was made", where=str(_models()))
        return entry


def remove(key: str, progress: Progress) -> bool:
    """Delete an entry, whole or damaged; False if there was none."""
    folder = _models() / key
    if not folder.is_dir():
        return False
    with _explained(), _locked(key, progress):
        # Renamed first, so that nobody sees half an entry.
        work = Path(tempfile.mkdtemp(prefix=f".making-{key}~", dir=_models()))
        folder.rename(work / "removed")
        _clear_leftovers(key)
    return True


def check_files(entry: Entry) -> list[str]:
    """Names of the entry's files whose content is no longer what was written (sha256 of every byte)."""
    return [
        name
        for name, record in entry.manifest.files.items()
        if file_sha256(entry.folder / name) != record.sha256
    ]


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered(what: str, path: Path, files: list[Path], compute: Callable[[], str]) -> str:
    """`compute()`, or its result of last time if none of `files` has changed size or modification time.

    A cache that cannot be written only costs the time of computing again.
    """
    key = str(path.resolve())
    stamp = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    note = cache_home() / "remembered" / f"{what}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    try:
        known = json.loads(note.read_text("utf-8"))
        if known["key"] == key and known["stamp"] == stamp:
            return str(known["value"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    value = compute()
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=note.parent, prefix=".")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"key": key, "stamp": stamp, "value": value}, file)
        Path(temporary).replace(note)
    return value


def _write_manifest(model: Path, about: About) -> None:
    files = {}
    for path in sorted(model.iterdir()):
        # safetensors makes its files private; a cache may be shared, as far as the umask of its owner goes.
        path.chmod(model.stat().st_mode & 0o666)
        _flush(path)
        files[path.name] = FileRecord(size=path.stat().st_size, sha256=file_sha256(path))
    manifest = Manifest(format=FORMAT, about=about, files=files)
    path = model / MANIFEST
    path.write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
    _flush(path)
    _flush(model)


def _flush(path: Path) -> None:
    """Have the operating system write a file (or a folder's list of names) to disk now."""
    if path.is_dir() and os.name == "nt":  # Windows opens no folders
        return
    handle = os.open(path, os.O_RDWR if path.is_file() and os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _clear_leftovers(key: str) -> None:
    """Delete work folders of `key`: whoever holds its lock knows that nobody works in them any more."""
    for leftover in _models().glob(f".making-{key}~*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _check_space(needs: int) -> None:
    free = shutil.disk_usage(_models()).free
    if free < needs:
        raise LeadlineError(
            f"needs {needs / 1e6:,.0f} MB of free disk space, and there are {free / 1e6:,.0f} MB",
            where=str(_models()),
            fix="free some space, or " + _ELSEWHERE,
        )


@contextlib.contextmanager
def _locked(key: str, progress: Progress) -> Iterator[None]:
    """Hold the lock of `key`. The operating system lets go of it when a process dies, however it dies."""
    from filelock import FileLock, Timeout

    _models().mkdir(parents=True, exist_ok=True)
    lock = FileLock(_models() / f".{key}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.step(f"another process is at work on {key}: waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Turn what the disk refuses into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise _refusal(error.errno, str(error.filename or _models()), error.strerror) from error
    except Exception as error:
        # safetensors writes from Rust and reports the system's error only in its text.
        if type(error).__name__ == "SafetensorError" and f"os error {errno.ENOSPC}" in str(error):
            raise _refusal(errno.ENOSPC, str(_models()), None) from error
        raise


def _refusal(number: int | None, where: str, words: str | None) -> LeadlineError:
    if number in (errno.ENOSPC, errno.EDQUOT):
        return LeadlineError("the disk is full", where=where, fix="free some space, or " + _ELSEWHERE)
    if number in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST):
        return LeadlineError(f"the cache cannot be written: {words}", where=where, fix=_ELSEWHERE)
    return LeadlineError(f"the cache failed: {words or 'input/output error'}", where=where, fix=_ELSEWHERE)
