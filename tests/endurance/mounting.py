"""File systems of their own for tests: small ones, and ones that cannot be written. Only the superuser can
make them; a test that cannot have one is skipped visibly."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _mount(*arguments: str) -> None:
    if os.geteuid():
        pytest.skip("only the superuser can mount a file system")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@contextmanager
def small(folder: Path, size: int) -> Iterator[Path]:
    """A file system in memory of so many bytes, mounted at `folder`."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


@contextmanager
def read_only(folder: Path, place: Path) -> Iterator[Path]:
    """What lies in `folder`, at `place`, as nobody can write it: permissions do not bind the superuser."""
    place.mkdir()
    _mount("--bind", str(folder), str(place))
    try:
        _mount("-o", "remount,bind,ro", str(place))
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)


class Filler:
    """A file that takes the room of a small file system."""

    def __init__(self, mounted: Path) -> None:
        self._file = mounted / ".filler"

    def leave(self, room: int) -> None:
        """Take all but about `room` bytes."""
        self.free()
        there = os.statvfs(self._file.parent)
        free = there.f_bavail * there.f_frsize
        with self._file.open("wb") as file:
            for _ in range(max(0, (free - room) // 4096)):
                file.write(bytes(4096))

    def free(self) -> None:
        """Give it back."""
        self._file.unlink(missing_ok=True)
