"""The pages of a review as HTML: overview, list, entry, the reader's name, and what is not there.

Every template is given `reader`, `title` (of the review), `jobs`, `instance` (which review a browser's own
store belongs to). An entry's page is given besides: `job`, `entry`, `number` of `total`, `progress`,
`previous`, `following` (addresses or None), `draft` (or None), `fields`, `version`, `state`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any

from leadline.report.page_frame import environment
from leadline.review.drafts import Draft, Drafts
from leadline.review.job import Entry, Job, State

PACKAGE = "leadline.review"
# What lists and the overview call an entry; "read" is half of the way.
STATES: Mapping[State, str] = {"new": "open", "draft": "begun", "read": "read", "done": "done"}


@dataclass(frozen=True)
class Review:
    """All that the pages are about. `instance` names it in a browser's store."""

    title: str
    jobs: Mapping[str, Job]
    drafts: Drafts
    instance: str

    def place(self, job: Job, reader: str) -> str:
        """Whose drafts a reader works on."""
        return "" if job.shared else reader

    def draft(self, job: Job, key: str, reader: str) -> Draft | None:
        """The newest version of what a reader sees of an entry."""
        return self.drafts.get(job.name, key, self.place(job, reader))

    def states(self, job: Job, reader: str) -> list[tuple[Entry, State]]:
        """How far a reader is with each entry, in order."""
        known = self.drafts.all(job.name, self.place(job, reader))
        return [(entry, job.state(entry.key, reader, known.get(entry.key))) for entry in job.entries(reader)]


@dataclass(frozen=True)
class Progress:
    """How far a reader is with a job. `more`: whether there is something to do, counted or not."""

    job: Job
    total: int
    done: int
    begun: int
    more: bool

    @property
    def words(self) -> str:
        """ "37 of 154 done, 2 begun"."""
        begun = f", {self.begun} begun" if self.begun else ""
        return f"{self.done} of {self.total} done{begun}" if self.total else "none yet"


def progress(job: Job, states: Sequence[tuple[Entry, State]]) -> Progress:
    """Counts of a job's states."""
    each = [state for entry, state in states if entry.counted]
    begun = each.count("draft") + each.count("read")
    return Progress(job, len(each), each.count("done"), begun, any(state != "done" for _, state in states))


def overview(review: Review, reader: str) -> str:
    """The first page: the jobs, and how far the reader is."""
    found = [progress(job, review.states(job, reader)) for job in review.jobs.values()]
    return _page(review, reader, "overview.html.j2", progress=found)


def entries_list(review: Review, reader: str, job: Job, open_only: bool) -> str:
    """All entries of a job, or those that are not done."""
    states = review.states(job, reader)
    shown = [pair for pair in states if not (open_only and pair[1] == "done")]
    groups = [(name, list(pairs)) for name, pairs in groupby(shown, key=lambda pair: pair[0].group)]
    numbers = {entry.key: number for number, (entry, _) in enumerate(states, 1)}
    found = progress(job, states)
    more = {"groups": groups, "numbers": numbers, "progress": found, "open_only": open_only, "names": STATES}
    return _page(review, reader, "list.html.j2", job=job, **more)


def entry_page(review: Review, reader: str, job: Job, key: str) -> str | None:
    """One entry, to be answered; None where there is none of this key."""
    states = review.states(job, reader)
    keys = [entry.key for entry, _ in states]
    if key not in keys:
        return None
    at = keys.index(key)
    draft = review.draft(job, key, reader)
    found = progress(job, states)
    frame = {
        "job": job,
        "entry": states[at][0],
        "state": states[at][1],
        "number": at + 1,
        "total": found.total,
        "progress": found,
        "previous": f"/{job.name}/{keys[at - 1]}" if at else None,
        "following": f"/{job.name}/{keys[at + 1]}" if at + 1 < len(keys) else None,
        "draft": draft,
        "fields": defaultdict(str, draft.fields if draft else {}),  # a field without a text is ""
        "version": draft.version if draft else 0,
    }
    return _page(review, reader, job.template, **{**job.context(key, reader, draft), **frame})


def next_open(review: Review, reader: str, job: Job, after: str) -> str | None:
    """The key of the first entry behind `after` that is not done, else of the first before it; None where
    all are done. From the beginning for a key that is not there."""
    states = review.states(job, reader)
    at = next((place for place, (entry, _) in enumerate(states, 1) if entry.key == after), 0)
    found = (entry.key for entry, state in (*states[at:], *states[:at]) if state != "done")
    return next((key for key in found if key != after), None)


def reader_page(review: Review, reader: str, then: str) -> str:
    """Who reads? `then` is where to go on."""
    return _page(review, reader, "reader.html.j2", then=then)


def words_page(review: Review, reader: str, heading: str, words: str) -> str:
    """A page that says one thing."""
    return _page(review, reader, "words.html.j2", heading=heading, words=words)


def static_file(name: str) -> tuple[str, str] | None:
    """A packaged script or style sheet by its plain name, and its media type; None where there is none."""
    kinds = {"css": "text/css", "js": "text/javascript"}
    kind = kinds.get(name.rpartition(".")[2])
    # The look begins with that of the reports.
    package, folder = ("leadline.report", "templates") if name == "report.css" else (PACKAGE, "static")
    known = {entry.name: entry for entry in (files(package) / folder).iterdir()}
    if kind is None or name not in known:
        return None
    return known[name].read_text(encoding="utf-8"), kind


def _page(review: Review, reader: str, template: str, **values: Any) -> str:
    frame = {
        "reader": reader,
        "title": review.title,
        "jobs": list(review.jobs.values()),
        "instance": review.instance,
        "job": None,
        "entry": None,
    }
    html = environment(PACKAGE).get_template(template).render({**frame, **values})
    # Names of files may hold bytes that are no UTF-8, and answers half a character: no page could be sent.
    return html.encode("utf-8", "replace").decode()
