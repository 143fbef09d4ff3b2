"""What a repair did, as data: repair.json beside the new items."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

SCHEMA = "leadline.repair/1"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Refusal(StrEnum):
    """Why a flagged item was left as it was."""

    COMPUTATIONAL = "computational: its operands are in the window, not in the quote"
    IN_WINDOW = "the evidence is in the window already"
    NO_WINDOW = "no window"
    NO_QUOTE = "no quote"
    NO_DOCUMENT = "no document held has the evidence"
    ELSEWHERE = "its document lacks the evidence, and others that are held have it"
    SCATTERED = "its quotes stand in different documents"
    UNREADABLE = "the document cannot be read"
    MARKUP_ONLY = "the evidence is in the document's markup alone"
    NO_CUT = "no window of the same length holds the evidence"


class Repaired(_Frozen):
    """One flagged item, before and after. `outcome` is repaired or refused. `reason` says why it was refused,
    or why its new window comes from another document than the item names.

    `start` and `end` are the new window's place in `source`, in characters of its text (or of its markup, if
    `layer` says so), `evidence_start` and `evidence_end` that of the evidence. `moved` is by how much the
    window is off the centre, because the document ends or so that no word is parted.
    """

    item: str
    task: str = ""
    outcome: Literal["repaired", "refused"]
    refusal: Refusal | None = None
    reason: str = ""
    failure: str = ""
    source: str = ""
    layer: Literal["text", "markup"] | None = None
    characters: int | None = None
    old_window_sha256: str = ""
    new_window_sha256: str = ""
    start: int | None = None
    end: int | None = None
    evidence_start: int | None = None
    evidence_end: int | None = None
    whole_words: bool | None = None
    moved: int | None = None


class Version(_Frozen):
    """A version of the benchmark."""

    name: str
    version: str
    content_hash: str
    items: int


class RepairDocument(_Frozen):
    """What was repaired, in which benchmark, after which audit: repair.json beside the new items."""

    schema_id: Literal["leadline.repair/1"] = Field(default="leadline.repair/1", alias="schema")
    leadline_version: str
    created: AwareDatetime
    audited: AwareDatetime
    original: Version
    repaired: Version
    only_repaired: bool
    items: tuple[Repaired, ...]

    @property
    def done(self) -> tuple[Repaired, ...]:
        """The items that have a new window."""
        return tuple(item for item in self.items if item.outcome == "repaired")

    @property
    def refusals(self) -> list[tuple[str, int]]:
        """How many were refused for which reason, the most frequent first."""
        return Counter(str(item.refusal) for item in self.items if item.refusal).most_common()
