"""What readers have written so far: every saved version, in one SQLite file.

Nothing that was said to be saved is lost: each version is on the disk before the call returns, none is ever
overwritten, and of two people who change one draft both texts stay. Several threads and processes may use a
file at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from leadline.review.draft import ConflictError, Draft, Fields, Kind, LateError, Sent
from leadline.review.drafts_file import (
    DraftsFile,
    add_version,
    check_newest,
    head_of,
    heads_of,
    version_of,
    versions_of,
)
from leadline.review.reader import same_reader

__all__ = ["ConflictError", "Draft", "Drafts", "Fields", "LateError", "Sent"]


class Drafts:
    """Drafts of a review folder. `reader` is whose draft it is: "" where all readers work on one."""

    def __init__(self, path: Path) -> None:
        """Nothing is made before it is needed: see `make`."""
        self.path = path
        self._file = DraftsFile(path)

    def make(self) -> None:
        """Make the file, and its folder, where they are not there yet; whatever is asked first does so, too.

        Raises LeadlineError where they cannot be made, or the file is something else.
        """
        self._file.make()

    def get(self, job: str, key: str, reader: str) -> Draft | None:
        """The newest version; None where nothing was written."""
        with self._file.reading() as database:
            return head_of(database, (job, key, reader))

    def all(self, job: str, reader: str) -> dict[str, Draft]:
        """The newest version of every entry of a job that has one, by key."""
        with self._file.reading() as database:
            return heads_of(database, job, reader, "counted")

    def committed(self, job: str, reader: str) -> dict[str, Draft]:
        """The last committed version of every entry that has one, by key, whatever was written since."""
        with self._file.reading() as database:
            return heads_of(database, job, reader, "committed")

    def known_reader(self, name: str) -> str:
        """`name` as this reader has saved before, whose name may differ in capitals and blanks; else
        itself."""
        with self._file.reading() as database:
            rows = database.execute("SELECT DISTINCT reader FROM versions ORDER BY reader")
            return next((row[0] for row in rows if same_reader(row[0], name)), name)

    def states(self, job: str, reader: str) -> dict[str, Literal["draft", "done"]]:
        """How far each entry is that was begun."""
        return {key: "done" if draft.committed else "draft" for key, draft in self.all(job, reader).items()}

    def history(self, job: str, key: str, reader: str) -> list[Draft]:
        """All versions, the oldest first, those that came too late among them."""
        with self._file.reading() as database:
            return versions_of(database, (job, key, reader))

    def save(self, job: str, key: str, reader: str, sent: Sent) -> Draft:
        """Keep what was sent as the newest version.

        A page is never in conflict with itself: what it sent before and was not told about is passed over,
        and a text that comes late, after a newer one of the same page, changes nothing.

        Raises ConflictError where somebody else was first; the fields are kept in the history.
        """
        place, made = (job, key, reader), _draft(sent, reader, "saved")
        with self._file.writing() as database:
            head = head_of(database, place)
            if head is not None:
                again = bool(sent.page) and (head.page, head.edit) == (sent.page, sent.edit)
                if again or sent.late(head) or head.fields == made.fields:
                    return head
                check_newest(database, place, head, sent.version, made)
            return add_version(database, place, replace(made, before=head.version if head else 0))

    def undo(self, job: str, key: str, reader: str, version: int, *, by: str = "") -> Draft:
        """The state before, as a new version; of a committed one, the same open again.

        A further undo goes further back. Where there is nothing before, the newest stays.
        Raises ConflictError where `version` is not the newest, LookupError where nothing was ever written.
        """
        place = job, key, reader
        with self._file.writing() as database:
            head = head_of(database, place)
            if head is None:
                raise LookupError("nothing was written here")
            if head.version != version:
                raise ConflictError(head, 0)
            fields, before = head.fields, head.before
            if not head.committed:
                if before < 0:
                    return head
                earlier = version_of(database, place, before) if before else None
                fields, before = (earlier.fields, earlier.before) if earlier else ({}, -1)
            made = Draft(0, fields, _now(), by or reader, kind="undone", before=before)
            return add_version(database, place, made)

    def commit(
        self, job: str, key: str, reader: str, sent: Sent, then: Callable[[Draft], None] | None = None
    ) -> Draft:
        """Keep what was sent as the newest version, committed.

        `then` is called with it before it counts: what it raises leaves nothing. The same commit once more
        gives the same version, and calls `then` again: it is what has changed, if anything has. Raises
        ConflictError as `save`, LateError where the same page has sent a newer text since.
        """
        place, made = (job, key, reader), _draft(sent, reader, "committed")
        with self._file.writing() as database:
            head = head_of(database, place)
            if head is not None and head.committed and head.fields == made.fields:
                made = head
            else:
                if head is not None and head.fields != made.fields:
                    if sent.late(head):
                        raise LateError
                    check_newest(database, place, head, sent.version, made)
                if head is not None:
                    # An undo of what follows leads to the text before the commit.
                    made = replace(made, before=head.before if head.fields == made.fields else head.version)
                made = add_version(database, place, made)
            if then is not None:
                then(made)
            return made


def _draft(sent: Sent, reader: str, kind: Kind) -> Draft:
    return Draft(0, dict(sent.fields), _now(), sent.by or reader, kind, page=sent.page, edit=sent.edit)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
