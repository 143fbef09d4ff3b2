"""The job of labelling: questions are answered from documents, each answer with the quotes it rests on.

All readers work on one draft of a question, so that none is labelled twice. What is asked comes from a file,
or is written by whoever labels ("new item").
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from leadline.bench.problem import Problems
from leadline.bench.task import TaskDeclaration
from leadline.bench.views import for_labeller
from leadline.documents.sources import FOLDER_NAME
from leadline.review.document_routes import document_routes
from leadline.review.drafts import Draft, Drafts, Fields
from leadline.review.job import Entry, State, state_of
from leadline.review.labels import FILE, Label, Proof, add_label, answer_problems, read_labels
from leadline.review.passages import Documents, documents_in, documents_of
from leadline.review.questions import Question, read_questions
from leadline.review.quotes import Quote, RefusedQuote, kept_quotes
from leadline.review.wanted import Wanted
from leadline.review.written_question import (
    TYPES,
    checked_question,
    lines_of,
    of_label,
    question_as_written,
    text_of,
    written_question,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route

# The entry behind which a new item is begun; items have keys of their own.
NEW = "new"
_TITLE = 120
_SHOWN = (
    "question", "task", "category", "answer_type", "unit", "choices", "answer", "aliases", "reason", "note",
)  # fmt: skip


@dataclass
class LabelJob:
    """Labels for `questions`, or for new items where there are none. See `Job` for its methods."""

    documents: Documents
    folder: Path
    drafts: Drafts
    questions: tuple[Question, ...] = ()
    tasks: tuple[TaskDeclaration, ...] = ()
    category_name: str = "category"
    task_name: str = "task"
    _begun: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: tuple[object, dict[str, Label]] = (None, {})

    name: ClassVar[str] = "label"
    title: ClassVar[str] = "Label"
    verb: ClassVar[str] = "Commit this label"
    shared: ClassVar[bool] = True
    template: ClassVar[str] = "label.html.j2"
    scripts: ClassVar[tuple[str, ...]] = ("document.js", "document_search.js", "label.js")
    styles: ClassVar[tuple[str, ...]] = ("document.css", "label.css")

    def __post_init__(self) -> None:
        """Gives each question its key."""
        self._by_key = {_key(question.id): question for question in self.questions}

    def entries(self) -> Sequence[Entry]:
        """The questions; else the items that were begun, in order, and the one that begins another."""
        if self.questions:
            return [
                Entry(key, _short(question.question), question.category, question.task)
                for key, question in self._by_key.items()
            ]
        drafts = self.drafts.all(self.name, "")
        labels = self._labels()
        with self._lock:
            keys = sorted({*labels, *self._begun, *(key for key in drafts if key != NEW)})
        entries = []
        for key in keys:
            text = self._written(key, drafts[key].fields if key in drafts else None)
            entries.append(Entry(key, _short(text.get("question", "")) or "an item without a question yet"))
        return [*entries, Entry(NEW, "A new item")]

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        """A label that is kept is done, even where its draft went."""
        if draft is None and self._label(key) is not None:
            return "done"
        return state_of(draft)

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What label.html.j2 shows."""
        fields = draft.fields if draft is not None else {}
        if benchmark is None:
        return LabelJob(documents, wanted.folder, drafts, questions)
    return LabelJob(
        documents,
        wanted.folder,
        drafts,
        questions,
        benchmark.tasks,
        benchmark.category_name,
        benchmark.task_name,
    )


def _key(identity: str) -> str:
    """A question's key: the same whatever else its file holds, and it does not tell the id."""
    return f"q{sha256(identity.encode()).hexdigest()[:16]}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}…"


def _said(fields: Fields) -> dict[str, Any]:
    """A draft as the page shows it: every field is there, of its own kind."""
    quotes = fields.get("quotes")
    said: dict[str, Any] = {name: text_of(fields, name) for name in _SHOWN}
    said["unsettled"] = _is_set(fields.get("unsettled"))
    return {**said, "quotes": quotes if isinstance(quotes, list) else []}


def _is_set(value: object) -> bool:
    return value is True or value in ("true", "yes", "on")
