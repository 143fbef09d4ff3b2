"""What a dataset says of itself in its README.md: a text, and at its head which files are which split."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from leadline.bench.json_text import kind
from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.ordinary_file import opened

CARD_NAME = "README.md"
_MAX_BYTES = 1024 * 1024
_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)


@dataclass(frozen=True)
class Card:
    """What a dataset says of itself: `text` is its README without the part for machines."""

    title: str = ""
    licence: str = ""
    text: str = ""


@dataclass(frozen=True)
class Config:
    """One configuration: `patterns` of the files of each split, below `folder`; none where names say it."""

    name: str
    folder: str = ""
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_default: bool = False


@dataclass(frozen=True)
class CardFile:
    """README.md of a folder: its text, the data at its head, and where and why that cannot be read."""

    path: Path
    text: str = ""
    front: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    line: int = 1

    @property
    def card(self) -> Card:
        """What a benchmark takes over. A text or a list of texts at the head becomes one line."""
        return Card(_first(self.front.get("pretty_name")), _first(self.front.get("license")), self.text)

    @property
    def says_something(self) -> bool:
        """Its head is there, sound or not."""
        return bool(self.front) or bool(self.fault)

    def configs(self) -> list[Config]:
        """The configurations that it declares. Raises UsageError where they are not written as such."""
        if self.fault:
            fix = "correct the part between the lines ---, or name a file of data"
            raise UsageError(self.fault, where=f"{self.path}:{self.line}", fix=fix)
        return [self._config(entry) for entry in self._list(self.front.get("configs"), "configs")]

    def config(self, wanted: str | None) -> Config | None:
        """The configuration called `wanted`, the only one, or the default; None where none is declared.

        Raises UsageError where there is none of that name, or no way to choose.
        """
        known = self.configs()
        if not known:
            if wanted is not None:
                raise UsageError("the card declares no configurations", where=str(self.path))
            return None
        names = [config.name for config in known]
        default = next((c for c in known if c.is_default), None)
        default = default or next((c for c in known if c.name == "default"), None)
        if wanted is None and (default is not None or len(known) == 1):
            return default or known[0]
        return known[names.index(chosen(wanted, names, self.path.parent, "config"))]

    def _config(self, entry: object) -> Config:
        if not isinstance(entry, Mapping):
            raise self._wrong(f"an entry of 'configs' must be keys and values, not {kind(entry)}")
        name = str(entry.get("config_name", "default"))
        folder = entry.get("data_dir")
        if not (folder is None or isinstance(folder, str)):
            raise self._wrong(f"config {shortened(name)}: 'data_dir' must be text, not {kind(folder)}")
        patterns: dict[str, list[str]] = {}
        files = entry.get("data_files")
        # A mapping may be one split with its path, or each split with its own.
        if isinstance(files, Mapping) and "path" not in files:
            files = [{"split": split, "path": path} for split, path in files.items()]
        for one in self._list(files, "data_files"):
            split, path = (
                (one.get("split", "train"), one.get("path")) if isinstance(one, Mapping) else ("train", one)
            )
            for pattern in path if isinstance(path, list) else [path]:
                if not isinstance(pattern, str):
                    what = f"config {shortened(name)}: a path in 'data_files' must be text"
                    raise self._wrong(f"{what}, not {kind(pattern)}")
                patterns.setdefault(str(split), []).append(pattern)
        found = {split: tuple(own) for split, own in patterns.items()}
        return Config(name, folder or "", found, entry.get("default") is True)

    def _list(self, value: object, name: str) -> list[Any]:
        match value:
            case None:
                return []
            case list():
                return value
            case str() | Mapping() if name == "data_files":
                return [value]
        raise self._wrong(f"{name!r} must be a list, not {kind(value)}")

    def _wrong(self, message: str) -> UsageError:
        return UsageError(message, where=str(self.path), fix="configs: [{config_name: ..., data_files: ...}]")


def read_card(folder: Path) -> CardFile:
    """README.md of a folder; what is not there says nothing."""
    path = folder / CARD_NAME
    try:
        with opened(path) as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return CardFile(path)
    head = _HEAD.match(text)
    if head is None:
        return CardFile(path, text.strip())
    rest = text[head.end() :].strip()
    try:
        front = yaml.safe_load(head[1])
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1  # the first line is ---
        return CardFile(path, rest, fault=f"broken YAML: {error.problem or 'cannot be parsed'}", line=line)
    except (yaml.YAMLError, ValueError, RecursionError):
        return CardFile(path, rest, fault="broken YAML")
    if not isinstance(front, Mapping):  # a text between two lines
        return CardFile(path, text.strip())
    return CardFile(path, rest, front)


def chosen(wanted: str | None, names: list[str], folder: Path, what: str) -> str:
    """The name that is wanted, or the only one. Raises UsageError, which lists them."""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return str(wanted)
    listed = f"one of: {', '.join(names) or 'none there'}"
    if wanted is None:
        raise UsageError(f"the dataset has several {what}s", where=str(folder), fix=f"--{what} {listed}")
    fix = did_you_mean(wanted, names, otherwise=listed)
    raise UsageError(f"the dataset has no {what} {shortened(wanted)}", where=str(folder), fix=fix)


def _first(value: object) -> str:
    """A text, or the texts of a list; on one line, for a header."""
    texts = value if isinstance(value, list) else [value]
    return " ".join(", ".join(text for text in texts if isinstance(text, str)).split())[:200]
