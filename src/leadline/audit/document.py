"""What an audit found, as data: the JSON output is this document, and every other output is made from it."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from leadline.errors import UsageError
from leadline.ordinary_file import content

SCHEMA = "leadline.audit/1"
_MOST_BYTES = 512 * 1024 * 1024


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class State(StrEnum):
    """Whether the quote stands in its source (check 4): what was not checked counts as neither."""

    PRESENT = "verified present"
    ABSENT = "verified absent"
    NOT_CHECKABLE = "not checkable"


class Route(StrEnum):
    """How the source was found (check 1)."""

    DECLARED = "declared pointer, confirmed by content"
    ELSEWHERE = "found by content elsewhere"
    UNRESOLVED = "unresolved"


class Failure(StrEnum):
    """Why a flagged item is flagged (check 7)."""

    EVIDENCE_ABSENT = "evidence absent"
    COMPUTATIONAL = "computational"
    LABEL_UNTRACEABLE = "label untraceable"
    ANSWER_STATED = "answer stated"


class AnswerStated(StrEnum):
    """Whether the gold answer itself stands in the window; undecidable for enums and booleans."""

    STATED = "stated"
    NOT_STATED = "not stated"
    UNDECIDABLE = "undecidable"


class Place(_Frozen):
    """Where a span was found: character offsets into the raw text of the window, or of a source document."""

    start: int
    end: int


class SpanCheck(_Frozen):
    """One span of a quote, and where it stands. A place is None where it was not found or not looked for.

    `required` is False for a short connective span beside a substantive one. For a span that is missing from
    the window, `nearest` is the most similar text there, if there is one, and `similarity` how similar, from
    0 to 1: an explanation, never a pass.
    """

    text: str
    required: bool = True
    in_window: Place | None = None
    in_source: Place | None = None
    nearest: str = ""
    similarity: float | None = None


class ItemVerdict(_Frozen):
    """What the audit says about one item. `where` is file:line of the item.

    `quote_in_window` and `quote_in_source` are None where they could not be checked (no window, no quote, no
    document). An item is flagged when one of them is False. `reasons` are sentences, one per check that
    failed; `remarks` are what a person may want to look at although nothing failed (a window cut from the
    quote itself, a prompt that gives the answer away). `derivation` is the arithmetic found for a
    computational item, such as "81,575 / 1,362,500 = 5.99 %".
    """

    item: str
    task: str = ""
    category: str = ""
    answer_type: str = "text"
    where: str = ""
    state: State
    route: Route
    source: str = ""
    quote_in_window: bool | None
    quote_in_source: bool | None
    answer_in_window: AnswerStated = AnswerStated.UNDECIDABLE
    flagged: bool
    failure: Failure | None = None
    derivation: str = ""
    spans: tuple[SpanCheck, ...] = ()
    reasons: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class Trial(_Frozen):
    """One kind of input that the matcher was tried on: how many, and how many came out as they must."""

    name: str  # "a quote of its own window passes", "the same with one number changed fails", ...
    tried: int
    right: int
    failures: tuple[str, ...] = ()  # the first few, described
    note: str = ""  # why none was tried


class SelfTest(_Frozen):
    """The checker, checked on input made from this benchmark (check 6).

    A test that could not be tried, because no item has anything to make trials from, counts as passed, since
    nothing can be checked then; its note says so.
    """

    passed: bool
    trials: tuple[Trial, ...]
    note: str = ""

    @property
    def tried(self) -> bool:
        """Whether there was something to try."""
        return any(trial.tried for trial in self.trials)


class AuditedBenchmark(_Frozen):
    """What was audited. `evidence_hash` is over quotes and pointers, which `content_hash` leaves out."""

    name: str
    version: str
    path: str
    content_hash: str
    evidence_hash: str
    items: int
    sources: int  # documents held


class AuditDocument(_Frozen):
    """An audit. `items` is empty when the self-test failed: a checker that fails it gives no verdicts."""

    schema_id: Literal["leadline.audit/1"] = Field(default="leadline.audit/1", alias="schema")
    leadline_version: str
    created: AwareDatetime
    benchmark: AuditedBenchmark
    self_test: SelfTest
    items: tuple[ItemVerdict, ...] = ()

    @property
    def flagged(self) -> tuple[ItemVerdict, ...]:
        """The items that failed a check."""
        return tuple(item for item in self.items if item.flagged)


def load_audit(path: Path) -> AuditDocument:
    """Read an audit's JSON. Raises UsageError for a missing file, broken JSON or another schema."""
    try:
        raw = json.loads(content(path, _MOST_BYTES).decode("utf-8"))
    except FileNotFoundError as error:
        raise UsageError("no audit here", where=str(path), fix="leadline audit … --json") from error
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except json.JSONDecodeError as error:
        raise UsageError(f"not an audit: no JSON, {error.msg}", where=f"{path}:{error.lineno}") from error
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of thousands of digits
        raise UsageError("not an audit: it is no JSON text", where=str(path)) from error
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found != SCHEMA:
        raise UsageError(
            f"not an audit: its schema is {found!r}, this version reads {SCHEMA!r}", where=str(path)
        )
    try:
        return AuditDocument.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{place}: {first['msg']}", where=str(path)) from None
