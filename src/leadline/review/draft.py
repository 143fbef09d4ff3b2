"""One version of what a reader wrote about an entry, and what a page sends to become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

# What a draft holds: names of fields, and JSON values.
Fields = Mapping[str, Any]
# side: kept, but never the newest: the text of somebody who was not the first to save.
Kind = Literal["saved", "undone", "committed", "side"]


@dataclass(frozen=True)
class Draft:
    """One version of what a reader wrote about an entry.

    `version` counts from 1 within the entry. `saved` is the time in UTC (ISO 8601), `reader` who saved it.
    `before` is the version that an undo leads to (0: the empty one; -1: none). `page` and `edit` say which
    open page wrote it, and its how-manieth text that was.
    """

    version: int
    fields: dict[str, Any]
    saved: str
    reader: str
    kind: Kind = "saved"
    before: int = 0
    page: str = ""
    edit: int = 0

    @property
    def committed(self) -> bool:
        """Whether the reader has said that this is the answer."""
        return self.kind == "committed"

    @property
    def empty(self) -> bool:
        """Whether nothing is in it."""
        return not any(self.fields.values())


@dataclass(frozen=True)
class Sent:
    """A text that is to be the version after `version` (0: the first).

    by: who sends it, "" for whose draft it is. page, edit: which open page sends it, and its how-manieth text
    this is.
    """

    version: int
    fields: Fields
    by: str = ""
    page: str = ""
    edit: int = 0

    def late(self, newest: Draft) -> bool:
        """Whether this very page has sent a newer text before, which was quicker."""
        return bool(self.page) and newest.page == self.page and self.edit < newest.edit


class LateError(Exception):
    """A commit came behind a newer text of the same page, so that it is not what its writer last saw."""


class ConflictError(Exception):
    """Somebody else has saved since. `theirs` is the newest version; `kept` is the number under which the
    text that came too late stands in the history."""

    def __init__(self, theirs: Draft, kept: int) -> None:
        super().__init__(f"version {theirs.version} by {theirs.reader} is newer")
        self.theirs, self.kept = theirs, kept
