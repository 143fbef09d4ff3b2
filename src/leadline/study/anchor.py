"""What version control knows of a file: a witness of its age that its author did not write into it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# Renames and merges aside, a file that is never changed has one commit; nobody's has a thousand.
_MOST = 1000


@dataclass(frozen=True)
class Commit:
    """A commit that holds the file as it is now, and when it says it was made."""

    hash: str
    time: datetime


def first_commit(path: Path) -> Commit | None:
    """The oldest commit that holds `path` with the content that it has now.

    None outside a repository, without git, and where the file was never committed like this.
    """
    folder, name = path.resolve().parent, path.resolve().name
    wanted = _git(folder, "hash-object", "--", name)
    if wanted is None:
        return None
    listing = _git(folder, "log", "--reverse", f"--max-count={_MOST}", "--format=%H %cI", "--", name)
    for line in (listing or "").splitlines():
        commit, _, time = line.partition(" ")
        if _git(folder, "rev-parse", f"{commit}:./{name}") == wanted:
            return Commit(commit, datetime.fromisoformat(time))
    return None


def head(folder: Path) -> str | None:
    """The commit that `folder` is at, if it lies in a repository."""
    return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> str | None:
    program = shutil.which("git")
    if program is None or not folder.is_dir():
        return None
    try:
        done = subprocess.run(
            [program, "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
