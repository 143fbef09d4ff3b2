"""The job of labelling: questions are answered from documents, each answer with the quotes it rests on.

All readers work on one draft of a question, so that none is labelled twice. What is asked comes from a file,
or is written by whoever labels ("new item").
"""

from __future__ import annotations

import re
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
from leadline.review.answer_fields import (
    ANSWER,
    AnswerField,
    answer_fields,
    answer_in,
    how_on_page,
    is_unsettled,
    said_both,
    text_of,
)
from leadline.review.drafts import Draft, Drafts, Fields, Sent
from leadline.review.job import Entry, State, state_of
from leadline.review.labels import FILE, Label, Proof, add_label, answer_problems, read_labels
from leadline.review.passages import Documents
from leadline.review.questions import Question, read_questions
from leadline.review.quotes import Quote, RefusedQuote, check_quotes, quotes_of
from leadline.review.titles import title
from leadline.review.wanted import Wanted
from leadline.review.written_question import (
    TYPES,
    checked_question,
    lines_of,
    of_label,
    question_as_written,
    written_question,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route

# The entry behind which a new item is begun; items have keys of their own.
NEW = "new"
# Ids of questions that came from a file are none, though their labels lie beside.
_BEGUN = re.compile(r"n[0-9a-f]{15}")
_NO_ANSWER = "say what the answer is, or that the text cannot settle it"
_SHOWN = (
    "question", "task", "category", "answer_type", "unit", "choices", "aliases", "reason", "note",
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
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: tuple[object, dict[str, Label]] = (None, {})

    name: ClassVar[str] = "label"
    title: ClassVar[str] = "Label"
    verb: ClassVar[str] = "Commit this label"
    shared: ClassVar[bool] = True
    template: ClassVar[str] = "label.html.j2"
    scripts: ClassVar[tuple[str, ...]] = (
        "answer.js", "document.js", "document_search.js", "document_caret.js", "label.js",
    )  # fmt: skip
    styles: ClassVar[tuple[str, ...]] = ("document.css", "label.css")

    def __post_init__(self) -> None:
        """Gives each question its key."""
        self._by_key = {_key(question.id): question for question in self.questions}

    def entries(self, reader: str = "") -> Sequence[Entry]:
        """The questions; else the items that were begun, in order, and the one that begins another."""
        if self.questions:
            return [
                Entry(key, title(question.question), question.category, question.task)
                for key, question in self._by_key.items()
            ]
        drafts = self.drafts.all(self.name, "")
        keys = sorted(key for key in {*self._labels(), *drafts} if _BEGUN.fullmatch(key))
        entries = []
        for key in keys:
            text = self._written(key, drafts[key].fields if key in drafts else None)
            entries.append(Entry(key, title(text.get("question", "")) or "An item without a question yet"))
        return [*entries, Entry(NEW, "A new item", counted=False)]

    def has(self, key: str) -> bool:
        """Whether this question is asked; else whether an item of this key was begun."""
        if self.questions or key == NEW:
            return key in self._by_key or (key == NEW and not self.questions)
        if not _BEGUN.fullmatch(key):
            return False
        return self.drafts.get(self.name, key, "") is not None or self._label(key) is not None

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        """A label that is kept is done, even where its draft went."""
        if draft is None and self._label(key) is not None:
            return "done"
        return state_of(draft)

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What label.html.j2 shows."""
        fields = draft.fields if draft is not None else {}
        names = {"documents": self.documents.names, "tasks": self.tasks, "types": TYPES, "new": key == NEW}
        words = {"category_name": self.category_name, "task_name": self.task_name}
        question = self._by_key.get(key)
        written = self._written(key, None if draft is None else fields)
        asked = question or question_as_written(key, written, self.tasks, Problems())
        view = for_labeller(asked.asked()) if asked is not None and asked.question.strip() else None
        declared = next((task for task in self.tasks if task.name == written.get("task")), None)
        return {
            **names,
            **words,
            "said": _said(fields),
            # Until it is known what may be answered, anything can be written.
            "answers": answer_fields(view) if view is not None else (AnswerField(ANSWER, "Answer"),),
            "fields": fields,
            "given": question is not None,
            "written": written,
            "declared": declared,
            "view": view,
            "how": how_on_page(view) if view is not None else "",
            "document": self._first_document(fields, question),
            "label": self._label(key),
        }

    def visible(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """Nothing beside the draft."""
        return {}

    def problems(self, key: str, reader: str, fields: Fields) -> Mapping[str, str]:
        """Why this is no label yet, by field."""
        if key == NEW:
            return {"": "begin an item first"}
        question, found = self._question(key, fields)
        if found or question is None:
            return found
        quotes: tuple[Quote, ...] = ()
        try:
            quotes = quotes_of(fields.get("quotes") or [])
            check_quotes(quotes, self.documents)
        except RefusedQuote as error:
            found["quotes"] = str(error)
        view = for_labeller(question.asked())
        if both := said_both(view, fields):
            return {**found, "unsettled": both}
        if is_unsettled(fields):
            if not text_of(fields, "reason"):
                found["reason"] = "say why the text cannot settle it"
            return found
        if not quotes and "quotes" not in found:
            found["quotes"] = "mark at least one quote that settles the question, or say that none does"
        empty = [field.name for field in answer_fields(view) if not text_of(fields, field.name)]
        if empty:
            return {
                **found,
                **dict.fromkeys(empty, _NO_ANSWER),
            }
        faults = answer_problems(question, answer_in(view, fields), lines_of(fields, "aliases"))
        # An answer in parts has no field of its own.
        return {**found, **{"" if view.fields and name == ANSWER else name: faults[name] for name in faults}}

    def commit(self, key: str, reader: str, draft: Draft) -> None:
        """Add the label to labels.jsonl."""
        fields = draft.fields
        question, found = self._question(key, fields)
        if question is None:
            raise ValueError(f"committed without a question: {found}")
        unsettled = is_unsettled(fields)
        proofs = [
            Proof(quote=one.quote, source=one.name, sha256=one.sha256, start=one.start, end=one.end)
            for one in quotes_of(fields.get("quotes") or [])
        ]
        label = Label(
            **question.of_item(),
            answer="" if unsettled else answer_in(for_labeller(question.asked()), fields),
            aliases=() if unsettled else tuple(lines_of(fields, "aliases")),
            evidence=tuple(proofs),
            unsettled=unsettled,
            reason=text_of(fields, "reason") if unsettled else "",
            note=text_of(fields, "note"),
            reader=reader,
            date=datetime.now(UTC).date().isoformat(),
        )
        add_label(self.folder / FILE, label)

    def routes(self) -> Sequence[Route]:
        """POST /api/new-item: the key of an item that nobody else was given."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse, Response
        from starlette.routing import Route

        from leadline.review.asking import reader_of, refusal

        async def begin(request: Request) -> Response:
            if not (reader := reader_of(request)):
                return refusal(403, "nobody has said who reads: open /reader")
            return JSONResponse({"key": await run_in_threadpool(self.begin, reader)})

        return [Route("/api/new-item", begin, methods=["POST"])]

    def begin(self, reader: str) -> str:
        """The key of another item: later ones come later, and two people at once get two. It has an empty
        draft, so that its page goes on wherever the server does."""
        key = f"n{int(time.time() * 1000):011x}{secrets.token_hex(2)}"
        self.drafts.save(self.name, key, "", Sent(0, {}, by=reader))
        return key

    def _question(self, key: str, fields: Fields) -> tuple[Question | None, dict[str, str]]:
        """What is asked, from the file or from the draft, and what is wrong with it."""
        if key in self._by_key:
            return self._by_key[key], {}
        return checked_question(key, fields, self.tasks)

    def _written(self, key: str, fields: Fields | None) -> dict[str, Any]:
        label = self._label(key) if fields is None else None
        if label is not None:
            return of_label(label)
        return written_question(fields or {}, self.tasks)

    def _first_document(self, fields: Fields, question: Question | None) -> int | None:
        """Where to begin: with the document of the first quote, else with the question's own."""
        quotes = _said(fields)["quotes"]
        name = quotes[0].get("name") if quotes and isinstance(quotes[0], dict) else None
        if isinstance(name, str) and (first := self.documents.number_named(name)) is not None:
            return first
        if question is not None and (found := self.documents.number_of(question.source)) is not None:
            return found
        return 0 if self.documents.names else None

    def _label(self, key: str) -> Label | None:
        question = self._by_key.get(key)
        return self._labels().get(question.id if question is not None else key)

    def _labels(self) -> dict[str, Label]:
        path = self.folder / FILE
        try:
            about = path.stat()
            stamp: object = (about.st_mtime_ns, about.st_size)
        except FileNotFoundError:
            return {}
        with self._lock:
            if self._known[0] != stamp:
                self._known = stamp, read_labels(path)
            return self._known[1]


def offer(wanted: Wanted, drafts: Drafts) -> LabelJob | None:
    """The job where there are questions, or documents beside the benchmark to write items on.

    Raises LeadlineError for questions that cannot be read.
    """
    benchmark, documents = wanted.benchmark, wanted.documents
    if documents is None or (benchmark is None and wanted.questions is None):
        return None
    questions: tuple[Question, ...] = ()
    if wanted.questions is not None:
        questions = read_questions(wanted.questions, benchmark.tasks if benchmark is not None else ())
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


def _said(fields: Fields) -> dict[str, Any]:
    """A draft as the page shows it: every field is there, of its own kind."""
    quotes = fields.get("quotes")
    said: dict[str, Any] = {name: text_of(fields, name) for name in _SHOWN}
    return {**said, "quotes": quotes if isinstance(quotes, list) else []}
