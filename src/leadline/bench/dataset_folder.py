"""Folders of datasets as Hugging Face's tools leave them: saved to disk (Arrow), or files with a card."""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from leadline.bench.dataset_card import Card, Config, chosen, read_card
from leadline.bench.header import Format, is_plain_name
from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.ordinary_file import opened

DICT_NAME = "dataset_dict.json"
STATE_NAME = "state.json"
_FORMATS: dict[str, Format] = {
    ".parquet": "parquet", ".arrow": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip
_PACKED = frozenset({".gz", ".zst", ".xz", ".bz2", ".zip", ".lz4"})
# What a folder holds beside its data.
_NO_DATA = frozenset({"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"})
_SPLIT = re.compile(r"(?<![a-z])(train|test|validation|valid|val|dev)(?![a-z])", re.IGNORECASE)
_MAX_BYTES = 1024 * 1024
_MAX_DEPTH = 4


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
    if _is_saved(folder) or read_card(folder).says_something:
        return True
    return any(_FORMATS[path.suffix.lower()] in ("parquet", "arrow") for path in _data_files(folder))


def _is_saved(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (DICT_NAME, STATE_NAME))


def dataset_files(folder: Path, split: str | None = None, config: str | None = None) -> DatasetFiles:
    """The files of one split of the dataset in `folder`.

    `split` may be left out where there is only one, `config` (its configuration) also where one is the
    default. What the card names and is not there is an error: other files are not taken in its place. Raises
    UsageError with those there are, and where the folder holds no data; OSError where it cannot be read.
    """
    card = read_card(folder)
    if _is_saved(folder):
        if config is not None:
            raise UsageError("a saved dataset has no configurations", where=str(folder), fix="no --config")
        return _saved_split(folder, split, card.card)
    declared = card.config(config)
    if declared is not None and declared.patterns:
        name, files = _declared(folder, declared, split, card.path)
    else:
        place = _within(folder, declared, card.path) if declared else folder
        by_split = _by_name(place)
        if not by_split:
            known = ", ".join(_FORMATS)
            raise UsageError(
                "the folder holds no data", where=str(place), fix=f"files that are read: {known}"
            )
        name = chosen(split, list(by_split), folder, "split")
        files = by_split[name]
    formats = sorted({_FORMATS[path.suffix.lower()] for path in files})
    if len(formats) > 1:
        what = f"the split {name!r} has files of several formats: {', '.join(formats)}"
        raise UsageError(what, where=str(folder), fix="name one file")
    return DatasetFiles(tuple(sorted(files)), formats[0], name, card.card)


def _saved_split(folder: Path, split: str | None, card: Card) -> DatasetFiles:
    if (folder / DICT_NAME).is_file():
        told = _json(folder / DICT_NAME).get("splits")
        splits = [name for name in told if isinstance(name, str)] if isinstance(told, list) else []
        splits = [name for name in splits if is_plain_name(name)]
        name = chosen(split, splits, folder, "split")
        return DatasetFiles(_saved(folder / name), "arrow", name, card)
    own = _json(folder / STATE_NAME).get("_split")
    if split is not None and split != own:
        what = f"is one split, called {shortened(own)}" if isinstance(own, str) else "is not split"
        raise UsageError(f"the saved dataset {what}", where=str(folder), fix="leave --split out")
    return DatasetFiles(_saved(folder), "arrow", split or "all", card)


def _saved(folder: Path) -> tuple[Path, ...]:
    """The Arrow files of one split, as `save_to_disk` lists them."""
    state = folder / STATE_NAME
    if not state.is_file():
        raise UsageError(f"the folder holds no {STATE_NAME}", where=str(folder), fix="is it whole?")
    listed = _json(state).get("_data_files")
    entries = listed if isinstance(listed, list) else []
    names = [entry.get("filename") for entry in entries if isinstance(entry, Mapping)]
    if not names or not all(isinstance(name, str) and is_plain_name(name) for name in names):
        raise UsageError("names no files of data", where=str(state), fix="save the dataset again")
    return tuple(folder / str(name) for name in names)


def _declared(folder: Path, config: Config, split: str | None, card: Path) -> tuple[str, list[Path]]:
    """The split that is meant, and its files as the card declares them: all of them, or an error."""
    place = _within(folder, config, card)
    if split is None:
        # Of a dataset that was downloaded in part, the splits that are here.
        here = [name for name, own in config.patterns.items() if any(_matching(place, p) for p in own)]
        name = chosen(None, here or list(config.patterns)[:1], folder, "split")
    else:
        name = chosen(split, list(config.patterns), folder, "split")
    files: dict[Path, None] = {}
    for pattern in config.patterns[name]:
        which = f"config {shortened(config.name)} names {_named(pattern)}"
        if _is_elsewhere(pattern):
            fix = "only files in the folder of the dataset are read"
            raise UsageError(f"{which}, which is not in its folder", where=str(card), fix=fix)
        if not (matching := _matching(place, pattern)):
            fix = "is the dataset whole? Links to folders are not followed"
            raise UsageError(f"{which}: no such file", where=str(card), fix=fix)
        known = [path for path in matching if _is_data(path)]
        packed = [path for path in matching if path.suffix.lower() in _PACKED]
        if packed or not known:
            what = f"{_named((packed or matching)[0].name)} is no file of data that is read"
            fix = f"files that are read: {', '.join(_FORMATS)}"
            raise UsageError(f"{which}: {what}", where=str(card), fix=fix)
        files.update(dict.fromkeys(known))
    return name, list(files)


def _within(folder: Path, config: Config, card: Path) -> Path:
    """The folder of a configuration, which is in the folder of the dataset."""
    place = folder / config.folder
    if (
        _is_elsewhere(config.folder)
        or not place.is_dir()
        or not place.resolve().is_relative_to(folder.resolve())
    ):
        which = f"config {shortened(config.name)} names the folder {_named(config.folder)}"
        raise UsageError(f"{which}: there is none in the dataset", where=str(card), fix="is it whole?")
    return place


def _is_elsewhere(pattern: str) -> bool:
    """An address, a whole path, or a way out of the folder."""
    parts = PurePosixPath(pattern.replace("\\", "/"))
    return "://" in pattern or parts.is_absolute() or ".." in parts.parts or "\0" in pattern


def _named(text: str) -> str:
    return text if len(text) <= 80 and text.isprintable() else shortened(text, 80)


def _by_name(folder: Path) -> dict[str, list[Path]]:
    """Files by the split that their names or folders name; all in one where none does."""
    by_split: dict[str, list[Path]] = defaultdict(list)
    for path in _data_files(folder):
        found = _SPLIT.findall(path.relative_to(folder).as_posix())
        by_split[found[-1].lower() if found else "all"].append(path)
    return dict(sorted(by_split.items()))


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Files of the folder whose path within it matches a pattern of the card."""
    wanted = str(PurePosixPath(pattern))
    found = []
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if fnmatch.fnmatchcase(name, wanted) or fnmatch.fnmatchcase(name, wanted.replace("**/", "")):
            found.append(path)
    return found


def _data_files(folder: Path) -> Iterator[Path]:
    """Files of data, by their names."""
    for path in _files(folder):
        if _is_data(path):
            yield path


def _is_data(path: Path) -> bool:
    return path.suffix.lower() in _FORMATS and path.name not in _NO_DATA


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Files at a few levels; links to folders are not followed, so that none is walked for ever."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < _MAX_DEPTH:
                yield from _files(folder / entry.name, depth + 1)
        elif entry.is_file():
            yield folder / entry.name


def _json(path: Path) -> dict[str, Any]:
    try:
        with opened(path) as file:
            value = json.loads(file.read(_MAX_BYTES))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError("broken JSON: expected an object", where=str(path), fix="save the dataset again")
    return value
