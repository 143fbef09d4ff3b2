"""Keeps what belongs to one machine or one person out of a release: paths, and the values of secrets."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError
from leadline.places import cache_home
from leadline.redaction import environment_secrets, spellings

# A path from the root of a disk, in a value or in a line of a file.
_ABSOLUTE = re.compile(r"(?<![\w./:\\-])(?:/(?:[\w.@+~-]+/)+|[A-Za-z]:\\(?:[^\\\s'\"]+\\)*)([\w.@+~-]*)")


def without_places(text: str) -> str:
    """`text` with each absolute path cut to its last part.

    >>> without_places("models: [/srv/models/tiny]")
    'models: [tiny]'
    """
    return _ABSOLUTE.sub(lambda found: found[1] or "(a folder)", text)


def without_places_in(value: Any) -> Any:
    """The same of every text in a JSON value."""
    match value:
        case str():
            return without_places(value)
        case dict():
            return {key: without_places_in(held) for key, held in value.items()}
        case list() | tuple():
            return [without_places_in(held) for held in value]
    return value


def check_private(folder: Path, study: Path) -> None:
    """Raise LeadlineError, which names the file, where one in `folder` holds a secret or a path of this
    machine."""
    wanted = {
        spelling: f"the value of {name}"
        for value, name in environment_secrets().items()
        for spelling in spellings(value)
    }
    for place, name in ((Path.home(), "the home folder"), (cache_home(), "the cache's folder")):
        wanted[f"{place}/"] = f"the path of {name}"
    wanted[str(study.resolve())] = "the path of the study's folder"
    wanted[f"{tempfile.gettempdir()}/"] = "the path of the folder of temporary files"
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if found := _first(file, wanted):
            raise LeadlineError(
                f"{file.relative_to(folder).as_posix()} would hold {wanted[found]}",
                where=str(study),
                fix="take it out of the study or the benchmark",
            )


def _first(file: Path, wanted: Iterable[str]) -> str | None:
    searched = [(text, text.encode()) for text in wanted if len(text) > 2]
    longest = max((len(data) for _, data in searched), default=0)
    tail = b""
    with file.open("rb") as opened:
        while block := opened.read(1 << 22):
            seen = tail + block
            for text, data in searched:
                if data in seen:
                    return text
            tail = seen[-longest:]
    return None
