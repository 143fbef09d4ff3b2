"""What stands on the shelf: the catalogue, and the converted models that this machine has."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadline.errors import UsageError
from leadline.models import cache
from leadline.models.catalogue import CATALOGUE


class ShelfRow(BaseModel):
    """One line of `leadline models list`. `size` is in bytes, 0 for what is not on this machine."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: Literal["ready", "damaged", "not fetched"]
    size: int
    description: str
    licence: str | None
    folder: Path | None


def shelf() -> list[ShelfRow]:
    """The catalogue's models first, then converted GGUF files under the names that they have in the cache."""
    whole, damaged = cache.entries()
    by_key = {entry.key: entry for entry in whole}
    rows = []
    for key in [*CATALOGUE, *sorted((by_key.keys() | damaged.keys()) - CATALOGUE.keys())]:
        known = CATALOGUE.get(key)
        if entry := by_key.get(key):
            about = entry.manifest.about
            rows.append(
                ShelfRow(
                    name=key,
                    state="ready",
                    size=entry.size,
                    description=about.description,
                    licence=about.licence,
                    folder=entry.folder,
                )
            )
            continue
        description = known.description if known else ""
        if key in damaged:
            description = f"{description} ({damaged[key]})".strip()
        rows.append(
            ShelfRow(
                name=key,
                state="damaged" if key in damaged else "not fetched",
                size=0,
                description=description,
                licence=known.licence if known else None,
                folder=None,
            )
        )
    return rows


def key_of(ref: str) -> str:
    """The name in the cache of a catalogue name, a cached name as `list` shows it, or a GGUF file.

    Raises UsageError for anything else: folders and hub models are not copied into this cache.
    """
    whole, damaged = cache.entries()
    if ref in CATALOGUE or ref in damaged or any(entry.key == ref for entry in whole):
        return ref
    path = Path(ref).expanduser()
    if path.is_file():
        sha256 = cache.remembered("sha256", path, [path], lambda: cache.file_sha256(path))
        return f"gguf-{sha256[:16]}"
    if path.is_dir():
        raise UsageError("a folder of your own is not in the cache", where=ref)
    near = difflib.get_close_matches(ref[:100], {*CATALOGUE, *damaged, *(entry.key for entry in whole)}, n=1)
    listed = "`leadline models list` shows what is; hub models are kept by Hugging Face: `hf cache ls`"
    raise UsageError(f"'{ref}' is not in the cache", fix=f"did you mean {near[0]}?" if near else listed)
