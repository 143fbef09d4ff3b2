"""`audit`: all items of a benchmark through all checks, in as many processes as there are cores.

Three passes. First every item is checked against its declared document; most are settled by that. What is
not is looked for in all documents, in one pass over these; and the items concerned are then checked against
the documents that were worth a look. Items stream: of any number of them, only the verdicts are kept.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline import __version__
from leadline.audit.checks import Sought as SoughtItem
from leadline.audit.checks import check_item
from leadline.audit.document import AuditDocument, AuditedBenchmark, ItemVerdict
from leadline.audit.elsewhere import Candidates, Sought
from leadline.audit.evidence_hash import EvidenceHash
from leadline.audit.held import HeldDocuments
from leadline.audit.lean import lean
from leadline.audit.matching import Matcher, match_quote
from leadline.audit.self_test import Reservoir, self_test
from leadline.audit.streamed_hash import StreamedHash
from leadline.bench.item import Item
from leadline.bench.stream import Placed, Stream
from leadline.documents import Sources, UnreadableDocument
from leadline.errors import LeadlineError

# Items or documents that one process takes at a time, and how many such portions wait for each process.
_PORTION, _WAITING = 32, 3
# Below this, starting processes takes longer than the work.
_WORTH_PROCESSES = 300

Task = tuple[Item, str, tuple[str, ...] | None]
Found = tuple[str, NDArray[np.int32], NDArray[np.int32]]
_In = TypeVar("_In")
_Out = TypeVar("_Out")


def audit(
    stream: Stream,
    sources: Sources | None,
    *,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
    matcher: Matcher = match_quote,
) -> AuditDocument:
    """Audit a benchmark: all eight checks that need no model's answers, and the self-test of the checker.

    `sources` are the documents held, None for none. `progress` is called with the number of further items
    that are finished. `matcher` decides whether a quote stands in a text; another than the packaged one runs
    in this process alone. When the matcher fails the self-test, the document has no verdicts.

    Raises UsageError at the first fault of the benchmark.
    """
    held = sources if sources is not None else Sources(Path(os.devnull))
    names = held.names() if sources is not None else []
    count = workers or os.cpu_count() or 1
    placed = iter(stream)
    ahead = list(islice(placed, _WORTH_PROCESSES))
    if matcher is not match_quote or len(ahead) + len(names) < _WORTH_PROCESSES:
        count = 1
    reservoir, evidence = Reservoir(), EvidenceHash()
    with StreamedHash() as content, _side_by_side(count, held, matcher) as work:
        verdicts = list(
            _first_pass(
                chain(ahead, placed), work, content, evidence, reservoir, progress, has_documents=bool(names)
            )
        )
        candidates = _candidates(verdicts, names, work)
        _second_pass(stream, verdicts, candidates, work, progress)
        digest = content.result()
    test = self_test(reservoir.samples, matcher)
    header = stream.header
    return AuditDocument(
        leadline_version=__version__,
        created=datetime.now(UTC),
        benchmark=AuditedBenchmark(
            name=header.name,
            version=header.version,
            path=str(stream.folder or stream.source),
            content_hash=digest,
            evidence_hash=evidence.result(),
            items=len(verdicts),
            sources=len(names),
        ),
        self_test=test,
        items=tuple(one for one in verdicts if isinstance(one, ItemVerdict)) if test.passed else (),
    )


def _first_pass(
    placed: Iterable[Placed],
    work: _Work,
    content: StreamedHash,
    evidence: EvidenceHash,
    reservoir: Reservoir,
    progress: Callable[[int], None] | None,
    *,
    has_documents: bool,
) -> Iterator[ItemVerdict | SoughtItem]:
    def tasks() -> Iterator[Task]:
        for one in placed:
            content.add(one.item)
            evidence.add(one.item)
            quotes = " ".join(evidence.quote for evidence in one.item.evidence)
            window = one.item.window if one.item.window and one.item.window.strip() else quotes
            reservoir.offer(one.item.id, window)
            # Without documents there is nothing to look for elsewhere.
            yield one.item, one.where, None if has_documents else ()

    for verdict in work.map(_check, tasks()):
        if progress is not None and isinstance(verdict, ItemVerdict):
            progress(1)
        yield lean(verdict) if isinstance(verdict, ItemVerdict) else verdict


def _candidates(
    verdicts: Sequence[ItemVerdict | SoughtItem], names: Sequence[str], work: _Work
) -> dict[str, tuple[str, ...]]:
    """Per item that its declared document does not settle: the documents worth a look."""
    items = [one for one in verdicts if isinstance(one, SoughtItem)]
    texts = [text for item in items for text in item.texts]
    found = Candidates(len(texts))
    if texts:
        worth = [share for item in items for share in item.worth]
        sought = Sought.of(texts, worth, markup=any(item.markup for item in items))
        for name, numbers, counts in work.scan(sought, names):
            if numbers.size:
                found.add(name, numbers, counts)
    by_item: dict[str, tuple[str, ...]] = {}
    at = 0
    for item in items:
        names_of = [name for number in range(at, at + len(item.texts)) for name in found.of(number)]
        by_item[item.item] = tuple(dict.fromkeys(names_of))
        at += len(item.texts)
    return by_item


def _second_pass(
    stream: Stream,
    verdicts: list[ItemVerdict | SoughtItem],
    candidates: Mapping[str, tuple[str, ...]],
    work: _Work,
    progress: Callable[[int], None] | None,
) -> None:
    """Replaces what is sought in `verdicts` by verdicts: the items are read again, not kept."""
    places: dict[str, int] = {}
    for number, one in enumerate(verdicts):
        if isinstance(one, SoughtItem):
            if candidates[one.item]:
                places[one.item] = number
            else:  # no document is worth another look
                verdicts[number] = lean(one.verdict)
                if progress is not None:
                    progress(1)
    if not places:
        return
    tasks = ((one.item, one.where, candidates[one.item.id]) for one in stream if one.item.id in places)
    for verdict in work.map(_check, tasks):
        if isinstance(verdict, ItemVerdict):
            verdicts[places[verdict.item]] = lean(verdict)
            if progress is not None:
                progress(1)


class _Work:
    """Maps functions over portions, in order: in this process, or in several."""

    def __init__(self, pool: ProcessPoolExecutor | None, count: int) -> None:
        self._pool, self._count = pool, count

    def scan(self, sought: Sought, names: Sequence[str]) -> Iterator[Found]:
        """The documents of these names, each with the sought texts that it is worth a look for."""
        # In a file, not in every message: it may be large, and a process needs it once.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "sought")
            path.write_bytes(pickle.dumps(sought))
            yield from self.map(partial(_scan, str(path)), names)

    def map(self, function: Callable[[_In], _Out], given: Iterable[_In]) -> Iterator[_Out]:
        """The results, in the order of what was given. Raises what the function does."""
        portions = _portions(given)
        if self._pool is None:
            for portion in portions:
                yield from _portion(function, portion)
            return
        waiting: deque[Future[list[_Out]]] = deque()
        try:
            for portion in portions:
                waiting.append(self._pool.submit(_portion, function, portion))
                if len(waiting) >= self._count * _WAITING:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as error:
            raise LeadlineError(
                "a process of the audit was killed, as systems do when memory runs out", fix="--workers 1"
            ) from error


def _portions(given: Iterable[_In]) -> Iterator[list[_In]]:
    source = iter(given)
    while portion := list(islice(source, _PORTION)):
        yield portion


@contextmanager
def _side_by_side(count: int, sources: Sources, matcher: Matcher) -> Iterator[_Work]:
    with tempfile.TemporaryDirectory() as folder:
        settings = (sources, matcher, Path(folder))
        if count == 1:
            _start(*settings)
            yield _Work(None, 1)
            return
        # Spawned, not forked: the parent may show its progress in a thread.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=settings)
        try:
            yield _Work(pool, count)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


# What a process of the audit works with; set once, when it starts.
_state: dict[str, Any] = {}


def _start(sources: Sources, matcher: Matcher, scratch: Path) -> None:
    _state.update(held=HeldDocuments(sources, scratch), matcher=matcher)


def _portion(function: Callable[[_In], _Out], given: Sequence[_In]) -> list[_Out]:
    return [function(one) for one in given]


def _check(task: Task) -> ItemVerdict | SoughtItem:
    item, where, candidates = task
    return check_item(item, where, _state["held"], _state["matcher"], candidates)


@lru_cache(maxsize=1)
def _sought(path: str) -> Sought:
    sought = pickle.loads(Path(path).read_bytes())  # this program wrote it, a moment ago
    assert isinstance(sought, Sought)
    return sought


def _scan(path: str, name: str) -> Found:
    """The sought texts that a document is worth a look for; none for one that cannot be read."""
    sought = _sought(path)
    try:
        return name, *sought.found_in(_state["held"].normal_texts(name, markup=sought.markup))
    except UnreadableDocument:
        return name, *Sought.of([], []).found_in([])
