"""What the pages of a review ask of a job: its entries, what is shown of one, and what an answer becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from leadline.review.drafts import Draft, Fields

if TYPE_CHECKING:
    from starlette.routing import Route

# new: nobody has written anything. draft: begun, or changed since it was committed. read: of jobs in two
# steps, the first is committed. done: committed.
State = Literal["new", "draft", "read", "done"]
# What stands in the first part of an address and is no job.
RESERVED = frozenset({"api", "static", "reader"})
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Entry:
    """One thing to be answered.

    `key` stands in addresses: 1–64 letters, digits, _ and -, and opaque (a position, a token): an item's id
    may tell its answer. `title` is shown in lists, `group` heads entries that follow each other, `note` is
    shown small. One that is not `counted` leads to more work, and is none itself ("a new item"). Raises
    ValueError for another key.
    """

    key: str
    title: str
    group: str = ""
    note: str = ""
    counted: bool = True

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise ValueError(f"{self.key!r} cannot stand in an address")


class Job(Protocol):
    """One kind of work. Its methods are called from several threads, at any time."""

    @property
    def name(self) -> str:
        """In addresses: lower-case letters and hyphens."""
        ...

    @property
    def title(self) -> str:
        """In words."""
        ...

    @property
    def verb(self) -> str:
        """What the button of a commit says."""
        ...

    @property
    def shared(self) -> bool:
        """Whether all readers work on one draft of an entry; else each has an own one, and sees no other."""
        ...

    @property
    def template(self) -> str:
        """Its page, which extends frame.html.j2."""
        ...

    @property
    def scripts(self) -> tuple[str, ...]:
        """Further scripts of `static/`."""
        ...

    @property
    def styles(self) -> tuple[str, ...]:
        """Further style sheets of `static/`."""
        ...

    def entries(self, reader: str = "") -> Sequence[Entry]:
        """All entries, in the order in which they are gone through; it may be another for each reader."""
        ...

    def has(self, key: str) -> bool:
        """Whether there is an entry of this key: asked at every text that is kept."""
        ...

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What the template is given for one entry, beside what the frame gives (see `pages`)."""
        ...

    def visible(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What GET /api/JOB/KEY tells beside the draft: JSON, and nothing that the reader may not see yet."""
        ...

    def problems(self, key: str, reader: str, fields: Fields) -> Mapping[str, str]:
        """Why an answer cannot be committed, by field ("" for the whole); empty where it can. Asked at a
        commit alone: a draft may be anything. Among the fields, here and in `commit`, is also what a page
        sends beside them (data-beside), which no draft keeps."""
        ...

    def commit(self, key: str, reader: str, draft: Draft) -> None:
        """Keep a committed answer where it belongs, on the disk. Called within the transaction that marks the
        draft as committed, before it ends: whatever is raised here leaves it uncommitted. It may be called
        again with the same draft (after a sudden end), which must change nothing for whoever reads."""
        ...

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        """How far a reader is with an entry; `state_of` where a commit is all that there is to it."""
        ...

    def routes(self) -> Sequence[Route]:
        """Addresses of its own below /api/; they are looked at before the frame's. Who reads is told by
        `asking.reader_of(request)`."""
        ...


def state_of(draft: Draft | None) -> State:
    """The state of an entry whose commit is the end of it."""
    if draft is None or (draft.empty and not draft.committed):
        return "new"
    return "done" if draft.committed else "draft"
