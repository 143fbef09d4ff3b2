"""The job of answering a blind pack: one question a page, from the text shown alone.

A reader's committed answers are the pack's sheet `sheets/READER.csv`, the one that a spreadsheet would fill;
`leadline review score` reads it. No key is in the process: a pack holds none.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from leadline.bench.views import LabellerView
from leadline.errors import UsageError
from leadline.review.answer_fields import (
    answer_fields,
    answer_in,
    how_on_page,
    is_unsettled,
    said_both,
    text_of,
    unanswered,
)
from leadline.review.drafts import Draft, Drafts, Fields
from leadline.review.filled_sheet import read_begun_sheet
from leadline.review.job import Entry, State, state_of
from leadline.review.pack import Pack, PackRow
from leadline.review.pack_files import read_pack
from leadline.review.readable import unreadable
from leadline.review.sheet import UNSETTLED, Answer, sheet_of, write_sheet
from leadline.review.wanted import Wanted

if TYPE_CHECKING:
    from starlette.routing import Route

_MOST_CHARACTERS = 2_000
_MOST_QUOTED = 20_000


@dataclass(frozen=True)
class AnnotateJob:
    """The rows of one pack. See `Job` for its methods."""

    pack: Pack
    folder: Path
    drafts: Drafts

    name: ClassVar[str] = "annotate"
    title: ClassVar[str] = "Answer a blind pack"
    verb: ClassVar[str] = "Commit"
    shared: ClassVar[bool] = False
    template: ClassVar[str] = "annotate.html.j2"
    scripts: ClassVar[tuple[str, ...]] = ("answer.js", "annotate.js")
    styles: ClassVar[tuple[str, ...]] = ()

    def entries(self, reader: str = "") -> Sequence[Entry]:
        """The rows, in the pack's order."""
        return [Entry(row.token, row.view.question[:300]) for row in self.pack.rows]

    def has(self, key: str) -> bool:
        """Whether a row has this token."""
        return key in self.pack.by_token

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What annotate.html.j2 shows."""
        view = self._row(key).view
        return {
            "view": view,
            "how": how_on_page(view),
            "answers": answer_fields(view),
            "in_sheet": draft is not None and not draft.committed and key in self._committed(reader),
        }

    def visible(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What the page shows."""
        row = self._row(key)
        view = row.view
        return {"row": row.number, "question": view.question, "window": view.window, "how": view.how}

    def problems(self, key: str, reader: str, fields: Fields) -> Mapping[str, str]:
        """An answer is there, and is read as its type; or it is said that the text cannot settle it."""
        long = {
            name: f"has {len(text):,} characters, and {most:,} are the most"
            for name, most in (("answer", _MOST_CHARACTERS), ("quote", _MOST_QUOTED), ("note", _MOST_QUOTED))
            if len(text := text_of(fields, name)) > most
        }
        view = self._row(key).view
        if both := said_both(view, fields):
            return {**long, "unsettled": both}
        if long or is_unsettled(fields):
            return long
        if view.answer_type != "parts":
            return {"answer": fault} if (fault := unreadable(view, answer_in(view, fields))) else {}
        if lacking := unanswered(view, fields):
            return {"": f"not answered yet: {', '.join(lacking)}"}
        return {"": fault} if (fault := unreadable(view, answer_in(view, fields))) else {}

    def commit(self, key: str, reader: str, draft: Draft) -> None:
        """Write the reader's sheet anew, whole, with this row answered.

        Other rows stay as the sheet has them: it may have been filled in by hand, or from another review
        folder. What cannot be read as a sheet of this pack, or says something else in this row that is no
        earlier answer from here, is kept beside, as FILE.TIME.replaced.
        """
        before = self._committed(reader)
        own = answer_of(self._row(key).view, draft.fields)
        path = sheet_of(self.folder, reader)
        path.parent.mkdir(parents=True, exist_ok=True)
        found = _in_sheet(self.pack, path)
        if found is None or found.get(key, own) not in (own, before.get(key, own)):
            shutil.copy2(path, path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S}.replaced"))
        write_sheet(self.pack, {**before, **(found or {}), key: own}, path)

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        """A commit is the end of it."""
        return state_of(draft)

    def after(self, reader: str) -> str:
        """What the list says when all rows are done."""
        name = shlex.quote(reader)
        return (
            f"Your answers are in {sheet_of(self.folder, reader)}. Who holds the benchmark scores them: "
            f"leadline review score {shlex.quote(str(self.folder))} BENCHMARK --reader {name}"
        )

    def routes(self) -> Sequence[Route]:
        """None of its own."""
        return ()

    def _row(self, key: str) -> PackRow:
        return self.pack.by_token[key]

    def _committed(self, reader: str) -> dict[str, Answer]:
        return {
            key: answer_of(self._row(key).view, draft.fields)
            for key, draft in self.drafts.committed(self.name, reader).items()
            if key in self.pack.by_token
        }


def offer(wanted: Wanted, drafts: Drafts) -> AnnotateJob | None:
    """The job where a pack is named. Raises UsageError for one that cannot be read."""
    if wanted.pack is None:
        return None
    return AnnotateJob(read_pack(wanted.pack), wanted.pack, drafts)


def _in_sheet(pack: Pack, path: Path) -> Mapping[str, Answer] | None:
    """The answered rows of a sheet that is there, {} where none is; None for what is no sheet of the pack."""
    if not path.exists():
        return {}
    try:
        found = read_begun_sheet(pack, path).answers
    except UsageError:
        return None
    return {token: answer for token, answer in found.items() if answer != Answer("")}


def answer_of(view: LabellerView, fields: Fields) -> Answer:
    """A draft as the cells of a sheet.

    >>> answer_of(LabellerView("Is it?"), {"answer": " yes ", "note": ""})
    Answer(answer='yes', quote='', note='')
    """
    said = UNSETTLED if is_unsettled(fields) else answer_in(view, fields)
    return Answer(said, text_of(fields, "quote"), text_of(fields, "note"))
