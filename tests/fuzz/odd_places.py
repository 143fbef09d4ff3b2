"""What can lie where a file is expected and is none: pipes, folders, links that lead round, devices."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _link_to_nowhere(path: Path) -> None:
    path.symlink_to("there-is-no-such-file")


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)  # the address of a socket is at most 107 bytes long
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 * 1024**3)  # takes no room: all of it is holes


ODD: dict[str, Callable[[Path], None]] = {
    "a pipe": _fifo,
    "a folder": _folder,
    "a link to itself": _link_to_itself,
    "a link to nowhere": _link_to_nowhere,
    "an endless device": _endless,
    "a socket": _socket,
    "fifty gigabytes of nothing": _huge,
}


def put(kind: str, path: Path) -> None:
    """Let `path` be one of `ODD`, instead of what was there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    ODD[kind](path)
