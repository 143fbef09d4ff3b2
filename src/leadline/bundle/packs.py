"""Packs of a blind re-annotation in a release: what readers were shown, what they answered, the scores."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark
from leadline.errors import UsageError

FOLDER = "packs"
HEAD = "pack.json"
_SCORES = "score-*.json"
# What belongs to a pack, beside the pages that its head names: whatever else somebody left there does not.
_PARTS = (HEAD, _SCORES, "*.csv", "sheets/*.csv")


@dataclass(frozen=True)
class PackFiles:
    """A pack as it lies somewhere: `files` from its folder, sorted."""

    folder: Path
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called, also in the release."""
        return self.folder.resolve().name

    @property
    def sheets(self) -> tuple[str, ...]:
        """Its sheets, filled or not."""
        return tuple(name for name in self.files if name.endswith(".csv"))

    @property
    def scores(self) -> tuple[str, ...]:
        """Its files of scores."""
        return tuple(name for name in self.files if Path(name).match(_SCORES) and "/" not in name)

    @cached_property
    def told(self) -> dict[str, dict[str, Any]]:
        """What its head and its scores say, by the file's name."""
        return {name: _object(self.folder / name) for name in (HEAD, *self.scores)}

    @property
    def people(self) -> frozenset[str]:
        """Whom its head and its scores name: the author of the labels, readers."""
        names = (one.get(part) for one in self.told.values() for part in ("author", "reader"))
        return frozenset(name for name in names if isinstance(name, str) and name)

    @property
    def scored(self) -> dict[str, str]:
        """Each score with its sheet, which is found by its sha256; "" where that is not in the pack."""
        digests = {
            hashlib.sha256((self.folder / name).read_bytes()).hexdigest(): name for name in self.sheets
        }
        return {name: digests.get(str(self.told[name].get("sheet")), "") for name in self.scores}

    def sheet_texts(self) -> Iterator[str]:
        """What its sheets hold, a text each; questions and answers together."""
        for name in self.sheets:
            yield (self.folder / name).read_text(encoding="utf-8", errors="replace")


def packs_in(folder: Path) -> list[Path]:
    """The folders in `folder` that are packs, by name; none where it is not there."""
    return sorted(path.parent for path in folder.glob(f"*/{HEAD}"))


def read_packs(
    benchmark: Benchmark, named: Iterable[Path] = (), found: Iterable[Path] = ()
) -> tuple[list[PackFiles], list[str]]:
    """The packs to release with `benchmark`, and a sentence for each that is left out or that lacks a sheet.

    A pack that somebody `named` must be one of this benchmark's content; one that was `found` beside it and
    was drawn from other content is left out. Raises UsageError for a folder that is no pack, for links, and
    for two packs of one name.
    """
    packs: dict[str, PackFiles] = {}
    remarks = []
    for place, is_named in [*((one, True) for one in named), *((one, False) for one in found)]:
        pack = _read(place)
        of = _object(place / HEAD).get("benchmark")
        drawn_from = of.get("content_hash") if isinstance(of, dict) else None
        if drawn_from != benchmark.content_hash:
            said = f"drawn from other content than {benchmark.name} has now ({str(drawn_from)[:19]}…)"
            if is_named:
                raise UsageError(
                    f"the pack was {said}", where=str(place), fix="leave it out, or draw it again"
                )
            remarks.append(f"pack {pack.name} is left out: {said}")
        elif pack.name not in packs:
            packs[pack.name] = pack
        elif packs[pack.name].folder.resolve() != place.resolve():
            raise UsageError(
                f"there are two packs called {pack.name}: {packs[pack.name].folder} and {place}",
                fix="rename the folder of one",
            )
    for pack in packs.values():
        for score in (score for score, sheet in pack.scored.items() if not sheet):
            remarks.append(f"pack {pack.name}: the sheet that {score} is of does not lie in the pack")
    return [packs[name] for name in sorted(packs)], remarks


def copy_packs(packs: Iterable[PackFiles], folder: Path) -> None:
    """Copy them to `folder`/packs/NAME. Raises OSError."""
    for pack in packs:
        for name in pack.files:
            target = folder / FOLDER / pack.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(pack.folder / name, target)


def _read(place: Path) -> PackFiles:
    if not (place / HEAD).is_file():
        raise UsageError(
            f"no pack here: there is no {HEAD}", where=str(place), fix="leadline review pack makes one"
        )
    paths = {path for part in _PARTS for path in place.glob(part) if not path.name.startswith((".", "~"))}
    named = _object(place / HEAD).get("files")
    for name in named if isinstance(named, dict) else ():
        if Path(name).is_absolute() or ".." in Path(name).parts or not (place / name).is_file():
            what = f"names {name!r}, which is no file of the pack"
            raise UsageError(what, where=str(place / HEAD), fix="restore it, or draw the pack again")
        paths.add(place / name)
    for path in sorted(paths):
        if path.is_symlink() or path.parent.is_symlink():
            raise UsageError(
                "is a link, and a release holds files", where=str(path), fix="put the file itself there"
            )
    return PackFiles(place, tuple(sorted(path.relative_to(place).as_posix() for path in paths)))


def _object(path: Path) -> dict[str, Any]:
    """A JSON object in a file. Raises UsageError for anything else."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from None
    if not isinstance(held, dict):
        raise UsageError("holds no JSON object", where=str(path))
    return held
