"""Repairs a benchmark's flagged items: windows of the same length, cut around their evidence, or refused.

A new version is written beside the old one. The two are a pair: the same items, of which the repaired ones
differ in their window and in nothing else.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from leadline import __version__
from leadline.audit.document import AuditDocument, Failure, ItemVerdict
from leadline.audit.matching import Matcher, match_quote
from leadline.audit.normal import Normal
from leadline.audit.repair_cut import Cut, NoCut, cut_window, without_evidence
from leadline.bench import Benchmark
from leadline.bench.item import Item
from leadline.documents import Sources, UnreadableDocument
from leadline.errors import LeadlineError, UsageError

SCHEMA = "leadline.repair/1"
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_REPAIRED = re.compile(r"^(.*[+.])repaired\.([1-9][0-9]*)$")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Refusal(StrEnum):
    """Why a flagged item was left as it was."""

    COMPUTATIONAL = "computational: its operands are in the window, not in the quote"
    IN_WINDOW = "the evidence is in the window already"
    NO_WINDOW = "no window"
    NO_QUOTE = "no quote"
    NO_DOCUMENT = "no document held has the evidence"
    UNREADABLE = "the document cannot be read"
    MARKUP_ONLY = "the evidence is in the document's markup alone"
    NO_CUT = "no window of the same length holds the evidence"


class Repaired(_Frozen):
    """One flagged item, before and after. `outcome` is repaired or refused.

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


@dataclass(frozen=True)
class Repair:
    """The new benchmark (None where nothing could be repaired) and what was done."""

    benchmark: Benchmark | None
    document: RepairDocument


def repair(
    benchmark: Benchmark,
    audit: AuditDocument,
    sources: Sources,
    *,
    only_repaired: bool = False,
    matcher: Matcher = match_quote,
    progress: Callable[[int], None] | None = None,
) -> Repair:
    """Re-cut the windows of the items that `audit` flags. Other items are the same objects as before.

    With `only_repaired` the new benchmark holds the repaired items alone. Raises LeadlineError for an audit
    without verdicts, UsageError for one of other content.
    """
    if not audit.self_test.passed:
        raise LeadlineError(
            "the audit failed its self-test and has no verdicts, so nothing can be repaired by them"
        )
    if audit.benchmark.content_hash != benchmark.content_hash:
        raise UsageError(
            f"the audit is of other content: {audit.benchmark.name} {audit.benchmark.version}, "
            f"{audit.benchmark.content_hash[:19]}…, and not {benchmark.content_hash[:19]}…",
            fix="audit the benchmark as it is now, or leave --audit away",
        )
    done: list[Repaired] = []
    windows: dict[str, str] = {}
    for verdict in audit.flagged:
        item = benchmark.by_id.get(verdict.item)
        if item is None:
            raise UsageError(
                f"the audit is about an item {verdict.item!r}, which the benchmark does not have"
            )
        entry, window = _repaired(item, verdict, sources, matcher)
        done.append(entry)
        if window is not None:
            windows[item.id] = window
        if progress is not None:
            progress(1)
    new = None
    if windows:
        items = tuple(
            item.model_copy(update={"window": windows[item.id]}) if item.id in windows else item
            for item in benchmark.items
            if item.id in windows or not only_repaired
        )
        new = benchmark.replaced(version=next_version(benchmark.version), items=items)
    document = RepairDocument(
        leadline_version=__version__,
        created=datetime.now(UTC),
        audited=audit.created,
        original=_version(benchmark),
        repaired=_version(new or benchmark),
        only_repaired=only_repaired,
        items=tuple(done),
    )
    return Repair(new, document)


def next_version(version: str) -> str:
    """The version of a repaired benchmark: a local version of the one that was repaired.

    >>> next_version("1.0"), next_version("1.0+repaired.1"), next_version("2+eu")
    ('1.0+repaired.1', '1.0+repaired.2', '2+eu.repaired.1')
    """
    if found := _REPAIRED.match(version):
        return f"{found[1]}repaired.{int(found[2]) + 1}"
    return f"{version}{'.' if '+' in version else '+'}repaired.1"


def window_hash(window: str) -> str:
    """sha256 of a window's text, as "sha256:<hex>"."""
    return f"sha256:{hashlib.sha256(window.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _repaired(
    item: Item, verdict: ItemVerdict, sources: Sources, matcher: Matcher
) -> tuple[Repaired, str | None]:
    """What becomes of one flagged item, and its new window if it has one."""
    window = item.window or ""
    about = Repaired(
        item=item.id,
        task=item.task,
        outcome="refused",
        failure=str(verdict.failure or ""),
        characters=len(window) if item.window is not None else None,
        old_window_sha256=window_hash(window) if item.window is not None else "",
    )

    def refused(refusal: Refusal, reason: str = "", source: str = "") -> tuple[Repaired, None]:
        said = {"refusal": refusal, "reason": reason or str(refusal), "source": source}
        return about.model_copy(update=said), None

    quotes = tuple(evidence.quote for evidence in item.evidence)
    if verdict.failure is Failure.COMPUTATIONAL:
        derivation = f" ({verdict.derivation})" if verdict.derivation else ""
        return refused(
            Refusal.COMPUTATIONAL,
            f"the answer is worked out from the window{derivation}; another window could lose its operands",
        )
    if not window:
        return refused(Refusal.NO_WINDOW)
    if not quotes:
        return refused(Refusal.NO_QUOTE)
    if all(matcher(quote, window).found for quote in quotes):
        return refused(Refusal.IN_WINDOW, "the window holds the evidence; it is the source that lacks it")
    pointer = next((one.source for one in item.evidence if one.source), item.source)
    held = f"its document is not held: {pointer}" if pointer else "the item names no document"
    last: tuple[Refusal, str, str] = (Refusal.NO_DOCUMENT, held, "")
    for name in _documents(item, verdict, sources):
        try:
            document = sources.read(sources.path(name))
        except UnreadableDocument as error:
            last = (Refusal.UNREADABLE, error.what, name)
            continue
        cut, layer, refusal = _cut(document.text, document.markup, quotes, window, matcher)
        if isinstance(cut, Cut):
            return _with_cut(about, cut, layer, name), cut.text
        last = (refusal, cut.reason, name)
        if refusal is not Refusal.NO_DOCUMENT:
            break
    return refused(*last)


def _documents(item: Item, verdict: ItemVerdict, sources: Sources) -> Iterator[str]:
    """The document that the audit found, then those that the item points to; each once."""
    seen = set()
    pointers = (verdict.source, *(evidence.source for evidence in item.evidence), item.source)
    for pointer in pointers:
        path = sources.find(pointer) if pointer else None
        if path is not None and path not in seen:
            seen.add(path)
            yield path.relative_to(sources.folder).as_posix()


def _cut(
    text: str, markup: str | None, quotes: tuple[str, ...], window: str, matcher: Matcher
) -> tuple[Cut | NoCut, Literal["text", "markup"], Refusal]:
    """A window out of what people read; out of the markup where the old window was cut out of that."""
    normal = Normal(text)
    lost = without_evidence(normal, quotes, matcher=matcher)
    was_markup = _TAG.search(window) is not None
    if lost is None and not (markup and was_markup):
        return cut_window(normal, quotes, len(window), matcher=matcher), "text", Refusal.NO_CUT
    if markup is not None:
        source = Normal(markup)
        if without_evidence(source, quotes, matcher=matcher) is None:
            if not was_markup:
                reason = "a window for people would lose it, and the old window was not cut out of the markup"
                return NoCut(reason), "markup", Refusal.MARKUP_ONLY
            return cut_window(source, quotes, len(window), matcher=matcher), "markup", Refusal.NO_CUT
    if lost is None:
        return cut_window(normal, quotes, len(window), matcher=matcher), "text", Refusal.NO_CUT
    return lost, "text", Refusal.NO_DOCUMENT


def _with_cut(about: Repaired, cut: Cut, layer: Literal["text", "markup"], source: str) -> Repaired:
    return about.model_copy(
        update={
            "outcome": "repaired",
            "source": source,
            "layer": layer,
            "new_window_sha256": window_hash(cut.text),
            "start": cut.start,
            "end": cut.end,
            "evidence_start": cut.evidence_start,
            "evidence_end": cut.evidence_end,
            "whole_words": cut.whole_words,
            "moved": cut.moved,
        }
    )


def _version(benchmark: Benchmark) -> Version:
    return Version(
        name=benchmark.name,
        version=benchmark.version,
        content_hash=benchmark.content_hash,
        items=len(benchmark.items),
    )
