"""Names of classes: datasets keep labels as numbers, and what each number means beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leadline.ordinary_file import opened

INFO_NAME = "dataset_info.json"
# Where the `datasets` library keeps its part of the metadata of Arrow and Parquet files.
METADATA_KEY = "huggingface"
_MAX_BYTES = 16 * 1024 * 1024
# Lists, by the names that versions of the library give them.
_LISTS = frozenset({"Sequence", "List", "LargeList"})

Naming = Callable[[Mapping[str, object]], Mapping[str, object]]


def naming(path: Path, metadata: str | None) -> Naming | None:
    """What puts names in the place of numbers in rows of the file `path`; None where it has no classes.

    `metadata` is what the file itself says; else dataset_info.json beside it is asked. Numbers without a name
    stay, and -1, which stands for "no label", becomes nothing.
    """
    found = _features(metadata, "info") or _features(_beside(path))
    labelled = {
        name: names for name, feature in found.items() if (names := _class_of(feature, 0)) is not None
    }
    if not labelled:
        return None

    def named(values: Mapping[str, object]) -> Mapping[str, object]:
        return {
            name: _named(value, labelled[name]) if name in labelled else value
            for name, value in values.items()
        }

    return named


def _features(text: str | None, *place: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return {}
    for key in (*place, "features"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _beside(path: Path) -> str | None:
    try:
        with opened(path.parent / INFO_NAME) as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _class_of(feature: object, depth: int) -> Any:
    """The names of a feature, or None: a tuple of classes, a list of one for lists, a dict for structures."""
    if depth > 20:
        return None
    if isinstance(feature, list):  # how a list was once written
        feature = {"_type": "List", "feature": feature[0] if feature else None}
    if not isinstance(feature, Mapping):
        return None
    sort = feature.get("_type")
    if sort == "ClassLabel":
        names = feature.get("names")
        return tuple(map(str, names)) if isinstance(names, list) else None
    if isinstance(sort, str) and sort in _LISTS:
        inner = _class_of(feature.get("feature"), depth + 1)
        # A list of structures is kept as a structure of lists by some versions, and either way in files.
        return None if inner is None else [inner]
    if isinstance(sort, str):
        return None
    parts = {
        name: names for name, part in feature.items() if (names := _class_of(part, depth + 1)) is not None
    }
    return parts or None


def _named(value: object, names: Any) -> object:
    match value:
        case bool():
            return value
        case int() if isinstance(names, tuple):
            if value == -1:
                return None
            return names[value] if 0 <= value < len(names) else value
        case list():
            inner = names[0] if isinstance(names, list) else names
            return [_named(entry, inner) for entry in value]
        case Mapping():
            inner = names[0] if isinstance(names, list) else names
            if isinstance(inner, Mapping):
                return {
                    key: _named(part, inner[key]) if key in inner else part for key, part in value.items()
                }
    return value
