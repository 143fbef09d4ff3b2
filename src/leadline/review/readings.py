"""What readers answered before they saw a key: one line each, in a file that only grows.

The first reading of an item by a reader counts, and stays: whatever the same reader says of it later was said
knowing the key, and is kept as a note. A reading is about an item as it was asked and labelled: after a
change of either it is one of another item, and its key has not been seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from leadline.bench.lines_file import growing, lines_of
from leadline.errors import UsageError
from leadline.ordinary_file import content
from leadline.review.reader import reader_key

FILE = "readings.jsonl"


class BlindReading(BaseModel):
    """One reading. `label` is `label_hash` of the item as it was read; `answer` is empty where the reader
    found that the text cannot settle it (`unsettled`). `quotes_shown`: whether the label's quotes were
    marked, where they were found, for whoever read; None where that was not written down. A "note" came after
    that reader's first reading."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str = Field(min_length=1)
    label: str
    reader: str = Field(min_length=1)
    created: AwareDatetime
    answer: str = ""
    unsettled: bool = False
    kind: Literal["reading", "note"] = "reading"
    quotes_shown: bool | None = None

    @property
    def in_words(self) -> str:
        """What a decision tells of it."""
        return "cannot be settled" if self.unsettled else self.answer


class Readings:
    """The readings in `path`, which need not be there. Several processes may read and add at once."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.path = path
        self._lock = Lock()
        self._state: tuple[int, int] = (-1, -1)
        self._all: tuple[BlindReading, ...] = ()
        self._first: dict[tuple[str, str, str], BlindReading] = {}
        self._last: dict[tuple[str, str, str], BlindReading] = {}

    def all(self) -> tuple[BlindReading, ...]:
        """Every line, in order. Raises UsageError with file and line for one that is none."""
        self._refresh()
        return self._all

    def of(self, item: str, label: str, reader: str) -> BlindReading | None:
        """The reading that counts: the first of this reader, of the item as it is labelled now."""
        self._refresh()
        return self._first.get((item, label, reader_key(reader)))

    def add(
        self,
        item: str,
        label: str,
        reader: str,
        answer: str = "",
        *,
        unsettled: bool = False,
        quotes_shown: bool | None = None,
    ) -> BlindReading:
        """Write a reading, whole and on the disk; a note where this reader has one of the item already.

        Saying the same once more writes nothing. Returns what counts. Raises LeadlineError where it cannot be
        written.
        """
        with growing(self.path) as write:
            before = self.of(item, label, reader)
            last = self._last.get((item, label, reader_key(reader)))
            if before is not None and (answer, unsettled) in [
                (one.answer, one.unsettled) for one in (before, last) if one is not None
            ]:
                return before
            line = BlindReading(
                item=item,
                label=label,
                reader=" ".join(reader.split()),
                created=datetime.now(UTC).replace(microsecond=0),
                answer=answer,
                unsettled=unsettled,
                kind="reading" if before is None else "note",
                quotes_shown=quotes_shown,
            )
            write(line)
            return before or line

    def _refresh(self) -> None:
        try:
            about = self.path.stat()
            state = about.st_size, about.st_mtime_ns
        except FileNotFoundError:
            state = 0, 0
        except OSError as error:
            raise _unreadable(self.path, error) from None
        with self._lock:
            if state == self._state:
                return
            try:
                data = content(self.path) if state[1] else b""
            except OSError as error:
                raise _unreadable(self.path, error) from None
            self._all = tuple(self._lines(data))
            first: dict[tuple[str, str, str], BlindReading] = {}
            last = {(one.item, one.label, reader_key(one.reader)): one for one in self._all}
            for one in self._all:
                first.setdefault((one.item, one.label, reader_key(one.reader)), one)
            self._first, self._last, self._state = first, last, state

    def _lines(self, data: bytes) -> Iterator[BlindReading]:
        for number, line in lines_of(data):
            try:
                yield BlindReading.model_validate_json(line)
            except ValidationError as error:
                # Which key of it, and not what it says: whoever is told this may not have read the item yet.
                place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "JSON"
                raise UsageError(
                    f"is no reading ({place})",
                    where=f"{self.path}:{number}",
                    fix="put the line back as it was written, or take it out",
                ) from None


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot be read: {error.strerror or error}", where=str(path), fix="restore it, or move it away"
    )
