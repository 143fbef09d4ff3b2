"""Runs verify.py apart from everything else: a Python that sees its standard library and no package."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bundle.joining import verifier
from leadline.bundle.pages import check_page, check_parquet
from leadline.bundle.verifier.faults import shown_faults
from leadline.errors import LeadlineError, UsageError

VERIFIER = "verify.py"
# What a zip file may hold: a bundle has no links, no absolute names, and is not a bomb.
_MOST_BYTES = 64 * 2**30
_SMALL, _MOST_TIMES = 2**30, 200


@dataclass(frozen=True)
class Verification:
    """What the verifier said: whether all is well, its report as data, and whether the bundle's own copy is
    the same program."""

    is_sound: bool
    report: dict[str, Any]
    is_own_copy: bool


def verify_place(place: Path) -> Verification:
    """Verify a bundle in a folder or in a zip file, which is unpacked beside the system's temporary files.

    Raises UsageError for what is no bundle.
    """
    if place.is_dir():
        return verify_bundle(place)
    if not place.is_file():
        raise UsageError("is not there", where=str(place), fix="leadline bundle STUDY OUT")
    with tempfile.TemporaryDirectory(prefix="leadline-verify-") as scratch:
        _unpack(place, Path(scratch))
        folders = [path for path in Path(scratch).iterdir() if path.is_dir()]
        inside = folders[0] if len(folders) == 1 else Path(scratch)
        if not (inside / "findings.json").is_file():
            raise UsageError("no bundle in it: there is no findings.json", where=str(place))
        return verify_bundle(inside)


def _unpack(place: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(place) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > min(_MOST_BYTES, max(_SMALL, _MOST_TIMES * place.stat().st_size)):
                raise UsageError("is too large when unpacked", where=str(place))
            # Keeps to the folder, whatever the names say, and makes files of what was stored as a link.
            archive.extractall(folder)
    except (NotADirectoryError, IsADirectoryError, FileExistsError):
        what = "cannot be unpacked: a name in it is a file and a folder"
        raise UsageError(what, where=str(place)) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise UsageError(f"cannot be unpacked: {error}", where=str(place)) from None


def printed(verification: Verification) -> str:
    """What verify.py prints for people, from its report."""
    report = verification.report
    facts = report["facts"]
    lines = [
        f"{facts.get('items', 0):,} items, {facts.get('responses', 0):,} responses, "
        f"{facts.get('reread', 0):,} of {facts.get('readable', 0):,} readings read again; "
        f"{report['seconds']:.1f} s",
        f"{'lens':<18} {'exactly':>9} {'resampled':>10} {'not recomputed':>15} {'claims':>7}",
    ]
    lines += [
        f"{lens:<18} {per['exactly']:>9,} {per['by resampling']:>10,} {per['not recomputed']:>15,} "
        f"{per['claims']:>7,}"
        for lens, per in report["figures"].items()
    ]
    lines += [plain(f"not recomputed: {name}") for name in report["not_recomputed"]]
    lines += [plain(fault) for fault in shown_faults(report["faults"], report["more_faults"])]
    return "\n".join([*lines, "verified" if verification.is_sound else "NOT VERIFIED"])


def disagreements(verification: Verification) -> list[str]:
    """All that speaks against a bundle, a line each."""
    report = verification.report
    return [
        *(plain(fault) for fault in report["faults"]),
        *(f"{kind}: and {number:,} more" for kind, number in report["more_faults"].items()),
        *(plain(f"not recomputed: {name}") for name in report["not_recomputed"]),
    ]


def plain(text: str) -> str:
    """Text of a bundle without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def verify_bundle(folder: Path) -> Verification:
    """Verify the bundle in `folder` with this version's verifier, in a process of its own.

    The program that lies in the bundle is not run: it came with what it is to judge. Raises UsageError where
    there is no bundle, LeadlineError where the verifier itself fails.
    """
    if not (folder / "findings.json").is_file():
        raise UsageError(
            "no bundle here: there is no findings.json", where=str(folder), fix="leadline bundle STUDY OUT"
        )
    text = verifier()
    own = folder / VERIFIER
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-", str(folder.resolve()), "--json"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    try:
        report: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise LeadlineError(
            f"the verifier failed: {said[-1] if said else ended.returncode}", where=str(folder)
        ) from None
    if not report["faults"]:  # in files that hang together: what needs more than the standard library
        report["faults"] += [*check_parquet(folder), *check_page(folder)]
        report["verified"] = report["verified"] and not report["faults"]
    return Verification(
        is_sound=ended.returncode in (0, 1) and bool(report["verified"]),
        report=report,
        is_own_copy=own.is_file() and own.read_text(encoding="utf-8", errors="replace") == text,
    )
