"""The job `adjudicate`: a person reads a doubted item, answers it, and only then sees key and answers.

Two commits of one entry. The first keeps the reading, for ever. After it the page shows what was hidden and
asks for the decision, which the second appends to the adjudications. What is hidden from a reader depends on
that reader's own reading, on every way to it: page, API, list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leadline.bench.adjudications import Adjudication, label_hash
from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item
from leadline.bench.outcomes import NAMES
from leadline.bench.views import for_labeller
from leadline.review.adjudication_form import (
    IS_DECISION,
    OUTCOMES,
    decided_meanwhile,
    faults_of_decision,
    faults_of_reading,
    seen_by,
)
from leadline.review.answer_fields import answer_fields, answer_in, how_on_page, is_unsettled, text_of
from leadline.review.as_shown import not_as_shown
from leadline.review.asking import RefusedError, escaped_json, reader_of, refusal
from leadline.review.decide import DecidedSinceError, decide, decided_since
from leadline.review.decision_file import DecisionFile
from leadline.review.drafts import Draft, Drafts, Fields
from leadline.review.evidence import in_sources, in_window, pointed_to
from leadline.review.flag_files import read_flags
from leadline.review.flagging import flags_of, flags_of_audit
from leadline.review.flags import FlagList, as_recorded
from leadline.review.job import Entry, State
from leadline.review.order import recorded_seed, shuffled, token
from leadline.review.passages import Documents
from leadline.review.places import adjudications_file
from leadline.review.read_documents import box_of, faults_of_read, read_by
from leadline.review.reader import same_reader
from leadline.review.readings import FILE as READINGS
from leadline.review.readings import BlindReading, Readings
from leadline.review.revealed import Revealed, reveal
from leadline.review.titles import title
from leadline.review.wanted import Wanted
from leadline.study.study import Study

# A reader has to read the window: it is shown whole, unless it is longer than a book's chapter.
WINDOW_SHOWN = 200_000
_NOT_YET = "this is shown once you have committed a reading of this item"


@dataclass
class AdjudicateJob:
    """Entries are the flagged items of `benchmark` (as annotated), shuffled for each reader; see
    `adjudicate_job`."""

    benchmark: Benchmark
    flags: FlagList
    readings: Readings
    decisions: DecisionFile
    seed: str
    study: Study | None = None
    documents: Documents | None = None
    hide_quotes: bool = False

    name: ClassVar[str] = "adjudicate"
    title: ClassVar[str] = "Adjudicate flags"
    verb: ClassVar[str] = "Commit"
    shared: ClassVar[bool] = False
    template: ClassVar[str] = "adjudicate.html.j2"
    scripts: ClassVar[tuple[str, ...]] = ("document.js", "document_search.js", "answer.js", "adjudicate.js")
    styles: ClassVar[tuple[str, ...]] = ("document.css", "adjudicate.css")

    _items: dict[str, Item] = field(init=False)
    _labels: dict[str, str] = field(init=False)  # windows may be long: hashed once
    _keys: dict[str, str] = field(init=False)  # by item
    _flagged: tuple[str, ...] = field(init=False)
    _others: tuple[str, ...] = field(init=False)  # read by somebody, and flagged no more

    def __post_init__(self) -> None:
        """Names the entries: what is flagged, and what was read and is flagged no more."""
        known = self.benchmark.by_id
        read = {one.item: one.label for one in self.readings.all() if one.item in known}
        self._flagged = tuple(item for item in self.flags.items if item in known)
        self._labels = {item: label_hash(known[item]) for item in {*self._flagged, *read}}
        # What was read was another item, if this one was changed since.
        still = {item for item, label in read.items() if label == self._labels[item]}
        self._others = tuple(still - set(self._flagged))
        self._keys = {
            item: token(item, self._labels[item], self.seed) for item in (*self._flagged, *self._others)
        }
        self._items = {key: known[item] for item, key in self._keys.items()}

    def entries(self, reader: str = "") -> Sequence[Entry]:
        """The doubted items, in an order of the reader's own: nothing of them but the question. Behind them
        what this reader has read that is flagged no more, which is no part of the work."""
        own = [item for item in self._others if self._reading(self.benchmark.by_id[item], reader)]
        return [
            *(self._entry(item) for item in shuffled(self._flagged, self.seed, reader)),
            *(
                self._entry(item, group="Read before, and flagged no more", counted=False)
                for item in shuffled(own, self.seed, reader)
            ),
        ]

    def _entry(self, item: str, **more: Any) -> Entry:
        return Entry(self._keys[item], title(self.benchmark.by_id[item].question), **more)

    def has(self, key: str) -> bool:
        """Whether a doubted item has this key."""
        return key in self._items

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """What the page shows; `revealed` is None before the reading."""
        item = self._items[key]
        reading = self._reading(item, reader)
        view = for_labeller(item)
        revealed = self._revealed(item, reading) if reading else None
        return {
            "question": view.question,
            "how": how_on_page(view),
            "answers": answer_fields(view, "Your reading"),
            "window": in_window(item, quotes=not self.hide_quotes, limit=WINDOW_SHOWN),
            "documents": self._named(item),
            "boxes": [(box_of(name), name) for _, name in self._named(item)],
            "hide_quotes": self.hide_quotes,
            "reading": reading,
            "revealed": revealed,
            "outcomes": OUTCOMES,
            "named": NAMES,
            "corrected": revealed.proposed if revealed else "",
            "standing": self._standing(item) if reading else None,
        }

    def visible(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        """Whether the reading is committed, and what may be seen without it."""
        item = self._items[key]
        view = for_labeller(item)
        reading = self._reading(item, reader)
        return {
            "question": view.question,
            "how": view.how,
            "window": view.window,
            "read": reading is not None,
            "reading": reading.in_words if reading else None,
        }

    def problems(self, key: str, reader: str, fields: Fields) -> Mapping[str, str]:
        """What the reading, or the decision, lacks."""
        item = self._items[key]
        if gone := not_as_shown(self.benchmark, item.id, self._labels[item.id]):
            return {"": gone}
        if self._reading(item, reader) is None or IS_DECISION not in fields:
            return faults_of_reading(for_labeller(item), fields)
        faults = faults_of_decision(item, fields, self._standing(item))
        faults |= faults_of_read(item, self.documents, fields)
        seen = seen_by(fields)
        if seen is not None and (last := decided_since(seen, self.decisions.on(item), item.id, reader)):
            faults[""] = decided_meanwhile(last)
        return faults

    def commit(self, key: str, reader: str, draft: Draft) -> None:
        """Keep the reading; or, where there is one, the decision. What a page that knew of no reading sends
        after it is kept as a note."""
        item = self._items[key]
        reading = self._reading(item, reader)
        if reading is None or IS_DECISION not in draft.fields:
            answer, unsettled = answer_in(for_labeller(item), draft.fields), is_unsettled(draft.fields)
            self.readings.add(
                item.id,
                self._labels[item.id],
                reader,
                answer,
                unsettled=unsettled,
                quotes_shown=bool(item.evidence) and not self.hide_quotes,
            )
        else:
            self._decide(item, reader, reading, draft.fields)

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        """`read` once the reading is committed, `done` once this reader's decision is in force."""
        item = self._items[key]
        if self._reading(item, reader) is None:
            return "draft" if draft is not None and draft.fields else "new"
        standing = self._standing(item)
        return "done" if standing is not None and same_reader(standing.reader, reader) else "read"

    def routes(self) -> Sequence[Route]:
        """GET /api/adjudicate/KEY/revealed (403 before the reading) and GET /api/adjudicate/KEY/places."""
        base = f"/api/{self.name}/{{key}}"
        return [
            Route(f"{base}/revealed", self._answer_revealed, methods=["GET"]),
            Route(f"{base}/places", self._answer_places, methods=["GET"]),
        ]

    def _reading(self, item: Item, reader: str) -> BlindReading | None:
        return self.readings.of(item.id, self._labels[item.id], reader) if reader else None

    def _standing(self, item: Item) -> Adjudication | None:
        return self.decisions.standing(item, self._labels[item.id])

    def _revealed(self, item: Item, reading: BlindReading) -> Revealed:
        return reveal(item, reading, self.flags.of(item.id), self.decisions.on(item), self.study)

    def _named(self, item: Item) -> list[tuple[int, str]]:
        return pointed_to(item, self.documents) if self.documents else []

    def _decide(self, item: Item, reader: str, reading: BlindReading, fields: Fields) -> None:
        read = read_by(item, self.documents, fields)
        flagged = item.id in self.flags.items
        made: dict[str, Any] = {
            "outcome": (outcome := text_of(fields, "outcome")),
            "reason": text_of(fields, "reason"),
            "reader": reader,
            "reading": reading.in_words,
            "corrected": (text_of(fields, "corrected") or None) if outcome == "upheld" else None,
            "flag": as_recorded(self.flags, item.id) if flagged else {},
            "quotes_shown": reading.quotes_shown,
        }
        is_about = {**made, "label": self._labels[item.id], "read": read[0] if read else None}
        before = self.decisions.on(item)
        if before and all(getattr(before[-1], name) == value for name, value in is_about.items()):
            return  # asked once more, after a sudden end
        try:
            decide(self.benchmark, self.decisions.path, item.id, **made, read=read, seen=seen_by(fields))
        except DecidedSinceError as error:
            raise RefusedError(422, decided_meanwhile(error.last)) from None

    def _answer_revealed(self, request: Request) -> Response:
        item = self._items.get(request.path_params["key"])
        if item is None:
            return refusal(404, "there is no such entry")
        reading = self._reading(item, reader_of(request))
        if reading is None:
            return refusal(403, _NOT_YET)
        return escaped_json(self._revealed(item, reading).as_json())

    def _answer_places(self, request: Request) -> Response:
        item = self._items.get(request.path_params["key"])
        if item is None:
            return refusal(404, "there is no such entry")
        found = in_sources(item, self.documents, quotes=not self.hide_quotes) if self.documents else ()
        # Not whether the document was confirmed: that would be the audit's doubt.
        places = [{"document": one.document, "at": one.at, "spans": one.spans} for one in found]
        return escaped_json({"places": places})


def adjudicate_job(
    benchmark: Benchmark,
    flags: FlagList,
    folder: Path,
    decisions: Path,
    *,
    study: Study | None = None,
    documents: Documents | None = None,
    hide_quotes: bool = False,
) -> AdjudicateJob:
    """The job over the flags on `benchmark` (as annotated), with its readings in the review folder `folder`
    and its decisions in the file `decisions`.

    With `study` what its configurations answered is revealed, with `documents` sources can be read. Raises
    LeadlineError where the folder cannot be written, UsageError for damaged readings.
    """
    return AdjudicateJob(
        benchmark=benchmark,
        flags=flags,
        readings=Readings(folder / READINGS),
        decisions=DecisionFile(decisions),
        seed=recorded_seed(folder),
        study=study,
        documents=documents,
        hide_quotes=hide_quotes,
    )


def offer(wanted: Wanted, drafts: Drafts) -> AdjudicateJob | None:
    """The job where there is a study, a list of flags or an audit.

    Decisions go where the study takes them from, else where `leadline review decide` writes them. Raises
    UsageError for flags that are about another benchmark.
    """
    study, benchmark = wanted.study, wanted.about
    if benchmark is None or (study is None and wanted.flags is None and wanted.audit is None):
        return None
    own = study.population.decisions.file if study is not None else None
    decisions = own or adjudications_file(benchmark, wanted.folder)
    if wanted.flags is not None:
        flags = read_flags(wanted.flags, benchmark)
    elif study is not None:
        flags = flags_of(study, DecisionFile(decisions).all(), with_decided=True)
    else:
        assert wanted.audit is not None
        flags = flags_of_audit(benchmark, wanted.audit, DecisionFile(decisions).all(), with_decided=True)
    return adjudicate_job(
        benchmark,
        flags,
        wanted.folder,
        decisions,
        study=study,
        documents=wanted.documents,
        hide_quotes=wanted.hide_quotes,
    )
