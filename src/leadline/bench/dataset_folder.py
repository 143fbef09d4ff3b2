"""Folders of datasets as Hugging Face's tools leave them: saved to disk (Arrow), or files with a card."""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from leadline.bench.header import Format, is_plain_name
from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError

DICT_NAME = "dataset_dict.json"
STATE_NAME = "state.json"
CARD_NAME = "README.md"
_FORMATS: dict[str, Format] = {
    ".parquet": "parquet", ".arrow": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip
# What a folder holds beside its data.
_NO_DATA = frozenset({"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"})
_SPLIT = re.compile(r"(?<![a-z])(train|test|validation|valid|val|dev)(?![a-z])", re.IGNORECASE)
_MAX_BYTES = 1024 * 1024
_MAX_DEPTH = 4


@dataclass(frozen=True)
class Card:
    """What a dataset says of itself: `text` is its README without the part for machines."""

    title: str = ""
    licence: str = ""
    text: str = ""


@dataclass(frozen=True)
class DatasetFiles:
    """The files of one split, in order, all of one format."""

    files: tuple[Path, ...]
    format: Format
    split: str
    card: Card


def holds_data(folder: Path) -> bool:
    """The folder holds files that can be rows of a dataset."""
    return _is_saved(folder) or next(_data_files(folder), None) is not None


def is_dataset(folder: Path) -> bool:
    """Something in this folder says that it is a dataset: what saved it, its card, columnar files.

    Stricter than `holds_data`: a benchmark whose header is missing is a mistake, not a dataset.
    """
    if _is_saved(folder) or _read_card(folder)[1]:
        return True
    return any(_FORMATS[path.suffix.lower()] in ("parquet", "arrow") for path in _data_files(folder))


def _is_saved(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (DICT_NAME, STATE_NAME))


def dataset_files(folder: Path, split: str | None = None, config: str | None = None) -> DatasetFiles:
    """The files of one split of the dataset in `folder`.

    `split` may be left out where there is only one, `config` (its configuration) likewise. Raises UsageError
    with those there are, and where the folder holds no data; OSError where it cannot be read.
    """
    text, front = _read_card(folder)
    card = Card(_first(front.get("pretty_name")), _first(front.get("license")), text)
    if (folder / DICT_NAME).is_file():
        splits = [name for name in _json(folder / DICT_NAME).get("splits", []) if is_plain_name(str(name))]
        chosen = _chosen(split, splits, folder, "split")
        return DatasetFiles(_saved(folder / chosen), "arrow", chosen, card)
    if (folder / STATE_NAME).is_file():
        return DatasetFiles(_saved(folder), "arrow", split or "all", card)
    by_split = _declared(folder, front, config) or _by_name(folder)
    if not by_split:
        known = ", ".join(_FORMATS)
        raise UsageError("the folder holds no data", where=str(folder), fix=f"files that are read: {known}")
    chosen = _chosen(split, list(by_split), folder, "split")
    files = tuple(sorted(by_split[chosen]))
    formats = sorted({_FORMATS[path.suffix.lower()] for path in files})
    if len(formats) > 1:
        what = f"the split {chosen!r} has files of several formats: {', '.join(formats)}"
        raise UsageError(what, where=str(folder), fix="name one file")
    return DatasetFiles(files, formats[0], chosen, card)


def _saved(folder: Path) -> tuple[Path, ...]:
    """The Arrow files of one split, as `save_to_disk` lists them."""
    state = folder / STATE_NAME
    if not state.is_file():
        raise UsageError(f"the folder holds no {STATE_NAME}", where=str(folder), fix="is it whole?")
    listed = _json(state).get("_data_files")
    names = [entry.get("filename") for entry in listed or () if isinstance(entry, Mapping)]
    if not names or not all(isinstance(name, str) and is_plain_name(name) for name in names):
        raise UsageError("names no files of data", where=str(state), fix="save the dataset again")
    return tuple(folder / str(name) for name in names)


def _declared(folder: Path, front: Mapping[str, Any], config: str | None) -> dict[str, list[Path]]:
    """The files that the card declares, by split; empty where it declares none."""
    configs = [
        entry
        for entry in front.get("configs") or ()
        if isinstance(entry, Mapping) and entry.get("data_files") is not None
    ]
    names = [str(entry.get("config_name", "default")) for entry in configs]
    if not configs:
        if config is not None:
            raise UsageError("the card declares no configurations", where=str(folder / CARD_NAME))
        return {}
    chosen = _chosen(config, names, folder, "config")
    declared = configs[names.index(chosen)]["data_files"]
    by_split: dict[str, list[Path]] = defaultdict(list)
    for entry in declared if isinstance(declared, list) else [declared]:
        if isinstance(entry, Mapping):
            split, patterns = str(entry.get("split", "train")), entry.get("path")
        else:
            split, patterns = "train", entry
        for pattern in patterns if isinstance(patterns, list) else [patterns]:
            if isinstance(pattern, str):
                by_split[split] += _matching(folder, pattern)
    return {split: files for split, files in by_split.items() if files}


def _by_name(folder: Path) -> dict[str, list[Path]]:
    """Files by the split that their names or folders name; all in one where none does."""
    by_split: dict[str, list[Path]] = defaultdict(list)
    for path in _data_files(folder):
        found = _SPLIT.findall(path.relative_to(folder).as_posix())
        by_split[found[-1].lower() if found else "all"].append(path)
    return dict(sorted(by_split.items()))


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    """Files of the folder whose path within it matches a pattern of the card."""
    wanted = str(PurePosixPath(pattern))
    for path in _data_files(folder):
        name = path.relative_to(folder).as_posix()
        if fnmatch.fnmatchcase(name, wanted) or fnmatch.fnmatchcase(name, wanted.replace("**/", "")):
            yield path


def _data_files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Files of data at a few levels; links to folders are not followed, so that none is walked for ever."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < _MAX_DEPTH:
                yield from _data_files(folder / entry.name, depth + 1)
        elif Path(entry.name).suffix.lower() in _FORMATS and entry.name not in _NO_DATA and entry.is_file():
            yield folder / entry.name


def _chosen(wanted: str | None, known: Iterable[str], folder: Path, what: str) -> str:
    names = list(known)
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return str(wanted)
    listed = f"one of: {', '.join(names) or 'none there'}"
    if wanted is None:
        raise UsageError(f"the dataset has several {what}s", where=str(folder), fix=f"--{what} {listed}")
    fix = did_you_mean(wanted, names, otherwise=listed)
    raise UsageError(f"the dataset has no {what} {shortened(wanted)}", where=str(folder), fix=fix)


def _read_card(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """README.md as text and the data at its head; a card that cannot be read says nothing."""
    path = folder / CARD_NAME
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return "", {}
    match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", text, re.DOTALL)
    if match is None:
        return text.strip(), {}
    try:
        front = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        front = None
    return text[match.end() :].strip(), front if isinstance(front, Mapping) else {}


def _json(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(_MAX_BYTES))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError("broken JSON: expected an object", where=str(path), fix="save the dataset again")
    return value


def _first(value: object) -> str:
    """A text, or the texts of a list; on one line, for a header."""
    texts = value if isinstance(value, list) else [value]
    return " ".join(", ".join(text for text in texts if isinstance(text, str)).split())[:200]
