"""Ids of other tools' items: as a benchmark can hold them, and as a line can tell them.

An id of ours is one line of at most 200 characters, for it stands in tables, file names and keys. What is
longer, blank, or holds line breaks gets a readable form and a digest of the whole, so that it is the same in
every log.
"""

from __future__ import annotations

import hashlib
import unicodedata

from leadline.bench.item import MAX_CHARACTERS

_KEPT = 100
_TOLD = 60


def held(name: str) -> str:
    r"""The id under which a benchmark holds what a log calls `name`.

    >>> held("eu/vienna")
    'eu/vienna'
    >>> held("two\nlines")
    'two lines~edc8c128'
    """
    is_one_line = not any(unicodedata.category(mark) == "Cc" for mark in name)
    if name and name == name.strip() and is_one_line and len(name) <= MAX_CHARACTERS["id"]:
        return name
    plain = " ".join("".join(mark if mark.isprintable() else " " for mark in name).split()) or "blank"
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{plain[:_KEPT].strip()}~{digest}"


def told(name: object) -> str:
    """An id in a line for people: printable, and cut where it is long."""
    text = str(name)
    if text.isprintable() and text.strip() == text and text:
        return text if len(text) <= _TOLD else text[: _TOLD - 1] + "…"
    text = repr(text)
    return text if len(text) <= _TOLD else text[: _TOLD - 1] + "…'"
