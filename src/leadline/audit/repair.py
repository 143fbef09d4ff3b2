"""Repairs a benchmark's flagged items: windows of the same length, cut around their evidence, or refused.

A new version is written beside the old one. The two are a pair: the same items, of which the repaired ones
differ in their window and in nothing else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from leadline import __version__
from leadline.audit.applies import check_applies
from leadline.audit.document import AuditDocument, Failure, ItemVerdict
from leadline.audit.matching import Matcher, match_quote
from leadline.audit.normal import Normal
from leadline.audit.repair_cut import Cut, NoCut, cut_window, short, without_evidence
from leadline.audit.repair_document import Refusal, RepairDocument, Repaired, Version
from leadline.audit.repair_elsewhere import Holders, holders, listed
from leadline.bench import Benchmark
from leadline.bench.item import Item
from leadline.documents import Sources, UnreadableDocument
from leadline.errors import LeadlineError

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_REPAIRED = re.compile(r"^(.*[+.])repaired\.([1-9][0-9]*)$")


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
    where: str | None = None,
) -> Repair:
    """Re-cut the windows of the items that `audit` flags. Other items are the same objects as before.

    With `only_repaired` the new benchmark holds the repaired items alone. `where` is the audit's file. Raises
    LeadlineError for an audit without verdicts, UsageError for one of other content or other quotes, and for
    one of a part of the items.
    """
    if not audit.self_test.passed:
        raise LeadlineError(
            "the audit failed its self-test and has no verdicts, so nothing can be repaired by them",
            where=where,
        )
    check_applies(audit, benchmark, where)
    found: dict[str, _Found] = {}
    for verdict in audit.flagged:
        item = benchmark.by_id[verdict.item]
        found[item.id] = _from_its_documents(item, verdict, sources, matcher)
        if progress is not None:
            progress(1)
    lacking = {name: one for name, one in found.items() if one.entry.refusal is Refusal.NO_DOCUMENT}
    quotes = {name: _quotes(benchmark.by_id[name]) for name in lacking}
    for name, held in holders(quotes, sources, matcher).items() if lacking else ():
        found[name] = _from_elsewhere(benchmark.by_id[name], lacking[name], held, sources, matcher)
    done = [one.entry for one in found.values()]
    windows = {name: one.window for name, one in found.items() if one.window is not None}
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What becomes of one flagged item, and its new window if it has one."""

    entry: Repaired
    window: str | None = None


def _quotes(item: Item) -> tuple[str, ...]:
    return tuple(evidence.quote for evidence in item.evidence)


def _refused(about: Repaired, refusal: Refusal, reason: str = "", source: str = "") -> Repaired:
    said = {"refusal": refusal, "reason": reason or str(refusal), "source": source}
    return about.model_copy(update=said)


def _from_its_documents(item: Item, verdict: ItemVerdict, sources: Sources, matcher: Matcher) -> _Found:
    """A window out of the document that the audit found, or out of one that the item points to."""
    window = item.window or ""
    about = Repaired(
        item=item.id,
        task=item.task,
        outcome="refused",
        failure=str(verdict.failure or ""),
        characters=len(window) if item.window is not None else None,
        old_window_sha256=window_hash(window) if item.window is not None else "",
    )
    quotes = _quotes(item)
    if verdict.failure is Failure.COMPUTATIONAL:
        derivation = f" ({verdict.derivation})" if verdict.derivation else ""
        why = f"the answer is worked out from the window{derivation}; another window could lose its operands"
        return _Found(_refused(about, Refusal.COMPUTATIONAL, why))
    if not window:
        return _Found(_refused(about, Refusal.NO_WINDOW))
    if not quotes:
        return _Found(_refused(about, Refusal.NO_QUOTE))
    if all(matcher(quote, window).found for quote in quotes):
        why = "the window holds the evidence; it is the source that lacks it"
        return _Found(_refused(about, Refusal.IN_WINDOW, why))
    names = _once(sources, (*_found_by(verdict, sources), *_pointers(item)))
    return _from_documents(item, about, names, sources, matcher)


def _from_documents(
    item: Item, about: Repaired, names: Iterable[str], sources: Sources, matcher: Matcher
) -> _Found:
    """A window out of the first of these documents that has the evidence."""
    pointer = next(iter(_pointers(item)), "")
    held = f"its document is not held: {pointer}" if pointer else "the item names no document"
    last = _refused(about, Refusal.NO_DOCUMENT, held)
    for name in names:
        try:
            document = sources.read(sources.path(name))
        except UnreadableDocument as error:
            last = _refused(about, Refusal.UNREADABLE, error.what, name)
            continue
        cut, layer, refusal = _cut(document.text, document.markup, _quotes(item), item.window or "", matcher)
        if isinstance(cut, Cut):
            why = _why_not_its_own(item, name, sources)
            return _Found(_with_cut(about, cut, layer, name, why), cut.text)
        last = _refused(about, refusal, cut.reason, name)
        if refusal is not Refusal.NO_DOCUMENT:
            break
    return _Found(last)


def _from_elsewhere(item: Item, lacks: _Found, held: Holders, sources: Sources, matcher: Matcher) -> _Found:
    """For an item whose own documents lack the evidence: a window out of the one that proves its source, else
    a refusal that names the documents which have it."""
    if held.is_proof:
        return _from_documents(item, lacks.entry, held.all_quotes, sources, matcher)
    entry, reason, names = lacks.entry, lacks.entry.reason, held.all_quotes
    if names:
        has, why = ("has", "the quote is too short to tell") if len(names) == 1 else ("have", "it may be any")
        said = f"{reason}; {listed(names)} {has} the evidence, but {why}: correct the pointer"
        return _Found(_refused(entry, Refusal.ELSEWHERE, said))
    if held.is_scattered:
        places = "; ".join(f"{short(quote)} in {listed(some)}" for quote, some in held.by_quote)
        return _Found(_refused(entry, Refusal.SCATTERED, f"no document has them all: {places}"))
    if held.unreadable:
        said = f"{reason}; {held.unreadable:,} of the documents held cannot be read"
        return _Found(_refused(entry, Refusal.NO_DOCUMENT, said))
    return lacks


def _pointers(item: Item) -> list[str]:
    """What the item says of its documents."""
    return [one for one in (*(evidence.source for evidence in item.evidence), item.source) if one.strip()]


def _found_by(verdict: ItemVerdict, sources: Sources) -> list[str]:
    """The documents that the audit found: one, or a list of several; a name may have commas of its own."""
    return [verdict.source] if sources.find(verdict.source) else verdict.source.split(", ")


def _once(sources: Sources, pointers: Iterable[str]) -> Iterator[str]:
    """The names of the documents held that these pointers mean; each once."""
    paths = dict.fromkeys(path for one in pointers if (path := sources.find(one)) is not None)
    return (path.relative_to(sources.folder).as_posix() for path in paths)


def _why_not_its_own(item: Item, name: str, sources: Sources) -> str:
    """A sentence for a window that comes from another document than the item names; else nothing."""
    pointers = _pointers(item)
    own = list(_once(sources, pointers))
    if name in own:
        return ""
    if not pointers:
        return "found by content; the item names no document"
    return f"found by content; the item names {pointers[0]}{'' if own else ', which is not held'}"


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


def _with_cut(
    about: Repaired, cut: Cut, layer: Literal["text", "markup"], source: str, reason: str
) -> Repaired:
    return about.model_copy(
        update={
            "outcome": "repaired",
            "refusal": None,
            "reason": reason,
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
