"""The folder of a build: what each stage left there, and whether it still is what the plan asks for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bench.whole_file import whole_file
from leadline.build.disk import said_by_the_disk
from leadline.build.parts import reading
from leadline.build.records import Drop, Fact
from leadline.errors import LeadlineError

DONE = "done.json"
KEPT = "kept.jsonl.zst"
DROPPED = "dropped.jsonl.zst"


@dataclass(frozen=True)
class StageFolder:
    """One stage's part of the folder.

    A stage over facts leaves kept.jsonl.zst and dropped.jsonl.zst; a stage over shards leaves a file per
    shard under parts/ (and dropped/). done.json is written last: its `key` says of what settings, inputs and
    earlier stages the content was made, `counts` what came out, and `files` how large each file of it is.
    """

    name: str
    path: Path

    @property
    def kept(self) -> Path:
        """The facts that went on."""
        return self.path / KEPT

    @property
    def dropped(self) -> Path:
        """The facts that did not, each with its reason."""
        return self.path / DROPPED

    def part(self, number: int, kind: str = "parts", suffix: str = ".jsonl.zst") -> Path:
        """The file of a shard of the work."""
        return self.path / kind / f"{number:05d}{suffix}"

    def parts(self, kind: str = "parts", suffix: str = ".jsonl.zst") -> list[Path]:
        """All files of that kind, in the order of their numbers: of a finished stage, those that it made."""
        made = (self.done() or {}).get("files")
        there = sorted((self.path / kind).glob(f"*{suffix}"))
        return there if made is None else [path for path in there if f"{kind}/{path.name}" in made]

    def facts(self) -> Iterator[Fact]:
        """The facts that went on, in order."""
        return reading(self.kept, Fact)

    def drops(self) -> Iterator[Drop]:
        """The facts that did not go on, in order."""
        return reading(self.dropped, Drop)

    def done(self) -> Mapping[str, Any] | None:
        """What done.json says; None where the stage has not ended, or something else wrote the file."""
        try:
            said = json.loads((self.path / DONE).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, RecursionError, IsADirectoryError):
            return None  # made by something else: the stage is done again
        return said if _is_done(said) else None

    def finish(self, key: str, counts: Mapping[str, Any]) -> None:
        """Say that the stage has ended, last of all."""
        said = {"stage": self.name, "key": key, "counts": dict(counts), "files": self._sizes()}
        write_json(self.path / DONE, said)

    def faults(self) -> list[Path]:
        """Files of the finished stage that are gone, or have another size than when it ended."""
        said = (self.done() or {}).get("files")
        now = self._sizes()
        sizes = said if isinstance(said, dict) else {}
        return [self.path / name for name, size in sizes.items() if now.get(name) != size]

    def _sizes(self) -> dict[str, int]:
        """Records and results; of a database only that it is there (-1): readers may change its size."""
        kinds = ("*.jsonl.zst", "*.json", "*.sqlite", "*/*.jsonl.zst", "*/*.json")
        files = sorted(file for kind in kinds for file in self.path.glob(kind))
        return {
            file.relative_to(self.path).as_posix(): -1 if file.suffix == ".sqlite" else file.stat().st_size
            for file in files
            if not file.name.startswith(".") and file.name != DONE and file.is_file()
        }

    def counts(self) -> Mapping[str, Any]:
        """What came out. Raises LeadlineError where the stage has not ended."""
        done = self.done()
        if done is None:
            raise LeadlineError(f"the stage {self.name} has not ended", where=str(self.path))
        counts = done.get("counts")
        return counts if isinstance(counts, dict) else {}


@dataclass(frozen=True)
class Workspace:
    """A build's folder."""

    folder: Path

    def stage(self, name: str) -> StageFolder:
        """The part of a stage, which need not be there yet."""
        return StageFolder(name, self.folder / "stages" / name)

    @property
    def benchmark(self) -> Path:
        """Where the finished benchmark stands."""
        return self.folder / "benchmark"


def write_json(path: Path, value: object) -> None:
    """A small JSON file, whole or not there, the same bytes for the same value."""
    with said_by_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1)
            # Half of a surrogate pair (of an odd file name, say) becomes the escape that JSON has for it.
            file.write((text + "\n").encode("utf-8", "backslashreplace"))


def read_counts(path: Path, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """What a small JSON file of a part says; None where it is not there or lacks one of the keys of `kinds`.

    A part whose counts are None is made again, as if it had never been.
    """
    try:
        said = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    if not all(isinstance(said.get(name), kind) for name, kind in kinds.items()):
        return None
    # What is counted by reason or by kind.
    tables = (said[name] for name, kind in kinds.items() if kind is dict)
    whole = all(map(_is_count, (said[name] for name, kind in kinds.items() if kind is int)))
    return said if whole and all(_is_tally(table) for table in tables) else None


def key_of(value: object) -> str:
    """A hash of what decides a stage's output: JSON-like data."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _is_done(said: object) -> bool:
    """Whether it has the form of what `StageFolder.finish` writes."""
    if not isinstance(said, dict) or not isinstance(said.get("key"), str):
        return False
    counts, files = said.get("counts"), said.get("files", {})
    if not isinstance(counts, dict) or not isinstance(files, dict):
        return False
    return _is_tally(counts.get("dropped", {})) and ("kept" not in counts or _is_count(counts["kept"]))


def _is_tally(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
